import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperationDefinitionNode, validate } from 'graphql';
import type { Access } from '../../src/domain/access/access.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { AppError } from '../../src/errors.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { checkInputs } from '../../src/graphql/operation/input-limits.ts';
import { profileOf } from '../../src/graphql/operation/operation-profile.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { parseWithinLimits } from '../../src/graphql/operation/shape-limits.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const schema = createSchema(null);
const TIMES = 'from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z"';

/** What is said of the operation's lists; null: nothing. */
function refusalOf(query: string, variables: Record<string, unknown> = {}): string | null {
  const { document, fragments } = parseWithinLimits(query);
  expect(validate(schema, document)).toEqual([]);
  const operation = document.definitions[0] as OperationDefinitionNode;
  try {
    checkInputs(profileOf({ schema, fragments, operation }), operation, variables);
    return null;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'BAD_USER_INPUT') throw error;
    return error.message;
  }
}

/** How often an operation is looked at each entry of a variable before it is refused. */
async function looksAt(query: string, entries: object): Promise<number> {
  let looks = 0;
  const get = (target: object, key: PropertyKey): unknown => ((looks += 1), Reflect.get(target, key));
  const operations = new Operations(schema, new FairScheduler());
  const context = new GraphqlContext({ tokenId: 'one' } as Access, '', {} as never, {} as never);
  const admitted = operations.admit({ query, variables: { v: new Proxy(entries, { get }) } }, context);
  await expect(admitted).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  return looks / Object.keys(entries).length;
}

const texts = (count: number, length = 3): string[] => Array.from({ length: count }, () => 'x'.repeat(length));
const ofDevice = (field: string): string => `query ($f: [String!]) { device(id: "a") { ${field} } }`;
const subscription = 'subscription ($f: [String!]) { measurementsRecorded(fields: $f) { cursor } }';

