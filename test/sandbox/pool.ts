import type { DecoderJob, DecoderResult, DeviceValues } from '../../src/domain/decoders/decoder-engine.ts';
import { DecoderPool, type DecoderPoolOptions } from '../../src/sandbox/decoder-pool.ts';

/** A pool whose processes start at once. */
export function startPool(options: Partial<DecoderPoolOptions> = {}): DecoderPool {
  const pool = restingPool(options);
  pool.begin();
  return pool;
}

/** A pool whose processes start with the first job. No job is given up for want of processors, however few there are. */
export const restingPool = (options: Partial<DecoderPoolOptions> = {}): DecoderPool =>
  new DecoderPool({ processes: 1, timeoutMs: 250, memoryMb: 64, maxWaitMs: 120_000, ...options });

/** The input of a webhook call. */
export function webhookInput(fields: Record<string, unknown> = {}): string {
  return JSON.stringify({
    method: 'POST',
    path: '/integrations/api/abc/',
    body: '',
    headers: [['content-type', 'application/json']],
    GET: {},
    POST: {},
    ...fields,
  });
}

export function jobOf(source: string, fields: Partial<DecoderJob> = {}): DecoderJob {
  return {
    workspaceId: 'workspace',
    productId: 'product',
    source,
    entryPoint: 'webhook',
    input: webhookInput(),
    serials: { version: '1', load: async () => [Buffer.from('{}')] },
    lookUp: async function* () {},
    senderId: null,
    ...fields,
  };
}

/** Tells of devices what `find` says of them. */
export function telling(find: (ids: string[]) => Promise<Record<string, DeviceValues | null>>): DecoderJob['lookUp'] {
  return async function* (ids) {
    for (const [id, values] of Object.entries(await find(ids))) yield [id, values && JSON.stringify(values)];
  };
}

/** What `body`, the inside of a `Decoder(request)`, returns; throws when it fails. */
export async function valueOf(pool: DecoderPool, body: string, fields: Partial<DecoderJob> = {}): Promise<unknown> {
  return outputOf(await pool.run(jobOf(`function Decoder(request) {\n${body}\n}`, fields)));
}

export function outputOf(result: DecoderResult): unknown {
  if (result.error !== null) throw new Error(`${result.error.kind}: ${result.error.message}`);
  return JSON.parse(result.output!);
}

/** `Decoder` that returns one good entry. */
export const GOOD = `function Decoder(request) { return [{device: 'd', field: 'F', value: 1}]; }`;
export const GOOD_OUTPUT = [{ device: 'd', field: 'F', value: 1 }];
