import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGGREGATIONS, GAP_FILLS, type Aggregation, type GapFill } from '../../src/domain/ports/series-request.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { naiveBuckets, naiveStatistics, type Point } from '../history/naive-history.ts';
import { seededRandom } from '../support/seeded-random.ts';
import {
  createDatabase,
  createProduct,
  EITHER_DATABASE,
  startServer,
  type TestDatabase,
  type TestServer,
} from '../support/server.ts';
import { createToken } from '../support/tenant.ts';

const DAY = 86_400_000;
const START = Date.parse('2024-03-24T00:00:00Z');
const FIELDS = { level: 'FLOAT', count: 'INTEGER', open: 'BOOLEAN', note: 'STRING', place: 'GEOLOCATION' };
const NUMERIC = ['level', 'count', 'open'];

const iso = (ms: number): string => new Date(ms).toISOString();

function closeTo(found: unknown[], expected: readonly unknown[], what: unknown[]): void {
  expect([...what, found.length]).toEqual([...what, expected.length]);
  expected.forEach((value, i) => {
    const same = typeof value === 'number' && typeof found[i] === 'number' && Math.abs(found[i] - value) <= 1e-9 * Math.max(1, Math.abs(value)); // oxfmt-ignore
    if (!same) expect([...what, i, found[i]]).toEqual([...what, i, value]);
  });
}

/** Moves every reading of the first devices into chunks, as the compactor does an hour later. */
async function compactAll(url: string): Promise<void> {
  const store = url.startsWith('sqlite:')
    ? await SqliteMeasurementStore.open({ path: url.slice('sqlite:'.length) })
    : await PostgresMeasurementStore.open({ url });
  await store.compact([1, 2, 3], Date.now() + 3_600_000);
  await store.stop();
}