describe('the lists of an operation', () => {
  test.each([
    ['newest values', ofDevice('latest(fields: $f) { value }')],
    ['a history', ofDevice(`history(fields: $f, ${TIMES}) { truncated }`)],
    ['statistics', ofDevice(`statistics(fields: $f, ${TIMES}) { count }`)],
    [
      'a deletion',
      `mutation ($f: [String!]) { deleteMeasurements(deviceId: "a", fields: $f, ${TIMES}) { measurements } }`,
    ],
    ['live values', subscription],
  ])('name at most 500 fields of 64 characters each: of %s', (_, query) => {
    expect(refusalOf(query, { f: texts(500, 64) })).toBeNull();
    expect(refusalOf(query, { f: texts(501) })).toBe('"fields": 501 entries, at most 500 are allowed.');
    expect(refusalOf(query, { f: [...texts(2), ...texts(1, 65)] })).toBe(
      '"fields[2]": at most 64 characters are allowed.',
    );
    expect(refusalOf(query, { f: 'x'.repeat(65) })).toBe('"fields[0]": at most 64 characters are allowed.');
  });

  test('are bounded wherever they stand: as text, as default, in fragments, in objects, entry by entry', () => {
    const many = JSON.stringify(texts(501));
    const tooMany = '"fields": 501 entries, at most 500 are allowed.';
    expect(refusalOf(`{ device(id: "a") { latest(fields: ${many}) { value } } }`)).toBe(tooMany);
    expect(refusalOf(`query ($f: [String!] = ${many}) { device(id: "a") { latest(fields: $f) { value } } }`)).toBe(
      tooMany,
    );
    const spread = 'query ($f: [String!]) { device(id: "a") { ...A } }';
    const fragments = 'fragment A on Device { ...B } fragment B on Device { latest(fields: $f) { value } }';
    expect(refusalOf(`${spread} ${fragments}`, { f: texts(501) })).toBe(tooMany);
    const entry = 'query ($f: String!) { device(id: "a") { latest(fields: ["t", $f]) { value } } }';
    expect(refusalOf(entry, { f: 'x'.repeat(65) })).toBe('"fields[1]": at most 64 characters are allowed.');
    const create = 'mutation ($i: CreateProductInput!) { createProduct(input: $i) { id } }';
    const fields = texts(501).map((identifier) => ({ identifier, type: 'FLOAT' }));
    expect(refusalOf(create, { i: { name: 'x', fields } })).toBe(
      `"input.fields": 501 entries, at most 500 are allowed.`,
    );
    const devices = 'mutation ($d: [DeviceInput!]!) { createDevices(productId: "a", devices: $d) { id } }';
    expect(refusalOf(devices, { d: [{ name: 'x', tags: texts(1001) }] })).toBe(
      '"devices.tags": 1001 entries, at most 1000 are allowed.',
    );
  });

  test('hold 10,000 where as many are recorded, made or deleted, else 1,000', () => {
    const ids = 'mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }';
    expect(refusalOf(ids, { ids: texts(10_000) })).toBeNull();
    expect(refusalOf(ids, { ids: texts(10_001) })).toBe('"ids": 10001 entries, at most 10000 are allowed.');
    const devices = 'mutation ($d: [DeviceInput!]!) { createDevices(productId: "a", devices: $d) { id } }';
    expect(refusalOf(devices, { d: texts(10_000).map((name) => ({ name })) })).toBeNull();
    const entries = 'mutation ($e: [EntryInput!]!) { recordMeasurements(deviceId: "a", entries: $e) { stored } }';
    expect(refusalOf(entries, { e: texts(10_000).map((field) => ({ field, value: 1 })) })).toBeNull();
    const listed = 'query ($ids: [ID!], $tags: [String!]) { devices(ids: $ids, anyTags: $tags) { totalCount } }';
    expect(refusalOf(listed, { ids: texts(1000), tags: texts(1000) })).toBeNull();
    expect(refusalOf(listed, { ids: texts(1001) })).toBe('"ids": 1001 entries, at most 1000 are allowed.');
    expect(refusalOf(listed, { tags: texts(1001) })).toBe('"anyTags": 1001 entries, at most 1000 are allowed.');
    const calls = 'query ($s: [CallStatus!]) { product(id: "a") { calls(status: $s) { totalCount } } }';
    expect(refusalOf(calls, { s: Array.from({ length: 1001 }, () => 'STORED') })).toBe(
      '"status": 1001 entries, at most 1000 are allowed.',
    );
  });

  test('leave what is wrong otherwise to execution, and what the operation does not use alone', () => {
    const query = ofDevice('latest(fields: $f) { value }');
    for (const f of [null, {}, 3, [null, {}, 3], [['x']]]) expect(refusalOf(query, { f })).toBeNull();
    expect(refusalOf(query, { g: texts(100_000) })).toBeNull();
    expect(refusalOf(query)).toBeNull();
    const create = 'mutation ($i: CreateProductInput!) { createProduct(input: $i) { id } }';
    for (const i of [null, 3, 'x', { fields: 3 }, { fields: [3] }]) expect(refusalOf(create, { i })).toBeNull();
  });

  test('and ids that stand alone have at most 1,000 characters', () => {
    const [long, tooLong] = ['x'.repeat(1_000), 'x'.repeat(1_001)];
    const device = 'query ($i: ID!) { device(id: $i) { id } }';
    expect(refusalOf(device, { i: long })).toBeNull();
    expect(refusalOf(device, { i: 12 })).toBeNull();
    expect(refusalOf(device, { i: tooLong })).toBe('"id": at most 1000 characters are allowed.');
    expect(refusalOf(`{ product(id: "a") { call(id: "${tooLong}") { id } } }`)).toBe(
      '"id": at most 1000 characters are allowed.',
    );
    const create = 'mutation ($i: CreateProductInput!) { createProduct(input: $i) { id } }';
    expect(refusalOf(create, { i: { name: 'x', workspaceId: tooLong } })).toBe(
      '"input.workspaceId": at most 1000 characters are allowed.',
    );
    // An id may be written as an integer.
    const digits = '1'.repeat(1_001);
    for (const query of [
      `query ($i: ID! = ${digits}) { device(id: $i) { id } }`,
      `{ device(id: -${digits}) { id } }`,
      `{ product(id: "x") { call(id: ${digits}) { id } } }`,
    ])
      expect(refusalOf(query)).toBe('"id": at most 1000 characters are allowed.');
    expect(refusalOf(`{ devices(ids: [1, ${digits}]) { totalCount } }`)).toBe(
      '"ids[1]": at most 1000 characters are allowed.',
    );
  });
});

