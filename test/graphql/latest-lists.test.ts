import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { expect, test } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import type { Device } from '../../src/domain/entities/device.ts';
import { History } from '../../src/domain/history/history.ts';
import type { DeviceInfo, IngestCache } from '../../src/domain/ingest-cache/ingest-cache.ts';
import type { MeasurementStore } from '../../src/domain/ports/store.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { narrowed } from '../../src/graphql/live/narrowed.ts';
import { DeviceValuesResolver } from '../../src/graphql/resolvers/objects/device-values-resolver.ts';

type LatestQuery = Parameters<MeasurementStore['latest']>[0][number];

const identifiers = Array.from({ length: 500 }, (_, at) => `f${at}`);
const fields = new Map(identifiers.map((identifier, key) => [identifier, { key, identifier, type: 'FLOAT' }]));
const product = { fields };
const devices = Array.from({ length: 500 }, (_, key) => ({ key, id: `${key}`, product }) as unknown as DeviceInfo);

test('the fields of newest values are looked up once for many devices of a product, not once for each', async () => {
  const lookUps: LatestQuery[][] = [];
  const store = {
    latest: async (queries: LatestQuery[]) => (lookUps.push(queries), []),
  } as Partial<MeasurementStore> as MeasurementStore;
  const history = new History(store);
  const cache = { cachedDevice: (id: string) => devices[Number(id)] } as Partial<IngestCache> as IngestCache;
  const resolver = new DeviceValuesResolver(cache, history);
  const access = { fields: null, requireDevice: () => {} } as unknown as Access;
  const context = new GraphqlContext(access, '', { history } as never, {} as never);
  const [one, other] = [
    { fieldNodes: [{} as FieldNode] },
    { fieldNodes: [{} as FieldNode] },
  ] as unknown as GraphQLResolveInfo[];
  let reads = 0;
  const counted = (list: string[]): string[] =>
    new Proxy(list, { get: (target, key) => ((reads += 1), Reflect.get(target, key) as unknown) });
  // type-graphql copies what a field is given.
  const answers = devices.flatMap(({ id }) => [
    resolver.latest({ id } as Device, context, one!, counted([...identifiers])),
    resolver.latest({ id } as Device, context, other!, counted([...identifiers].slice(1))),
  ]);
  expect(await Promise.all(answers.map(async (answer) => answer))).toEqual(answers.map(() => []));
  expect(reads).toBeLessThan(6 * lookUps.length * identifiers.length);
  expect(lookUps.flat().length).toBe(2 * devices.length);
  for (const queries of lookUps) {
    expect([...new Set(queries.map(({ fieldKeys }) => fieldKeys))].map((keys) => keys.length)).toEqual([500, 499]);
    // All of them were one piece of 200 ms.
    expect(queries.length * identifiers.length).toBeLessThanOrEqual(2 * 10_000);
  }
  expect(lookUps.length).toBeLessThan(60);
});

test('a subscription to many devices of a product looks for its fields in that product once', async () => {
  const cache = { device: async (id: string) => devices[Number(id)]! } as Partial<IngestCache> as IngestCache;
  const access = { fields: null, requireDevice: () => {}, workspaceIdsWith: () => [] } as unknown as Access;
  const { products } = await narrowed(access, cache, { deviceIds: devices.map(({ id }) => id) });
  expect(products.length).toBe(1);
});
