import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallStatus } from '../../src/domain/ports/store.ts';
import { callRow } from '../support/call-row.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

const CALLS = 45_000;
const FAILED = 5;
const AT_ONCE = 5_000;

describe.each(DATABASES)('a log of many calls, %s', (name) => {
  let domain: OpenDomain;
  let productId = '';

  beforeAll(async () => {
    domain = await openDomain(name);
    productId = (await domain.products.create(domain.access, { name: 'p' })).id;
    const { key } = (await domain.ingestCache.product(productId))!;
    const from = Date.now() - CALLS;
    const call = (at: number) =>
      callRow(key, from + at, {
        body: 'something that a device said',
        status: at < FAILED ? 'DECODER_FAILED' : 'STORED',
        httpStatus: 200,
        decoderVersion: 1,
      });
    for (let at = 0; at < CALLS; at += AT_ONCE)
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, more) => domain.store.append({ batches: [], call: call(at + more) })),
      );
  });
  afterAll(() => domain.close());

  test('is not read as a whole for the few of some statuses', async () => {
    const [ofOne, ofTwo] = [await quickest(['DECODER_FAILED']), await quickest(['DECODER_FAILED', 'NO_DECODER'])];
    expect(ofTwo).toBeLessThan(3 * ofOne + 1);
  });

  /** Milliseconds that a page of the failed calls takes, in the best of some tries. */
  async function quickest(status: CallStatus[]): Promise<number> {
    let ms = Infinity;
    for (let time = 0; time < 10; time += 1) {
      const from = performance.now();
      const { items } = await domain.calls.calls(domain.access, productId, { status }, 50);
      ms = Math.min(ms, performance.now() - from);
      expect(items).toHaveLength(FAILED);
    }
    return ms;
  }
});