describe('a server that is asked for long lists', () => {
  let server: TestServer;
  const alias = (at: number): string =>
    `a${at}: devices(productId: $p, first: 50) { edges { node { latest(fields: $f) { value } } } }`;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });

  afterAll(async () => {
    await server?.stop();
  });

  test('refuses long ids at once, however often they are given', async () => {
    const query = 'query ($i: ID!) { a: device(id: $i) { id } b: device(id: $i) { id } c: device(id: $i) { id } }';
    const { data, errors } = await server.query(query, { i: 'x'.repeat(900_000) });
    // One, and no data: none of the three is looked at.
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
    expect(data).toBeFalsy();
  });

  test('refuses what variables make of a short text by standing in its lists: 2,000 times a list was 38 s, of rows 1 GB', async () => {
    const { id, deviceIds } = await createProduct(server, { serialNumbers: ['repeated'] });
    const often = (text: string): string => Array.from({ length: 2_000 }, () => text).join(' ');
    const metadata = (list: string): string => `updateDevice(id: "${deviceIds[0]}", input: { metadata: [${list}] })`;
    const inObject = Array.from({ length: 7 }, (_, at) => `a${at}: ${metadata(`{ v${at}: $v }`)} { id }`).join(' ');
    const zeros = Array.from({ length: 400_000 }, () => 0);
    const device = { name: 'x', metadata: 'y'.repeat(60_000) };
    const dear: [query: string, v: unknown][] = [
      [`mutation ($v: JSON) { ${metadata(often('$v'))} { id } }`, zeros],
      [`mutation ($v: JSON) { ${inObject} }`, 'x'.repeat(900_000)],
      [`mutation ($v: JSON = "${'x'.repeat(900_000)}") { ${metadata(often('$v'))} { id } }`, undefined],
      [`mutation ($v: JSON) { ...A } fragment A on Mutation { ${metadata(often('$v'))} { id } }`, zeros],
      [`mutation ($v: DeviceInput!) { createDevices(productId: "${id}", devices: [${often('$v')}]) { id } }`, device],
    ];
    for (const [query, v] of dear) {
      const { errors } = await server.query(query, v === undefined ? {} : { v });
      expect(errors?.map(({ extensions }) => extensions)).toMatchObject([{ code: 'BAD_USER_INPUT', variable: 'v' }]);
      if (v === zeros || v === device) expect(await looksAt(query, v)).toBeLessThan(10);
    }
    // What is sent once is as long as it is, and what is short may stand anywhere.
    const text = 'x'.repeat(60_000);
    const update = `mutation ($v: JSON, $w: JSON) { ${metadata(`$v ${often('$w')}`)} { metadata } }`;
    expect((await server.gql(update, { v: text, w: 1 })).updateDevice.metadata).toHaveLength(2_001);
  });

  test('refuses them for every field and device at once, and names them once for all devices of a page', async () => {
    const identifiers = Array.from({ length: 500 }, (_, at) => `${at}`.padStart(64, 'f'));
    const { id, deviceIds } = await createProduct(server, {
      fields: Object.fromEntries(identifiers.map((identifier) => [identifier, 'FLOAT'])),
      serialNumbers: Array.from({ length: 50 }, (_, at) => `listed-${at}`),
    });
    const answer = await server.record(deviceIds[0]!, [{ field: identifiers[7], value: 7 }]);
    expect(answer.status).toBe(200);
    const query = `query ($p: ID, $f: [String!]) { ${[1, 2, 3].map(alias).join(' ')} }`;
    for (const f of [['x'.repeat(900_000)], Array.from({ length: 250_000 }, () => 't')]) {
      const { errors } = await server.query(query, { p: id, f });
      expect(errors?.map(({ extensions }) => extensions)).toMatchObject([
        { code: 'BAD_USER_INPUT', argument: 'fields' },
      ]);
    }
    const data = await server.gql(query, { p: id, f: identifiers });
    for (const at of [1, 2, 3]) {
      const values = data[`a${at}`].edges.flatMap(({ node }: any) => node.latest);
      expect(values).toEqual([{ value: 7 }]);
    }
  });
});
