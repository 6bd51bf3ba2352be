import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';

const FIELDS = { level: 'FLOAT', count: 'INTEGER' };
const FIRST_SECOND = 1_700_000_000;

/** Reading what was recorded (CONTRACT 7). */
describe.each(EITHER_DATABASE)('reading on %s', (name) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database: name, compared: true });
  });
  afterAll(() => server.stop());

  async function newDevice(): Promise<string> {
    return (await createProduct(server, { fields: FIELDS })).deviceIds[0] as string;
  }

  /** Whole numbers from 0 on, a millisecond apart. */
  async function record(id: string, count: number): Promise<void> {
    const entries = Array.from({ length: count }, (_, value) => ({
      field: 'count',
      value,
      timestamp: FIRST_SECOND + value / 1000,
    }));
    expect((await server.record(id, entries)).body.stored).toBe(count);
  }

  /** What `fields` of the device answer: the data, or the code of the error. */
  async function read(id: string, fields: string, variables: object = {}, types = ''): Promise<any> {
    const answer = await server.query(`query ($id: ID!${types}) { device(id: $id) { ${fields} } }`, {
      id,
      ...variables,
    });
    return answer.errors?.[0]?.extensions.code ?? answer.data?.['device'];
  }

  const at = (milliseconds: number): string => new Date(FIRST_SECOND * 1000 + milliseconds).toISOString();

  test.each([false, true])('pages hold every value once, in order (newestFirst %s)', async (newestFirst) => {
    const id = await newDevice();
    await record(id, 250);
    const seen: number[] = [];
    let after: string | null = null;
    do {
      const { measurements }: any = await read(
        id,
        `measurements(field: "count", newestFirst: ${newestFirst}, first: 50, after: $after) {
           edges { cursor node { value } } pageInfo { hasNextPage endCursor } }`,
        { after },
        ', $after: String',
      );
      seen.push(...measurements.edges.map((edge: any) => edge.node.value));
      expect(measurements.pageInfo.endCursor).toBe(measurements.edges.at(-1).cursor);
      expect(measurements.pageInfo.hasNextPage).toBe(seen.length < 250);
      after = measurements.pageInfo.hasNextPage ? measurements.pageInfo.endCursor : null;
    } while (after !== null);
    const inOrder = Array.from({ length: 250 }, (_, index) => index);
    expect(seen).toEqual(newestFirst ? inOrder.reverse() : inOrder);
  });

  test('a range has its start and not its end', async () => {
    const id = await newDevice();
    await record(id, 20);
    const range = `from: "${at(10)}", to: "${at(13)}"`;
    expect(
      await read(
        id,
        `history(${range}, fields: ["count"]) { field { identifier } resolution timestamps values truncated }
         measurements(field: "count", ${range}) { edges { node { value } } }`,
      ),
    ).toEqual({
      history: [
        {
          field: { identifier: 'count' },
          resolution: null,
          timestamps: [FIRST_SECOND + 0.01, FIRST_SECOND + 0.011, FIRST_SECOND + 0.012],
          values: [10, 11, 12],
          truncated: false,
        },
      ],
      measurements: { edges: [10, 11, 12].map((value) => ({ node: { value } })) },
    });
  });

  test('bad arguments are errors, never another answer', async () => {
    const id = await newDevice();
    const both = [`from: "${at(5)}", to: "${at(5)}"`, `from: "${at(6)}", to: "${at(5)}"`];
    for (const range of both) {
      expect(await read(id, `history(${range}) { values }`)).toBe('BAD_USER_INPUT');
      expect(await read(id, `measurements(field: "count", ${range}) { edges { cursor } }`)).toBe('BAD_USER_INPUT');
    }
    const range = `from: "${at(0)}", to: "${at(5)}"`;
    expect(await read(id, `history(${range}, fields: ["Count"]) { values }`)).toBe('BAD_USER_INPUT');
    expect(await read(id, 'latest(fields: ["Count"]) { value }')).toBe('BAD_USER_INPUT');
    expect(await read(id, 'measurements(field: "Count") { edges { cursor } }')).toBe('BAD_USER_INPUT');
    for (const first of [0, 501])
      expect(await read(id, `measurements(field: "count", first: ${first}) { edges { cursor } }`)).toBe(
        'BAD_USER_INPUT',
      );
  });

  test('a word without quotes is no value', async () => {
    const id = await newDevice();
    const record = (value: string): Promise<any> =>
      server.query(
        `mutation { recordMeasurements(deviceId: "${id}", entries: [{ field: "level", value: ${value} }]) { stored } }`,
      );
    expect((await record('FULL')).errors[0].extensions.code).toBe('BAD_USER_INPUT');
    expect((await record('"1"')).data).toEqual({ recordMeasurements: { stored: 1 } });
  });

  test('latest goes by measured time, also after the latest was deleted', async () => {
    const id = await newDevice();
    const latest = async (): Promise<unknown> => (await read(id, 'latest(fields: ["level"]) { value }')).latest;
    for (const [value, timestamp] of [
      [1, 1_700_005_000],
      [2, 1_700_004_000],
    ])
      await server.record(id, { field: 'level', value, timestamp });
    expect(await latest()).toEqual([{ value: 1 }]);
    await server.record(id, { field: 'level', value: 3, timestamp: 1_700_005_000 });
    expect(await latest()).toEqual([{ value: 3 }]);
    const { deleteMeasurements } = await server.gql(
      `mutation ($id: ID!) { deleteMeasurements(
         deviceId: $id, fields: ["level"], from: "${at(4_800_000)}", to: "${at(7_200_000)}") { measurements } }`,
      { id },
    );
    expect(deleteMeasurements).toEqual({ measurements: 1 });
    expect(await latest()).toEqual([{ value: 2 }]);
  });

  test('a field that is removed and added again begins without values', async () => {
    const { id: productId, deviceIds } = await createProduct(server, { fields: FIELDS });
    const id = deviceIds[0] as string;
    await server.record(id, { field: 'level', value: 1 });
    const { product } = await server.gql(
      'query ($id: ID!) { product(id: $id) { field(identifier: "level") { id } } }',
      {
        id: productId,
      },
    );
    await server.gql('mutation ($id: ID!) { removeField(id: $id) }', { id: product.field.id });
    expect((await server.record(id, { field: 'level', value: 2 })).body.rejected[0].code).toBe('UNKNOWN_FIELD');
    await server.gql(
      'mutation ($id: ID!) { addField(productId: $id, input: { identifier: "level", type: FLOAT }) { id } }',
      { id: productId },
    );
    expect(await read(id, 'latest { value } measurements(field: "level") { edges { cursor } }')).toEqual({
      latest: [],
      measurements: { edges: [] },
    });
  });
});
