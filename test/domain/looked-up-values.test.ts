import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DecoderEngine, DecoderJob } from '../../src/domain/decoders/decoder-engine.ts';
import { PenaltyBucket } from '../../src/scheduling/penalty-bucket.ts';
import type { ProductInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import type { Caller } from '../../src/scheduling/caller.ts';
import { currentCaller } from '../../src/scheduling/current-caller.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { EITHER_DATABASE } from '../support/server.ts';

const DEVICES = 40;
const FIELDS = 60;
/** Of a device none of whose fields has a value. */
const NULLS = 2_000;
/** A device with long texts has 1.2 million characters. */
const MOST_IN_PIECE = 2_000_000;
const LONG = '\u0001'.repeat(4_096);

describe.each(EITHER_DATABASE)('what decoders look up, %s', (name) => {
  let domain: OpenDomain;
  let product: ProductInfo;
  let lookUp: DecoderJob['lookUp'];
  const names = Array.from({ length: DEVICES }, (_, at) => `s${at}`);

  beforeAll(async () => {
    const engine = {
      check: async () => null,
      run: async (job: DecoderJob) => {
        ({ lookUp } = job);
        return { output: '[]', value: [], console: [], error: null, durationMs: 0 };
      },
    };
    domain = await openDomain(name, engine as unknown as DecoderEngine);
    const { access, products, devices, ingestCache, recorder, clock, webhookReceiver } = domain;
    const fields = Array.from({ length: FIELDS }, (_, at) => ({ identifier: `f${at}`, type: 'STRING' as const }));
    const row = await products.create(access, { name: 'p', fields, decoder: 'function Decoder() {}' });
    const made = names.map((serialNumber) => ({ name: serialNumber, serialNumber }));
    await devices.create(access, row.id, made, 'unlimited');
    product = (await ingestCache.product(row.id))!;
    // All but the first few have long texts.
    const long = [...(await ingestCache.devicesOfProduct(product, names.slice(4))).values()];
    const entries = fields.slice(0, 50).map(({ identifier }) => ({ field: identifier, value: LONG }));
    for (const device of long) await recorder.record(device!, entries, { limited: false, receivedAt: clock.now });
    const request = { method: 'POST', path: '/integrations/api/x/', GET: {}, headers: [], body: '' };
    await webhookReceiver.receive(async () => ({ product }), request);
  });
  afterAll(() => domain.close());

  /** The characters of what is told of each, and how long that takes. */
  async function told(wanted: string[]): Promise<{ sizes: number[]; ms: number }> {
    const from = performance.now();
    const sizes: number[] = [];
    for await (const [, text] of lookUp(wanted)) sizes.push(text?.length ?? 0);
    return { sizes, ms: performance.now() - from };
  }

  test('is read no further than it is wanted, and of long texts little in one piece', async () => {
    const asking = vi.spyOn(domain.store, 'latest');
    let inPiece = 0;
    let asked = 0;
    let seen = 0;
    for await (const [device, text] of lookUp(names)) {
      inPiece = asking.mock.calls.length > asked ? text!.length : inPiece + text!.length;
      asked = asking.mock.calls.length;
      expect(inPiece).toBeLessThan(MOST_IN_PIECE);
      seen += 1;
      if (device === 's8') break;
    }
    expect(seen).toBe(9);
    expect(asking.mock.calls.flatMap(([queries]) => queries).length).toBeLessThan(DEVICES);
    asking.mockRestore();
  });

  test('goes on, once begun, before what others look up newly', async () => {
    const run = vi.spyOn(PenaltyBucket.prototype, 'run');
    await told(names);
    const continuations = run.mock.calls.map(([piece]) => piece.isContinuation);
    run.mockRestore();
    expect(continuations.length).toBeGreaterThan(1);
    expect(continuations).toEqual(continuations.map((_, at) => at > 0));
  });

  test('is none of a device that the product has not', async () => {
    expect((await told(['s0', 'nobody', product.id])).sizes).toEqual([expect.any(Number), 0, 0]);
  });

  test('is searched for in the turns of its tenant, which pays for that time too', async () => {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const asked: Caller[] = [];
    const asking = vi.spyOn(domain.store, 'latest').mockImplementation(async (_, spend) => {
      asked.push(currentCaller());
      spend?.(500);
      return [];
    });
    let gone = (): void => {};
    const present = domain.senders.during('somebody', () => new Promise<void>((resolve) => (gone = resolve)));
    await told(['s0']);
    // 125 ms are held against it, of which it may have 50.
    const second = await told(['s0']);
    gone();
    await present;
    asking.mockRestore();
    expect(asked.map(({ tenant }) => tenant)).toEqual([product.workspaceId, product.workspaceId]);
    expect(second.ms).toBeGreaterThan(200);
  });

  test('waits while others send, and alone does not', async () => {
    const few = Array.from({ length: 2_800 }, (_, at) => `s${at % 4}`);
    // What the tests before have used is forgotten.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const alone = await told(few);
    expect(alone.sizes.every((size) => size > NULLS)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    let gone = (): void => {};
    const present = domain.senders.during('somebody', () => new Promise<void>((resolve) => (gone = resolve)));
    const beside = await domain.senders.during(product.workspaceId, () => told(few));
    gone();
    await present;
    // 9 MB, a fifth of the time; alone 200 ms.
    expect(beside.ms).toBeGreaterThan(800);
    expect(beside.sizes).toEqual(alone.sizes);
  });
});