describe.each(EITHER_DATABASE)('history on %s', (database) => {
  let server: TestServer;
  let stored: TestDatabase;
  let productId: string;
  let deviceIds: string[];
  /** What the first device holds, kept by hand. */
  const model: Record<string, Map<number, Point['v']>> = {};
  const random = seededRandom(17);

  const points = (field: string): Point[] =>
    [...model[field]!].map(([t, v]) => ({ t, v })).toSorted((a, b) => a.t - b.t);

  const record = async (id: string, entries: { field: string; t: number; v: Point['v'] }[]): Promise<void> => {
    for (let at = 0; at < entries.length; at += 5_000) {
      const sent = entries.slice(at, at + 5_000).map(({ field, t, v }) => ({ field, value: v, timestamp: t / 1000 }));
      const { status, body } = await server.record(id, sent);
      expect([200, 207]).toContain(status);
      // Of several for one moment the last is stored.
      for (const { code } of body.rejected) expect(code).toBe('DUPLICATE_IN_REQUEST');
    }
  };

  const read = async (selection: string, id = deviceIds[0]!): Promise<Record<string, any>> =>
    (await server.gql(`query ($id: ID!) { device(id: $id) { ${selection} } }`, { id }))['device'];

  const refusal = async (selection: string): Promise<string> => {
    const query = `query ($id: ID!) { device(id: $id) { ${selection} } }`;
    const { errors } = await server.query(query, { id: deviceIds[0] });
    return `${errors?.[0]?.extensions.code} ${errors?.[0]?.message}`;
  };

  const nextValue: Record<string, () => Point['v']> = {
    level: () => Math.round(random() * 1e4) / 100,
    count: () => Math.floor(random() * 50),
    open: () => random() < 0.4,
    note: () => ['open', 'shut', 'Ångström 🌡'][Math.floor(random() * 3)]!,
    place: () => `(${Math.floor(random() * 90)},${Math.floor(random() * 180)})`,
  };

  beforeAll(async () => {
    stored = await createDatabase(database);
    server = await startServer({ database: stored });
    const product = await createProduct(server, { fields: FIELDS, serialNumbers: ['a', 'b', 'c'] });
    productId = product.id;
    deviceIds = product.deviceIds;
    const entries = Object.keys(FIELDS).flatMap((field) => {
      model[field] = new Map();
      let t = START;
      return Array.from({ length: 1_000 }, () => {
        t += random() < 0.005 ? Math.floor(random() * 2 * DAY) : 1 + Math.floor(random() * 1_500_000);
        return { field, t, v: nextValue[field]!() };
      });
    });
    // Backfill in any order, some of it twice with the correction last.
    const corrected = entries.filter(() => random() < 0.1).map((entry) => ({ ...entry, v: nextValue[entry.field]!() }));
    const sent = [...entries.toSorted(() => random() - 0.5), ...corrected];
    for (const { field, t, v } of sent) model[field]!.set(t, v);
    await record(deviceIds[0]!, sent.slice(0, 3_000));
    // The first part goes into chunks; the rest, corrections of it too, stays beside them.
    await server.stop();
    await compactAll(stored.url);
    server = await startServer({ database: stored, compared: true });
    await record(deviceIds[0]!, sent.slice(3_000));
  });

  afterAll(async () => {
    await server.stop();
    await stored.drop();
  });

  /** All aggregations and fills of one field and grid in few requests, against the model. */
  async function compare(
    field: string,
    grid: { from: number; to: number; resolution: string; zone: string },
  ): Promise<void> {
    const { from, to, resolution, zone } = grid;
    const numeric = NUMERIC.includes(field);
    const asked: { aggregation: Aggregation; fill: GapFill }[] = AGGREGATIONS.filter(
      (name) => numeric || ['FIRST', 'LAST', 'COUNT'].includes(name),
    ).flatMap((aggregation) =>
      GAP_FILLS.filter((fill) => fill !== 'LINEAR' || (['level', 'count'].includes(field) || !['FIRST', 'LAST'].includes(aggregation))).map((fill) => ({ aggregation, fill })),
    ); // oxfmt-ignore
    const aliases = asked.map(({ aggregation, fill }, i) =>
      `h${i}: history(from: "${iso(from)}", to: "${iso(to)}", fields: ["${field}"], resolution: "${resolution}",
         timeZone: "${zone}", aggregation: ${aggregation}, fill: ${fill})
         { resolution timestamps values truncated before { value timestamp } }`,
    ); // oxfmt-ignore
    const all = points(field);
    const before = all.findLast(({ t }) => t < from);
    for (let at = 0; at < aliases.length; at += 16) {
      const answer = await read(aliases.slice(at, at + 16).join('\n'));
      asked.slice(at, at + 16).forEach((how, i) => {
        const what = [field, resolution, zone, how.aggregation, how.fill];
        const [series] = answer[`h${at + i}`];
        const expected = naiveBuckets(all, { ...grid, ...how });
        expect([...what, series.resolution, series.truncated]).toEqual([...what, resolution, false]);
        closeTo(
          series.timestamps,
          expected.timestamps.map((ms) => ms / 1000),
          what,
        );
        closeTo(series.values, expected.values, what);
        expect(series.before).toEqual(before ? { value: before.v, timestamp: iso(before.t) } : null);
      });
    }
  }

  const grids = [
    { resolution: '1h', zone: 'Europe/Berlin' },
    { resolution: '30m', zone: 'UTC' },
    { resolution: '6h', zone: 'Asia/Kathmandu' },
    { resolution: '1d', zone: 'America/New_York' },
    { resolution: '1w', zone: 'Australia/Sydney' },
    { resolution: '1mo', zone: 'Europe/Berlin' },
  ];

  test('every aggregation, fill, zone and grid is what the contract says of the plain values', async () => {
    for (const field of Object.keys(FIELDS))
      for (const grid of grids) {
        const from = START + Math.floor(random() * 8 * DAY);
        const long = ['1w', '1mo'].includes(grid.resolution) ? 20 * DAY : 3 * DAY;
        await compare(field, { ...grid, from, to: from + 1 + Math.floor(random() * long) });
      }
  });

  test('raw values, pages and statistics agree with the model', async () => {
    for (const field of Object.keys(FIELDS)) {
      const all = points(field);
      for (let round = 0; round < 4; round++) {
        const from = START + Math.floor(random() * 10 * DAY);
        const to = from + 1 + Math.floor(random() ** 2 * 6 * DAY);
        const range = `from: "${iso(from)}", to: "${iso(to)}"`;
        const answer = await read(
          `history(${range}, fields: ["${field}"]) { resolution timestamps values truncated }
           measurements(field: "${field}", ${range}, first: 500) { totalCount edges { node { value timestamp } } }
           statistics(${range}, fields: ["${field}"]) { field { identifier } count min minAt max maxAt average sum difference
             first { value timestamp } last { value timestamp } }`,
        );
        const inside = all.filter(({ t }) => t >= from && t < to);
        expect(answer['history']).toEqual([
          { resolution: null, timestamps: inside.map(({ t }) => t / 1000), values: inside.map(({ v }) => v), truncated: false },
        ]); // oxfmt-ignore
        expect(answer['measurements'].totalCount).toBe(inside.length);
        expect(answer['measurements'].edges).toEqual(inside.slice(0, 500).map(({ t, v }) => ({ node: { value: v, timestamp: iso(t) } }))); // oxfmt-ignore
        const [found] = answer['statistics'];
        const { first, last, minAt, maxAt, count, ...expected } = naiveStatistics(all, from, to) as Record<string, any>;
        expect(found.field).toEqual({ identifier: field });
        expect(found.count).toBe(count);
        expect(found.first).toEqual(first ? { value: first.v, timestamp: iso(first.t) } : null);
        expect(found.last).toEqual(last ? { value: last.v, timestamp: iso(last.t) } : null);
        const numeric = NUMERIC.includes(field) && count > 0;
        for (const name of ['min', 'max', 'average', 'sum', 'difference'])
          closeTo([found[name]], [numeric ? expected[name] : null], [field, name]);
        expect([found.minAt, found.maxAt]).toEqual(numeric ? [iso(minAt), iso(maxAt)] : [null, null]);
      }
    }
  });

  test('deletions and corrections show at once', async () => {
    const [from, to] = [START + 4 * DAY, START + 5 * DAY];
    const range = `from: "${iso(from)}", to: "${iso(to)}"`;
    const { deleteMeasurements: counted } = await server.gql(
      `mutation ($id: ID!) { deleteMeasurements(deviceId: $id, ${range}, fields: ["level"], dryRun: true) { measurements } }`,
      { id: deviceIds[0] },
    );
    const gone = points('level').filter(({ t }) => t >= from && t < to);
    expect(gone.length).toBeGreaterThan(10);
    expect(counted.measurements).toBe(gone.length);
    await server.gql(`mutation ($id: ID!) { deleteMeasurements(deviceId: $id, ${range}, fields: ["level"]) { measurements } }`, { id: deviceIds[0] }); // oxfmt-ignore
    for (const { t } of gone) model['level']!.delete(t);
    const late = Array.from({ length: 20 }, (_, i) => ({ field: 'level', t: from + i * 3_600_000 + 7, v: i / 4 }));
    await record(deviceIds[0]!, late);
    for (const { t, v } of late) model['level']!.set(t, v);
    await compare('level', { resolution: '1h', zone: 'UTC', from: from - DAY, to: to + DAY });
  });

  test('where the clock is changed, no value is lost and none counts twice', async () => {
    const cases: [zone: string, resolution: string, from: string, to: string, buckets: number][] = [
      ['Australia/Sydney', '1h', '2024-04-06T13:00:00Z', '2024-04-07T14:00:00Z', 25],
      ['Europe/Berlin', '1mo', '2024-04-30T22:00:00Z', '2024-12-31T23:00:00Z', 8],
      ['Europe/Paris', '1h', '2024-03-30T23:00:00Z', '2024-03-31T22:00:00Z', 23],
      ['Europe/Brussels', '1d', '2022-03-25T23:00:00Z', '2022-03-28T22:00:00Z', 3],
      ['America/Los_Angeles', '1h', '2024-11-03T07:00:00Z', '2024-11-04T08:00:00Z', 25],
      ['America/Los_Angeles', '1d', '2024-11-03T07:00:00Z', '2024-11-04T08:00:00Z', 1],
      ['Asia/Kathmandu', '1h', '2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z', 25],
      ['Australia/Lord_Howe', '1h', '2024-04-06T13:00:00Z', '2024-04-07T13:30:00Z', 24],
      ['Australia/Lord_Howe', '1d', '2024-10-05T13:30:00Z', '2024-10-06T13:00:00Z', 1],
      ['Pacific/Apia', '1d', '2011-12-28T10:00:00Z', '2012-01-02T10:00:00Z', 5],
      ['America/Sao_Paulo', '1d', '2018-11-02T03:00:00Z', '2018-11-06T02:00:00Z', 4],
    ];
    const { deviceIds: made } = await createProduct(server, { fields: { n: 'FLOAT' }, serialNumbers: cases.map((_, i) => `z${i}`) }); // oxfmt-ignore
    for (const [i, [zone, resolution, from, to, buckets]] of cases.entries()) {
      const [begin, end] = [Date.parse(from), Date.parse(to)];
      const step = Math.ceil((end - begin) / 997);
      const entries = [];
      for (let t = begin; t < end; t += step) entries.push({ field: 'n', t, v: 1 });
      await record(made[i]!, entries);
      const ask = (aggregation: string): string =>
        `history(from: "${from}", to: "${to}", resolution: "${resolution}", timeZone: "${zone}", aggregation: ${aggregation}) { timestamps values }`;
      const { count, sum } = await read(`count: ${ask('COUNT')} sum: ${ask('SUM')}`, made[i]);
      const total = (values: number[]): number => values.reduce((a, b) => a + b, 0);
      expect([zone, resolution, count[0].values.length]).toEqual([zone, resolution, buckets]);
      expect([zone, total(count[0].values), total(sum[0].values)]).toEqual([zone, entries.length, entries.length]);
    }
  });

  test('differences of neighbours add up to the whole, a falling counter starts again from 0', async () => {
    const id = deviceIds[1]!;
    const values = [100, 130, 130, 5, 20, 60, 10, 10, 0, 70];
    await record(id, values.map((v, i) => ({ field: 'count', t: START + i * 3_600_000, v }))); // oxfmt-ignore
    const range = `from: "${iso(START + 1)}", to: "${iso(START + DAY)}", fields: ["count"]`;
    const answer = await read(
      ['1h', '3h', '7h', '1d'].map((width, i) => `h${i}: history(${range}, resolution: "${width}", aggregation: DIFFERENCE, fill: NONE) { values before { value } }`).join(' ') +
        ` statistics(${range}) { difference }`,
      id,
    ); // oxfmt-ignore
    expect(answer['h0'][0].values).toEqual([30, 0, 5, 15, 40, 10, 0, 0, 70]);
    expect(answer['h0'][0].before).toEqual({ value: 100 });
    for (const i of [0, 1, 2, 3])
      expect(answer[`h${i}`][0].values.reduce((a: number, b: number) => a + b, 0)).toBe(170);
    expect(answer['statistics']).toEqual([{ difference: 170 }]);
    // Nothing before: from the first value on.
    const whole = await read(
      `statistics(from: "${iso(START)}", to: "${iso(START + DAY)}", fields: ["count"]) { difference }`,
      id,
    );
    expect(whole['statistics']).toEqual([{ difference: 170 }]);
  });

  test('a sensor that reports only changes has a value before the range, and PREVIOUS goes on with it', async () => {
    const id = deviceIds[1]!;
    await record(id, [{ field: 'open', t: START - 30 * DAY, v: true }, { field: 'note', t: START - DAY, v: 'shut' }]); // oxfmt-ignore
    const range = `from: "${iso(START)}", to: "${iso(START + 3 * 3_600_000)}"`;
    const { raw, share, last, note } = await read(
      `raw: history(${range}, fields: ["open"]) { values before { value timestamp field { identifier } } }
       share: history(${range}, fields: ["open"], resolution: "1h", fill: PREVIOUS) { values }
       last: history(${range}, fields: ["open"], resolution: "1h", aggregation: LAST, fill: PREVIOUS) { values }
       note: history(${range}, fields: ["note"], resolution: "1h", fill: PREVIOUS) { values }`,
      id,
    );
    expect(raw).toEqual([{ values: [], before: { value: true, timestamp: iso(START - 30 * DAY), field: { identifier: 'open' } } }]); // oxfmt-ignore
    expect([share[0].values, last[0].values, note[0].values]).toEqual([[1, 1, 1], [true, true, true], ['shut', 'shut', 'shut']]); // oxfmt-ignore
  });

  test('maxPoints gives raw values if they fit, else a shape of numbers and buckets of the rest', async () => {
    const range = `from: "${iso(START)}", to: "${iso(START + 30 * DAY)}"`;
    const { all, few, asked } = await read(
      `all: history(${range}, maxPoints: 5000) { field { identifier } resolution values truncated }
       few: history(${range}, maxPoints: 100) { field { identifier } resolution timestamps values truncated }
       asked: history(${range}, maxPoints: 100, fields: ["level"], aggregation: MAX) { resolution timestamps values }`,
    );
    for (const { field, ...series } of all)
      expect(series).toEqual({ resolution: null, truncated: false, values: points(field.identifier).filter(({ t }) => t < START + 30 * DAY).map(({ v }) => v) }); // oxfmt-ignore
    for (const { field, resolution, timestamps, values, truncated } of few) {
      const shape = ['level', 'count'].includes(field.identifier);
      expect([field.identifier, resolution, truncated]).toEqual([field.identifier, shape ? null : '12h', false]);
      expect(timestamps.length).toBeLessThanOrEqual(100);
      expect(timestamps.length).toBeGreaterThan(40);
      if (!shape) continue;
      const numbers = points(field.identifier).filter(({ t }) => t < START + 30 * DAY);
      expect([Math.min(...values), Math.max(...values)]).toEqual([Math.min(...numbers.map(({ v }) => v as number)), Math.max(...numbers.map(({ v }) => v as number))]); // oxfmt-ignore
      for (const [i, time] of timestamps.entries()) expect(model[field.identifier]!.get(Math.round(time * 1000))).toBe(values[i]); // oxfmt-ignore
    }
    expect(asked[0].resolution).toBe('12h');
    expect(Math.max(...asked[0].values)).toBe(Math.max(...points('level').filter(({ t }) => t < START + 30 * DAY).map(({ v }) => v as number))); // oxfmt-ignore
  });

  test('a field that is named twice is there once, in the order named', async () => {
    const range = `from: "${iso(START)}", to: "${iso(START + DAY)}", fields: ["note", "level", "note"]`;
    const named = '{ field { identifier } }';
    const answer = await read(`history(${range}) ${named} statistics(${range}) ${named}`);
    for (const of of ['history', 'statistics'])
      expect(answer[of].map((one: any) => one.field.identifier)).toEqual(['note', 'level']);
  });

  test('bad arguments are errors that say what to do', async () => {
    const range = `from: "${iso(START)}", to: "${iso(START + DAY)}"`;
    const cases: [string, RegExp][] = [
      ['resolution: "1 hour"', /"resolution" must be a whole number and a unit, such as "30s"/],
      ['resolution: ""', /"resolution" must be/],
      ['resolution: "1h", timeZone: "Mars/Olympus"', /"timeZone" must be an IANA zone such as "Europe\/Berlin"/],
      ['timeZone: "nowhere"', /"timeZone" must be/],
      ['maxPoints: 0', /"maxPoints" must be from 1 to 200000, not 0/],
      ['maxPoints: 200001', /"maxPoints" must be/],
      ['aggregation: AVG', /"aggregation" needs buckets: give "resolution"/],
      ['fill: NULL', /"fill" needs buckets/],
      ['resolution: "1h", aggregation: AVG', /"aggregation" AVG is not for texts such as "note": use FIRST, LAST or COUNT/],
      ['resolution: "1h", aggregation: DIFFERENCE, fields: ["place"]', /not for places such as "place"/],
      ['resolution: "1h", fill: LINEAR, fields: ["note"]', /"fill" LINEAR is not for texts such as "note": use PREVIOUS/],
      ['resolution: "1h", aggregation: LAST, fill: LINEAR, fields: ["open"]', /"fill" LINEAR is not for booleans/],
      ['resolution: "1h", maxPoints: 23', /"resolution" 1h gives more buckets .* than "maxPoints" 23: use "2h"/],
      ['resolution: "1s"', /"resolution" 1s gives more buckets .* than 40000 for each of 5 series .*: use "5s"/],
      ['fields: ["Level"]', /The product has no field "Level"/],
    ]; // oxfmt-ignore
    for (const [args, message] of cases) {
      const said = await refusal(`history(${range}, ${args}) { values }`);
      expect(said, args).toMatch(/^BAD_USER_INPUT /);
      expect(said, args).toMatch(message);
    }
    for (const wrong of ['history', 'statistics']) {
      const said = await refusal(`${wrong}(from: "${iso(START)}", to: "${iso(START)}") { field { identifier } }`);
      expect(said).toBe('BAD_USER_INPUT "from" must be before "to".');
    }
    expect(await refusal(`statistics(${range}, fields: ["nothing"]) { count }`)).toMatch(/has no field "nothing"/);
  });

  test('several devices at once: by ids in that order, all of a product, all with tags; exactly one way', async () => {
    await server.gql('mutation ($id: ID!) { updateDevice(id: $id, input: { tags: ["roof", "east"] }) { id } }', { id: deviceIds[2] }); // oxfmt-ignore
    const other = await createProduct(server, { fields: { level: 'FLOAT', other: 'FLOAT' }, serialNumbers: ['o'] });
    await record(other.deviceIds[0]!, [{ field: 'level', t: START, v: 3 }]);
    await record(deviceIds[2]!, [{ field: 'level', t: START, v: 2 }]);
    const range = `from: "${iso(START)}", to: "${iso(START + 1)}"`;
    const ask = async (args: string, token?: string): Promise<any> => {
      const query = `{ history(${args}, ${range}) { device { id name } series { field { identifier } values } } }`;
      const { data, errors } = await server.query(query, {}, token);
      return errors ? `${errors[0]!.extensions.code} ${errors[0]!.message}` : data!['history'];
    };
    const both = await ask(`deviceIds: ["${other.deviceIds[0]}", "${deviceIds[2]}", "${other.deviceIds[0]}"], fields: ["level", "note"]`); // oxfmt-ignore
    expect(both).toEqual([
      { device: { id: other.deviceIds[0], name: 'device o' }, series: [{ field: { identifier: 'level' }, values: [3] }] },
      { device: { id: deviceIds[2], name: 'device c' }, series: [{ field: { identifier: 'level' }, values: [2] }, { field: { identifier: 'note' }, values: [] }] },
    ]); // oxfmt-ignore
    expect((await ask(`productId: "${productId}", fields: ["level"]`)).map((one: any) => one.device.id)).toEqual(
      deviceIds,
    );
    expect((await ask('tags: ["roof", "east"]')).map((one: any) => one.device.id)).toEqual([deviceIds[2]]);
    expect(await ask('deviceIds: []')).toEqual([]);
    for (const args of ['fields: ["level"]', `deviceIds: ["${deviceIds[0]}"], tags: ["roof"]`, `productId: "${productId}", tags: ["roof"]`])
      expect(await ask(args)).toMatch(/^BAD_USER_INPUT Choose devices in exactly one way/); // oxfmt-ignore
    expect(await ask('tags: []')).toMatch(/^BAD_USER_INPUT "tags": name at least one tag/);
    expect(await ask(`productId: "${productId}", fields: ["other"]`)).toMatch(/^BAD_USER_INPUT None of the products has a field "other"/); // oxfmt-ignore
    expect(await ask('deviceIds: ["00000000-0000-4000-8000-000000000000"]')).toMatch(/^NOT_FOUND /);
    const many = Array.from({ length: 201 }, (_, i) => `"00000000-0000-4000-8000-${String(i).padStart(12, '0')}"`);
    expect(await ask(`deviceIds: [${many.join(',')}]`)).toMatch(/^BAD_USER_INPUT "deviceIds": at most 200, not 201/);
    const workspace = (await server.gql('{ workspaces { id } }'))['workspaces'][0].id;
    const limited = await createToken(server, server.adminToken, workspace, ['READ'], { deviceIds: [deviceIds[0]] });
    expect(await ask(`deviceIds: ["${deviceIds[0]}", "${deviceIds[1]}"]`, limited.secret)).toMatch(
      /^NOT_FOUND .*No device/,
    );
    const writer = await createToken(server, server.adminToken, workspace, ['RECORD']);
    expect(await ask(`deviceIds: ["${deviceIds[0]}"]`, writer.secret)).toMatch(/^FORBIDDEN /);
  });

  /** For bounds of the domain, whichever database. */
  const onEither = EITHER_DATABASE.includes(database) ? test : () => {};

  onEither('more than 200 devices are too many', async () => {
    const many = await createProduct(server, { serialNumbers: Array.from({ length: 201 }, (_, i) => `m${i}`) });
    const range = `from: "${iso(START)}", to: "${iso(START + 1)}"`;
    const { errors } = await server.query(`{ history(productId: "${many.id}", ${range}) { series { values } } }`);
    expect(errors![0]).toMatchObject({ message: expect.stringContaining('more than 200 devices'), extensions: { code: 'BAD_USER_INPUT' } }); // oxfmt-ignore
    const some = many.deviceIds.slice(0, 200).map((id) => `"${id}"`);
    const { history } = await server.gql(`{ history(deviceIds: [${some.join(',')}], ${range}) { series { values } } }`);
    expect(history).toHaveLength(200);
  });

  onEither(
    'raw values share 200,000 points fairly; an operation of many histories has a limit of its own',
    async () => {
      const { deviceIds: [id] } = await createProduct(server, { fields: { big: 'FLOAT', large: 'FLOAT', small: 'FLOAT' }, serialNumbers: ['limits'] }); // oxfmt-ignore
      const column = (field: string, count: number): { field: string; t: number; v: number }[] =>
        Array.from({ length: count }, (_, i) => ({ field, t: START + i, v: i % 100 }));
      await record(id!, [...column('big', 120_000), ...column('large', 100_000), ...column('small', 1_000)]);
      const range = `from: "${iso(START)}", to: "${iso(START + DAY)}"`;
      const { history } = await read(`history(${range}) { field { identifier } values truncated }`, id);
      expect(history.map((series: any) => [series.field.identifier, series.values.length, series.truncated])).toEqual([['big', 99_500, true], ['large', 99_500, true], ['small', 1_000, false]]); // oxfmt-ignore
      const three = [1, 2].map((i) => `h${i}: history(${range}, fields: ["big", "large"]) { truncated }`).join(' ');
      expect(await read(three, id)).toMatchObject({ h1: [{ truncated: true }, { truncated: false }] });
      const query = `query ($id: ID!) { device(id: $id) { ${three} h3: history(${range}) { truncated } } }`;
      const { errors } = await server.query(query, { id });
      expect(errors![0]!.extensions.code).toBe('QUERY_TOO_COMPLEX');
      expect(errors![0]!.message).toMatch(/more than 500000 points. Ask for buckets/);
    },
  );

  onEither('long texts are cut off at ten million characters, and the history says so', async () => {
    const { deviceIds: [id] } = await createProduct(server, { fields: { log: 'STRING' }, serialNumbers: ['long'] }); // oxfmt-ignore
    const textOf = (i: number): string => `${i} `.padEnd(4_000, 'log');
    for (let at = 0; at < 2_600; at += 200)
      await record(
        id!,
        Array.from({ length: 200 }, (_, i) => ({ field: 'log', t: START + at + i, v: textOf(at + i) })),
      );
    const range = `from: "${iso(START)}", to: "${iso(START + DAY)}"`;
    const { history } = await read(`history(${range}) { values truncated }`, id);
    expect(history).toEqual([{ values: Array.from({ length: 2_500 }, (_, i) => textOf(i)), truncated: true }]);
  });
});
