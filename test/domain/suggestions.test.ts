import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ProductInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import { Suggestions } from '../../src/domain/measurements/suggestions.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

describe.each(DATABASES)('suggested fields on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  const REFUSED = { code: 'UNKNOWN_FIELD', message: '' } as Parameters<OpenDomain['suggestions']['note']>[1];

  function send(product: Pick<ProductInfo, 'key'>, identifier: string): void {
    domain.suggestions.note(product as ProductInfo, REFUSED, { field: identifier, value: 1 }, domain.clock.now);
  }

  async function newProduct(): Promise<{ id: string; key: number }> {
    return domain.products.create(domain.access, { name: 'p' });
  }

  async function suggestedOf({ id }: { id: string }): Promise<string[]> {
    const rows = await domain.fields.suggestions(domain.access, id);
    return rows.map(({ identifier, seen }) => `${identifier} ${seen}`);
  }

  test('one call full of them hides none of another product', async () => {
    const [loud, quiet] = [await newProduct(), await newProduct()];
    for (let at = 0; at < 10_000; at += 1) send(loud, `f${at}`);
    send(quiet, 'humidity');
    send(quiet, 'humidity');
    expect(await suggestedOf(quiet)).toEqual(['humidity 2']);
    expect(await suggestedOf(loud)).toHaveLength(200);
  });

  test('nor do many products of one tenant', async () => {
    const quiet = await newProduct();
    // Of products that are gone when it is written.
    for (let key = 1; key <= 100; key += 1) for (let at = 0; at < 200; at += 1) send({ key: -key }, `f${at}`);
    send(quiet, 'humidity');
    send(quiet, 'pressure');
    expect(await suggestedOf(quiet)).toEqual(['humidity 1', 'pressure 1']);
  });

  test('what several nodes count of the same product adds up', async () => {
    const product = await newProduct();
    const nodes = Array.from({ length: 8 }, () => new Suggestions(domain.database));
    onTestFinished(async () => {
      for (const node of nodes) await node.stop();
    });
    for (let round = 1; round <= 5; round += 1) {
      for (const node of nodes)
        node.note(product as ProductInfo, REFUSED, { field: 'humidity', value: 1 }, domain.clock.now);
      await Promise.all(nodes.map((node) => node.flush()));
      expect(await suggestedOf(product)).toEqual([`humidity ${round * nodes.length}`]);
    }
  });
});
