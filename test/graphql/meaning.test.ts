import { ADMIN_TOKEN } from '../support/server-process.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { type Aggregation, AGGREGATIONS } from '../../src/domain/ports/series-request.ts';
import { FIELD_MEANINGS } from '../../src/domain/entities/field.ts';
import { naiveBuckets, naiveStatistics, type Point } from '../history/naive-history.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { createDatabase, createProduct, EITHER_DATABASE, startServer, type TestDatabase, type TestServer } from '../support/server.ts'; // oxfmt-ignore

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse('2026-03-01T00:00:00Z');
const DAY_OF_START = { from: START, to: START + DAY };

const iso = (ms: number): string => new Date(ms).toISOString();

/** Moves every reading of the first devices into chunks, as the compactor does an hour later. */
async function compactAll(url: string): Promise<void> {
  const store = url.startsWith('sqlite:')
    ? await SqliteMeasurementStore.open({ path: url.slice('sqlite:'.length) })
    : await PostgresMeasurementStore.open({ url });
  await store.compact([1, 2, 3], Date.now() + HOUR);
  await store.stop();
}

describe.each(EITHER_DATABASE)('what a field means, on %s', (database) => {
  let server: TestServer;
  let stored: TestDatabase;
  let [productId, made] = ['', 0];
  let deviceId = '';

  /** A field of its own, and its values from START on, `step` apart. */
  async function series(values: unknown[], input: Record<string, unknown> = {}, step = MINUTE): Promise<string> {
    const identifier = `f${made++}`;
    await server.gql('mutation ($id: ID!, $input: FieldInput!) { addField(productId: $id, input: $input) { id } }', {
      id: productId,
      input: { identifier, type: 'FLOAT', ...input },
    });
    const entries = values.map((value, i) => ({ field: identifier, value, timestamp: (START + i * step) / 1_000 }));
    expect((await server.record(deviceId, entries)).status).toBe(200);
    return identifier;
  }

  const file = async (query: string): Promise<string> => {
    const headers = { Authorization: `Token ${ADMIN_TOKEN}` };
    return (await fetch(`${server.url}/v1/devices/${deviceId}/history.csv?${query}`, { headers })).text();
  };

  const read = async (selection: string): Promise<Record<string, any>> =>
    (await server.gql(`query ($id: ID!) { device(id: $id) { ${selection} } }`, { id: deviceId }))['device'];

  async function buckets(field: string, how: string, { from, to } = DAY_OF_START): Promise<unknown[]> {
    const { history } = await read(
      `history(fields: ["${field}"], from: "${iso(from)}", to: "${iso(to)}", ${how}) { values }`,
    );
    return history[0].values;
  }

  async function statistics(field: string, asked: string, { from, to } = DAY_OF_START): Promise<Record<string, any>> {
    const { statistics: found } = await read(
      `statistics(fields: ["${field}"], from: "${iso(from)}", to: "${iso(to)}") { ${asked} }`,
    );
    return found[0];
  }

  async function change(field: string, input: Record<string, unknown>, dryRun?: boolean): Promise<Record<string, any>> {
    const { product } = await server.gql('query ($id: ID!, $field: String!) { product(id: $id) { field(identifier: $field) { id } } }', { id: productId, field }); // oxfmt-ignore
    const asked = 'identifier type meaning overflowAt misfits { misfits values devices ofDevices }';
    const { updateField } = await server.gql(
      `mutation ($id: ID!, $input: UpdateFieldInput!, $dryRun: Boolean) { updateField(id: $id, input: $input, dryRun: $dryRun) { ${asked} } }`,
      { id: product.field.id, input, dryRun },
    );
    return updateField;
  }

  beforeAll(async () => {
    stored = await createDatabase(database);
    server = await startServer({ database: stored, env: { WRITE_RATE_PER_FIELD: '0' } });
    const product = await createProduct(server, { fields: {}, serialNumbers: ['a', 'b'] });
    productId = product.id;
    deviceId = product.deviceIds[0]!;
  });

  afterAll(async () => {
    await server.stop();
    await stored.drop();
  });

  test('falls of a counter are noise, a gap, an overflow or a restart, and statistics say which', async () => {
    for (const [values, overflowAt, difference, falls] of [
      [[215.6, 215.7, 215.6, 215.6, 215.8], null, 0.2, { noise: 1 }],
      [[5688566, 5688567, 5213928, 5688570], null, 4, { noise: 1 }],
      [[1200, 0, 1201], null, 1, { gaps: 1 }],
      [[1200, 0, 1200, 1210], null, 10, { gaps: 1 }],
      [[100, 5, 10], null, 10, { restarts: 1 }],
      [[838850, 838857.6, 10.3], 838860.7, 7.6 + 13.4, { overflows: 1 }],
      [[65530, 4], 65536, 10, { overflows: 1 }],
      [[40000, 4], 65536, 4, { restarts: 1 }],
    ] as const) {
      const field = await series([...values], { meaning: 'COUNTER', overflowAt });
      const found = await statistics(field, 'difference falls { noise gaps overflows restarts }');
      expect(found['difference']).toBeCloseTo(difference, 6);
      expect(found['falls']).toEqual({ noise: 0, gaps: 0, overflows: 0, restarts: 0, ...falls });
      const [bucket] = await buckets(field, 'resolution: "1h", aggregation: DIFFERENCE');
      expect(bucket).toBeCloseTo(difference, 6);
      // Wherever it is cut, the parts add up to the whole.
      const minutes = (await buckets(field, 'resolution: "1m", aggregation: DIFFERENCE, fill: NONE')) as number[];
      expect(minutes.reduce((sum, one) => sum + one, 0)).toBeCloseTo(difference, 6);
      const at = START + (values.length - 1) * MINUTE;
      const parts = [{ from: START, to: at }, { from: at, to: START + DAY }]; // oxfmt-ignore
      const [before, after] = await Promise.all(parts.map((part) => statistics(field, 'difference', part)));
      expect(before!['difference'] + after!['difference']).toBeCloseTo(difference, 6);
    }
  });

  test('a gauge forgives a fall of less than a tenth, and a total runs both ways', async () => {
    const field = await series([215.6, 215.7, 215.6, 215.6, 215.8]);
    expect((await statistics(field, 'difference'))['difference']).toBeCloseTo(0.2, 6);
    const fallen = await series([100, 90, 95]);
    expect(await statistics(fallen, 'difference falls { noise restarts }')).toEqual({
      difference: 95,
      falls: { noise: 0, restarts: 1 },
    });
    const net = await series([100, 99.5, 99], { meaning: 'TOTAL' });
    expect(await buckets(net, 'resolution: "1d", aggregation: DIFFERENCE')).toEqual([-1]);
    expect(await statistics(net, 'difference falls { noise }')).toEqual({ difference: -1, falls: null });
  });

  test('directions have a mean of their own and no extremes', async () => {
    const field = await series([355, 5, 15], { meaning: 'ANGLE', unit: '°' }, HOUR);
    const [mean] = await buckets(field, 'resolution: "1d"');
    expect(mean).toBe(5);
    expect(await statistics(field, 'average min minAt max maxAt difference')).toEqual({ average: 5, min: null, minAt: null, max: null, maxAt: null, difference: 20 }); // oxfmt-ignore
    for (const aggregation of ['MIN', 'MAX']) {
      const query = `query ($id: ID!) { device(id: $id) { history(fields: ["${field}"], from: "${iso(START)}", to: "${iso(START + DAY)}", resolution: "1h", aggregation: ${aggregation}) { values } } }`;
      const { errors } = await server.query(query, { id: deviceId });
      expect(errors?.[0]?.message).toMatch(/is not for directions such as "f\d+".*Use AVG/);
      expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    }
    const north = await series([350, 30], { meaning: 'ANGLE' }, 4 * HOUR);
    const [, second, third] = (await buckets(north, 'resolution: "1h", fill: LINEAR')) as number[];
    expect([second, third]).toEqual([0, 10]);
    // 350 for four hours, then 30 for twenty.
    expect((await buckets(north, 'resolution: "1d", aggregation: TIME_AVG'))[0]).toBeCloseTo(23.64, 2);
    const opposed = await series([0, 180], { meaning: 'ANGLE' });
    expect(await buckets(opposed, 'resolution: "1d"')).toEqual([null]);
  });

  test('what is sent on change is averaged by time', async () => {
    const freezer = await series([20, ...Array.from({ length: 60 }, () => 120)], {}, MINUTE);
    const times = [START, ...Array.from({ length: 60 }, (_, i) => START + 23 * HOUR + i * MINUTE)];
    await server.gql('mutation ($id: ID!, $from: DateTime!, $to: DateTime!) { deleteMeasurements(deviceId: $id, from: $from, to: $to) { measurements } }', { id: deviceId, from: iso(START - DAY), to: iso(START + DAY) }); // oxfmt-ignore
    await server.record(deviceId, times.map((t, i) => ({ field: freezer, value: i === 0 ? 20 : 120, timestamp: t / 1_000 }))); // oxfmt-ignore
    expect((await buckets(freezer, 'resolution: "1d"'))[0]).toBeCloseTo(118.36, 2);
    const [byTime] = (await buckets(freezer, 'resolution: "1d", aggregation: TIME_AVG')) as number[];
    expect(byTime).toBeCloseTo(24.1667, 3);
    // A changed meaning changes the charts at once.
    await change(freezer, { meaning: 'STATE' });
    expect((await buckets(freezer, 'resolution: "1d"'))[0]).toBe(byTime);
    expect((await statistics(freezer, 'average'))['average']).toBe(byTime);
    await change(freezer, { meaning: 'GAUGE' });
    expect((await buckets(freezer, 'resolution: "1d"'))[0]).toBeCloseTo(118.36, 2);

    const door = await series([true, false], { type: 'BOOLEAN', meaning: 'STATE' });
    expect((await buckets(door, 'resolution: "1d"'))[0]).toBeCloseTo(1 / 1440, 8);
    expect(await buckets(door, 'resolution: "1d", aggregation: SUM')).toEqual([60]);
    expect(await statistics(door, 'count average sum')).toEqual({ count: 2, average: 1 / 1440, sum: 60 });
    // It holds on where nothing was measured, and into the range from before it.
    const next = { from: START + DAY, to: START + 2 * DAY };
    expect(await buckets(door, 'resolution: "12h"', next)).toEqual([0, 0]);
    expect(await statistics(door, 'count average sum first { value }', next)).toEqual({ count: 0, average: 0, sum: 0, first: null }); // oxfmt-ignore
    const opened = { from: START + 30_000, to: START + 90_000 };
    expect(await buckets(door, 'resolution: "1d"', opened)).toEqual([0.5]);
  });

  test('the newest value holds until now, and no longer', async () => {
    const door = await series([], { type: 'BOOLEAN', meaning: 'STATE' });
    const hourAgo = Date.now() - HOUR;
    await server.record(deviceId, [{ field: door, value: true, timestamp: hourAgo / 1_000 }]);
    const { sum } = await statistics(door, 'sum', { from: hourAgo - HOUR, to: hourAgo + DAY });
    expect(sum).toBeGreaterThanOrEqual(3_600);
    expect(sum).toBeLessThan(3_700);
  });

  test('a meaning is refused where it cannot be, kept where it is left out, and copied with a product', async () => {
    const refused = async (input: Record<string, unknown>): Promise<string> => {
      const query = 'mutation ($id: ID!, $input: FieldInput!) { addField(productId: $id, input: $input) { id } }';
      const { errors } = await server.query(query, { id: productId, input: { identifier: 'refused', ...input } });
      return `${errors?.[0]?.extensions.code} ${errors?.[0]?.message}`;
    };
    expect(await refused({ type: 'STRING', meaning: 'ANGLE' })).toMatch(
      /BAD_USER_INPUT input.meaning: ANGLE is for FLOAT/,
    );
    expect(await refused({ type: 'FLOAT', meaning: 'GAUGE', overflowAt: 5 })).toMatch(/BAD_USER_INPUT input.overflowAt: only a COUNTER/); // oxfmt-ignore
    expect(await refused({ type: 'FLOAT', meaning: 'COUNTER', overflowAt: 0 })).toMatch(/BAD_USER_INPUT input.overflowAt: expected a number above 0/); // oxfmt-ignore
    const counter = await series([1], { meaning: 'COUNTER', overflowAt: 65536 });
    expect(await change(counter, { unit: 'kWh' })).toMatchObject({ meaning: 'COUNTER', overflowAt: 65536 });
    const { cloneProduct } = await server.gql(
      'mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") { fields { identifier meaning overflowAt } } }',
      { id: productId },
    );
    expect(cloneProduct.fields).toContainEqual({ identifier: counter, meaning: 'COUNTER', overflowAt: 65536 });
    const { createProduct: product } = await server.gql(
      'mutation ($input: CreateProductInput!) { createProduct(input: $input) { fields { identifier meaning overflowAt } } }',
      { input: { name: 'meters', fields: [{ identifier: 'a', type: 'INTEGER', meaning: 'COUNTER', overflowAt: 256 }, { identifier: 'b', type: 'FLOAT' }] } }, // oxfmt-ignore
    );
    expect(product.fields).toEqual([
      { identifier: 'a', meaning: 'COUNTER', overflowAt: 256 },
      { identifier: 'b', meaning: 'GAUGE', overflowAt: null },
    ]);
    // Another type takes away what no longer fits.
    expect(await change(counter, { meaning: 'TOTAL' })).toMatchObject({ meaning: 'TOTAL', overflowAt: null });
    expect(await change(counter, { type: 'BOOLEAN' })).toMatchObject({ meaning: 'GAUGE', overflowAt: null });
  });

  test('a file of buckets follows the meaning too', async () => {
    const field = await series([355, 5, 15], { meaning: 'ANGLE' });
    const query = `fields=${field}&resolution=1d&from=${iso(START)}&to=${iso(START + DAY)}`;
    expect((await file(query)).trim().split(/\r?\n/)[1]).toMatch(/,5$/);
  });

  test('a dry run counts what another type would hide, and changes nothing', async () => {
    const field = await series([50.9, 51, 52]);
    const counted = { misfits: 1, values: 3, devices: 2, ofDevices: 2 };
    expect(await change(field, { type: 'INTEGER' }, true)).toMatchObject({ type: 'INTEGER', misfits: counted });
    const { history } = await read(`history(fields: ["${field}"], from: "${iso(START)}", to: "${iso(START + DAY)}") { field { type } values }`); // oxfmt-ignore
    expect(history).toEqual([{ field: { type: 'FLOAT' }, values: [50.9, 51, 52] }]);
    expect(await change(field, { type: 'GEOLOCATION' }, true)).toMatchObject({ misfits: { misfits: 3, values: 3 } });
    expect(await change(field, { type: 'INTEGER' })).toMatchObject({ type: 'INTEGER', misfits: counted });
    expect(await change(field, { type: 'FLOAT' })).toMatchObject({ misfits: { misfits: 0 } });
  });

  test('a boolean that becomes a text reads as it would have been written', async () => {
    const field = await series([true, false], { type: 'BOOLEAN' });
    expect(await change(field, { type: 'STRING' })).toMatchObject({
      type: 'STRING',
      misfits: { misfits: 0, values: 2 },
    });
    await server.record(deviceId, [{ field, value: '1', timestamp: (START + HOUR) / 1_000 }]);
    const range = `from: "${iso(START)}", to: "${iso(START + DAY)}"`;
    const answer = await read(
      `history(fields: ["${field}"], ${range}) { values } last: history(fields: ["${field}"], ${range}, resolution: "1h", fill: NONE) { values }
       measurements(field: "${field}") { edges { node { value } } } latest(fields: ["${field}"]) { value }`,
    );
    expect(answer['history'][0].values).toEqual(['true', 'false', '1']);
    expect(answer['last'][0].values).toEqual(['false', '1']);
    expect(answer['measurements'].edges.map(({ node }: any) => node.value)).toEqual(['true', 'false', '1']);
    expect(answer['latest']).toEqual([{ value: '1' }]);
    expect(await file(`fields=${field}`)).toMatch(/,true\r?\n.*,false\r?\n.*,1/);
    expect(await change(field, { type: 'BOOLEAN' })).toMatchObject({ misfits: { misfits: 0 } });
  });

  test('of each meaning, charts are what the plain values say, in chunks, beside them and over them', async () => {
    const random = seededRandom(5);
    const field = await series([]);
    let [t, v] = [START, 1_000];
    const values: Point[] = Array.from({ length: 2_400 }, () => {
      t += 1 + Math.floor(random() * 20 * MINUTE);
      const chance = random();
      v =
        chance < 0.02 ? Math.floor(random() * v) : chance < 0.05 ? Math.floor(v * 0.95) : v + Math.floor(random() * 50);
      return { t, v };
    });
    const send = async (some: Point[]): Promise<void> => {
      const entries = some.map((point) => ({ field, value: point.v, timestamp: point.t / 1_000 }));
      expect((await server.record(deviceId, entries)).status).toBe(200);
    };
    await send(values.filter((_, i) => i < 2_000 && i % 7 !== 0));
    await server.stop();
    await compactAll(stored.url);
    server = await startServer({ database: stored, env: { WRITE_RATE_PER_FIELD: '0' } });
    // Before, between and behind those in chunks; and corrections of some of them.
    for (const point of values) if (random() < 0.02) point.v = Math.floor(Number(point.v) * random());
    await send(values);

    for (const meaning of FIELD_MEANINGS) {
      await change(field, { meaning, ...(meaning === 'COUNTER' ? { overflowAt: 4_000 } : {}) });
      const how = { meaning, overflowAt: meaning === 'COUNTER' ? 4_000 : null };
      for (const resolution of ['1h', '1d', '1w']) {
        const from = START + Math.floor(random() * 4 * DAY);
        const to = from + 1 + Math.floor(random() * (resolution === '1h' ? 2 : 12) * DAY);
        const asked = AGGREGATIONS.filter((one) => meaning !== 'ANGLE' || (one !== 'MIN' && one !== 'MAX'));
        const aliases = asked.map(
          (one: Aggregation) =>
            `${one}: history(fields: ["${field}"], from: "${iso(from)}", to: "${iso(to)}", resolution: "${resolution}", aggregation: ${one}) { values }`,
        );
        const answer = await read(aliases.join('\n'));
        for (const aggregation of asked) {
          const query = { from, to, resolution, zone: 'UTC', aggregation, fill: 'NULL' as const, ...how };
          const wanted = naiveBuckets(values, query).values;
          const found = answer[aggregation][0].values as unknown[];
          expect([meaning, aggregation, found.length]).toEqual([meaning, aggregation, wanted.length]);
          wanted.forEach((value, i) => {
            if (typeof value === 'number')
              expect([meaning, aggregation, i, Math.abs((found[i] as number) - value) < 1e-6 * Math.max(1, Math.abs(value))]).toEqual([meaning, aggregation, i, true]); // oxfmt-ignore
            else expect(found[i]).toBe(value);
          });
        }
        const found = await statistics(field, 'count average sum difference falls { noise gaps overflows restarts }', { from, to }); // oxfmt-ignore
        const wanted = naiveStatistics(values, from, to, how) as Record<string, any>;
        expect([meaning, found['count'], found['falls']]).toEqual([meaning, wanted['count'], wanted['falls']]);
        for (const name of ['average', 'sum', 'difference']) {
          const off = Math.abs(found[name] - wanted[name]) / Math.max(1, Math.abs(wanted[name]));
          expect([meaning, name, off < 1e-6]).toEqual([meaning, name, true]);
        }
      }
    }
  }, 60_000);
});
