import { AppError } from '../../errors.ts';
import type { DecoderEngine, DecoderFailure, DecoderJob } from './decoder-engine.ts';

/** Maximum bytes of a decoder's source, as UTF-8 (CONTRACT 5). */
export const MAX_SOURCE_BYTES = 262_144;

/** Names all kinds of functions, as it is not known yet which products' calls will come. */
const NOTHING_TO_CALL =
  'The source defines no function to call: Decoder(request) for webhooks, decodeUplink(input) or Decoder(bytes, port) ' +
  'for LoRaWAN, Decoder(payload, event) for Particle, decodeEvent(input) for what networks say beside uplinks.';

/** Throws INVALID_DECODER, with `kind`, `line` and `column` in its details, when the source may not be saved. */
export async function checkSource(
  engine: DecoderEngine,
  source: string,
  workspaceId: string,
  tokenId: string,
): Promise<void> {
  const bytes = Buffer.byteLength(source);
  if (bytes > MAX_SOURCE_BYTES)
    throw invalidDecoder({
      kind: 'SYNTAX',
      message: `The source has ${bytes} bytes; the limit is ${MAX_SOURCE_BYTES}.`,
      line: null,
      column: null,
    });
  const bad = source.search(/\0|\p{Surrogate}/u);
  if (bad >= 0) {
    const before = source.slice(0, bad).split('\n');
    throw invalidDecoder({
      kind: 'SYNTAX',
      message: 'The source holds a NUL character or half of a surrogate pair; write it as an escape.',
      line: before.length,
      column: (before.at(-1) ?? '').length + 1,
    });
  }
  const failure = await engine.check(source, workspaceId, tokenId);
  if (failure !== null) throw invalidDecoder(failure);
}

/** True when the source may define `decodeEvent`. */
export function asksForEvents(source: string): boolean {
  return source.includes('decodeEvent');
}

/**
 * Throws INVALID_DECODER (kind NO_DECODER_FUNCTION) when nothing in the source can be called: no Decoder, decodeUplink,
 * Decode or decodeEvent. Runs it once on an empty uplink, apart from its product's runs and statistics and in a queue
 * of the token's own; any other result is ignored. `remedy`: what to do if it is wanted all the same.
 */
export async function requireDecoderFunction(
  engine: DecoderEngine,
  workspaceId: string,
  tokenId: string,
  source: string,
  remedy = '"force" saves it as it is.',
): Promise<void> {
  const payload = { rawPayload: {}, normalizedPayload: {} };
  const input = { bytes: [], fPort: 1, recvTime: new Date(0).toISOString(), variables: {}, ...payload };
  const job: DecoderJob = {
    workspaceId,
    productId: `${workspaceId} saved ${tokenId}`,
    source,
    entryPoint: 'lorawan',
    input: JSON.stringify(input),
    serials: { version: '', load: () => Promise.resolve([]) },
    lookUp: async function* () {},
    senderId: null,
  };
  let { error } = await engine.run(job);
  if (error?.kind === 'NO_DECODER_FUNCTION' && asksForEvents(source)) {
    const event = JSON.stringify({ type: 'status', event: {}, recvTime: new Date(0).toISOString(), ...payload });
    ({ error } = await engine.run({ ...job, entryPoint: 'event', input: event }));
  }
  if (error?.kind !== 'NO_DECODER_FUNCTION') return;
  throw new AppError('INVALID_DECODER', `${NOTHING_TO_CALL} Nothing was saved; ${remedy}`, {
    details: { kind: error.kind, line: error.line, column: error.column },
  });
}

function invalidDecoder({ kind, message, line, column }: DecoderFailure): AppError {
  const place = line === null ? '' : ` (line ${line}${column === null ? '' : `, column ${column}`})`;
  return new AppError('INVALID_DECODER', `The decoder does not parse: ${message}${place}`, {
    details: { kind, line, column },
  });
}
