import type { EntityManager } from '@mikro-orm/sql';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { ProductInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import type { Database } from '../../src/domain/ports/database.ts';
import type { Caller } from '../../src/scheduling/caller.ts';
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

  type Sent = Pick<ProductInfo, 'id' | 'key' | 'workspaceId'>;

  function send(product: Sent, identifier: string, value: unknown = 1, to = domain.suggestions): void {
    to.note({ fields: new Map(), ...product } as ProductInfo, REFUSED, { field: identifier, value }, domain.clock.now);
  }

  async function newProduct(): Promise<Sent> {
    const { id, key, workspace } = await domain.products.create(domain.access, { name: 'p' });
    return { id, key, workspaceId: workspace.id };
  }

  /** Products that are gone when it is written. */
  function gone(count: number, workspaceId: string): Sent[] {
    return Array.from({ length: count }, (_, at) => ({ id: `${workspaceId} ${at}`, key: -1 - at, workspaceId }));
  }

  /** Sightings of their own, and whose writing they have begun; none goes on until `goOn`. */
  function watched() {
    const begun: Caller[] = [];
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    const write = async (work: (em: EntityManager) => Promise<void>, party: Caller): Promise<void> => {
      begun.push(party);
      await mayGoOn;
      // Of the others none is there.
      if (!party.tokenId.startsWith(party.tenant)) await domain.database.write(work, party);
    };
    const suggestions = new Suggestions({ dialect: domain.database.dialect, write } as Database);
    onTestFinished(() => {
      goOn();
      return suggestions.stop();
    });
    return { suggestions, begun, goOn };
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
    for (const product of gone(100, quiet.workspaceId)) for (let at = 0; at < 200; at += 1) send(product, `f${at}`);
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
      for (const node of nodes) send(product, 'humidity', 1, node);
      await Promise.all(nodes.map((node) => node.flush(product.id)));
      expect(await suggestedOf(product)).toEqual([`humidity ${round * nodes.length}`]);
    }
  });

  test('what is noted later adds up with what is kept: the type takes both values, the last value and what a sender says of it stay', async () => {
    const product = await newProduct();
    for (const [identifier, first, second] of [
      ['whole', 1, true],
      ['mixed', 1.5, 'it\'s "text"'],
      ['place', 'a\0b', null],
    ] as const) {
      const told = { name: `the ${identifier}`, unit: 'm' };
      domain.suggestions.note(
        { fields: new Map(), ...product } as ProductInfo,
        REFUSED,
        { field: identifier, value: first },
        1_000,
        told,
      );
      await domain.suggestions.flushAll();
      domain.suggestions.note(
        { fields: new Map(), ...product } as ProductInfo,
        REFUSED,
        { field: identifier, value: second },
        2_000,
      );
      await domain.suggestions.flushAll();
    }
    const rows = await domain.fields.suggestions(domain.access, product.id);
    const said = { unit: 'm', seen: 2, ignored: false, lastSeenAt: 2_000 };
    expect(rows).toMatchObject([
      { identifier: 'mixed', type: 'STRING', lastValue: 'it\'s "text"', name: 'the mixed', ...said },
      { identifier: 'place', type: 'STRING', lastValue: 'ab', name: 'the place', ...said },
      { identifier: 'whole', type: 'FLOAT', lastValue: true, name: 'the whole', ...said },
    ]);
  });

  test('are counted as far as there are numbers for it, and hide no others then', async () => {
    const product = await newProduct();
    send(product, 'humidity');
    await domain.suggestions.flush(product.id);
    const most = 2_147_483_647;
    const set = 'update suggested_field set seen = ? where product_key = ?';
    await domain.database.write((em) => em.execute(set, [most - 1, product.key], 'run'));
    for (let time = 0; time < 3; time += 1) send(product, 'humidity');
    send(product, 'pressure');
    expect(await suggestedOf(product)).toEqual([`humidity ${most}`, 'pressure 1']);
  });

  test('who adds a field waits for what was noted of its product alone, which is written for its workspace', async () => {
    const product = await newProduct();
    const { suggestions, begun, goOn } = watched();
    for (const other of gone(100, 'loud')) send(other, 'x', 1, suggestions);
    send(product, 'humidity', 1, suggestions);
    const flushed = suggestions.flush(product.id.toUpperCase());
    await eventually(() => expect(begun).not.toHaveLength(0));
    expect(begun).toEqual([{ tokenId: product.id, tenant: product.workspaceId }]);
    // Also what comes while that is being written, with one more transaction for all who ask.
    send(product, 'humidity', 1, suggestions);
    const again = Promise.all([1, 2, 3].map(() => suggestions.flush(product.id)));
    goOn();
    await flushed;
    // What came later may be there by then.
    expect(await suggestedOf(product)).toEqual([expect.stringMatching(/^humidity [12]$/)]);
    await again;
    expect(await suggestedOf(product)).toEqual(['humidity 2']);
    expect(begun).toHaveLength(2);
  });

  test('a round begins when the one before is done; tenants take turns in it, and what comes meanwhile waits, so much and no more', async () => {
    const { suggestions, begun, goOn } = watched();
    const loud = gone(3, 'loud');
    for (const product of loud) send(product, 'x', 1, suggestions);
    for (const product of gone(2, 'quiet')) send(product, 'x', 1, suggestions);
    const rounds = [suggestions.flushAll(), suggestions.flushAll()];
    await eventually(() => expect(begun).toHaveLength(1));
    for (const product of loud) send(product, 'y', 1, suggestions);
    goOn();
    await Promise.all(rounds);
    expect(begun.map(({ tenant }) => tenant)).toEqual(['loud', 'quiet', 'loud', 'quiet', 'loud']);
    await suggestions.flushAll();
    // What was written with the rest of the round is not written again.
    expect(begun.slice(5)).toEqual([{ tokenId: 'loud 0', tenant: 'loud' }]);
  });

  test('of one tenant so many products wait and no more, and of another as well', async () => {
    const { suggestions, begun, goOn } = watched();
    for (const product of gone(20_000, 'loud')) send(product, 'x', 1, suggestions);
    for (const product of gone(20_000, 'other')) send(product, 'x', 1, suggestions);
    goOn();
    await suggestions.flushAll();
    expect(begun.filter(({ tenant }) => tenant === 'loud')).toHaveLength(10_000);
    expect(begun.filter(({ tenant }) => tenant === 'other')).toHaveLength(5_000);
  });
});
