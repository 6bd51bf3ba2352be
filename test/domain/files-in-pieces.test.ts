import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { Exporter, type ExportQuery } from '../../src/domain/transfer/exporter.ts';
import { History } from '../../src/domain/history/history.ts';
import { Importer } from '../../src/domain/transfer/importer.ts';
import type { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { MeasurementsResolver } from '../../src/graphql/resolvers/measurements-resolver.ts';
import type { MeasurementStore, Piece } from '../../src/domain/ports/store.ts';
import type { BackgroundTurns } from '../../src/scheduling/turns.ts';

const FIELD = { key: 1, identifier: 'f', type: 'FLOAT' };
const PRODUCT = { fields: new Map([['f', FIELD]]), fieldsByKey: new Map([[1, FIELD]]) };
const DEVICE = { key: 1, id: 'd', serialNumber: 's', product: PRODUCT, keeps: null } as unknown as Parameters<
  Exporter['ofDevice']
>[1];
const ALL = { layout: 'long', fields: null, from: 0, to: 1e15, chart: null, spreadsheet: false } as const;

type Access = Parameters<Exporter['ofDevice']>[0];
const accessOf = (tokenId: string, tenant = 'workspace'): Access => ({ tokenId, tenant, fields: null }) as Access;
const stillThere = async (): Promise<Access> => ({ fields: null, requireDevice: () => {} }) as unknown as Access;

/** Turns that are had at once; `inPiece`: whether a piece is being worked on. */
class Watched {
  inPiece = false;
  pieces = 0;
  spentMs = 0;
  readonly shares = { backgroundOf: () => this.#turns };
  readonly #turns: BackgroundTurns = {
    next: async () => {},
    spend: (milliseconds) => void (this.spentMs += milliseconds),
    piece: async (work) => {
      this.inPiece = true;
      this.pieces += 1;
      return work().finally(() => (this.inPiece = false));
    },
  };

  /** Throws outside of a piece. */
  readonly read = async <T>(value: T): Promise<T> => {
    if (!this.inPiece) throw new Error('not in a piece');
    return value;
  };
}

/** Exports with these parts; `accessNow`: what their token may do by then. */
function exporterOf(parts: object, accessNow = stillThere): Exporter {
  const deps = { authenticator: { follow: () => accessNow }, ...parts };
  return new Exporter(deps as unknown as ConstructorParameters<typeof Exporter>[0]);
}

function exporter(watched: Watched, points = 1): Exporter {
  const store = { range: () => watched.read({ timestamps: [1, 2], values: [1, 2] }) };
  const timestamps = Array.from({ length: points }, (_, at) => at);
  const series = { field: FIELD, timestamps, values: timestamps.map(() => 5), truncated: false };
  const history = { series: () => watched.read([series]) };
  return exporterOf({ store, history, shares: watched.shares });
}

test.each([
  ['every value', {}],
  ['rows of all fields', { layout: 'wide' }],
  ['buckets', { chart: { resolution: '1d', maxPoints: null, timeZone: null } }],
] as [string, Partial<ExportQuery>][])('a file out reads %s as pieces in the background', async (_, how) => {
  const watched = new Watched();
  const { bytes } = exporter(watched).ofDevice(accessOf('t'), DEVICE, { ...ALL, format: 'csv', ...how });
  let text = '';
  for await (const piece of bytes) text += Buffer.from(piece).toString();
  expect(text.split('\n').length).toBeGreaterThan(2);
  expect(watched.pieces).toBe(1);
});

test.each(['long', 'wide'] as const)('many buckets go out a piece at a time, layout %s', async (layout) => {
  const chart = { resolution: '1h', maxPoints: null, timeZone: null };
  const { bytes } = exporter(new Watched(), 200_000).ofDevice(accessOf('t'), DEVICE, {
    ...ALL,
    format: 'csv',
    layout,
    chart,
  });
  const sizes: number[] = [];
  for await (const piece of bytes) sizes.push(piece.length);
  expect(sizes.length).toBeGreaterThan(50);
  expect(Math.max(...sizes)).toBeLessThan(66_000);
});

test('the rows of a chart are made as they are read, each with all columns of the file', async () => {
  const fields = Array.from({ length: 1_000 }, (_, key) => ({ ...FIELD, identifier: `f${key}`, key }));
  const product = { ...PRODUCT, fields: new Map(fields.map((field) => [field.identifier, field])) };
  const device = { ...DEVICE, product } as unknown as typeof DEVICE;
  const series = fields.map((field) => ({
    field,
    timestamps: Array.from({ length: 40 }, (_, at) => at + field.key / 1_000),
    values: Array.from({ length: 40 }, (_, at) => (at % 4 === 0 ? null : field.key)),
    truncated: false,
  }));
  const files = exporterOf({ history: { series: async () => series }, shares: new Watched().shares });
  const chart = { resolution: null, maxPoints: 40, timeZone: null };
  const { bytes } = files.ofDevice(accessOf('t'), device, { ...ALL, format: 'csv', layout: 'wide', chart });
  const before = process.memoryUsage().heapUsed;
  const first = (await bytes.next()).value as Uint8Array;
  // In memory all at once they were 240 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
  let text = Buffer.from(first).toString();
  for await (const piece of bytes) text += Buffer.from(piece).toString();
  const rows = text.trimEnd().split('\n').slice(1);
  expect(rows.length).toBe(30_000);
  expect(rows[1]).toBe(`s,1970-01-01T00:00:01.001Z,,1${','.repeat(998)}`);
});

test('where a row has no value, or one of 500, not all fields are looked through for it', async () => {
  const fields = Array.from({ length: 500 }, (_, key) => ({ ...FIELD, identifier: `f${key}`, key }));
  const product = { ...PRODUCT, fields: new Map(fields.map((field) => [field.identifier, field])) };
  const device = { ...DEVICE, product } as unknown as typeof DEVICE;
  const long = Array.from({ length: 180_000 }, (_, at) => at);
  let looks = 0;
  const counted = (list: number[]): number[] =>
    new Proxy(list, { get: (target, key) => ((looks += 1), Reflect.get(target, key)) });
  const series = fields.map((field) => ({
    field,
    timestamps: field.key === 0 ? long : counted([200_000 + field.key, 300_000 - field.key]),
    values: field.key === 0 ? long.map(() => null) : [field.key, field.key],
    truncated: false,
  }));
  const files = exporterOf({ history: { series: async () => series }, shares: new Watched().shares });
  const chart = { resolution: null, maxPoints: 200_000, timeZone: null };
  const { bytes } = files.ofDevice(accessOf('t'), device, { ...ALL, format: 'ndjson', layout: 'wide', chart });
  let text = '';
  for await (const piece of bytes) text += Buffer.from(piece).toString();
  // Each field a few times for each of its own two values, not for each row.
  expect(looks).toBeLessThan(200_000);
  const names = text
    .trimEnd()
    .split('\n')
    .map((line) => Object.keys(JSON.parse(line) as object)[2]);
  const ahead = fields.slice(1).map(({ identifier }) => identifier);
  expect(names).toEqual([...ahead, ...ahead.toReversed()]);
});

test.each(['long', 'wide'] as const)(
  'nothing more is read or goes out when the token, or its right to the device, is gone, layout %s',
  async (layout) => {
    const long = 'x'.repeat(1_000);
    let reads = 0;
    const range = async ({ from }: { from: number }): Promise<object> => {
      reads += 1;
      const times = Array.from({ length: 10_000 }, (_, at) => from + at);
      return { timestamps: times, values: times.map(() => long) };
    };
    const texts = { ...PRODUCT, fields: new Map([['f', { ...FIELD, type: 'STRING' }]]) };
    const device = { ...DEVICE, product: texts } as unknown as typeof DEVICE;
    const { shares } = new Watched();
    for (const ended of ['token', 'right']) {
      let isOver = false;
      const gone = (what: string): void => {
        if (isOver && what === ended) throw new AppError('UNAUTHENTICATED', `no ${what}`);
      };
      const accessNow = async (): Promise<Access> => {
        gone('token');
        return { fields: null, requireDevice: () => gone('right') } as unknown as Access;
      };
      const files = exporterOf({ store: { range }, shares }, accessNow);
      const { bytes } = files.ofDevice(accessOf('t'), device, { ...ALL, layout, format: 'csv' });
      expect((await bytes.next()).done).toBe(false);
      isOver = true;
      const before = reads;
      await expect(bytes.next()).rejects.toThrow(`no ${ended}`);
      expect(reads).toBe(before);
    }
  },
);

test('rows that were being read when the right ended do not go out with those of another device', async () => {
  let allowed = [1, 2];
  const range = async (): Promise<object> => {
    allowed = [2];
    return { timestamps: [1], values: [1] };
  };
  const { shares } = new Watched();
  const devices = {
    productIds: async () => ['p'],
    page: async () => ({ items: [{ device: { id: 1 } }, { device: { id: 2 } }] }),
  };
  const ingestCache = {
    product: async () => PRODUCT,
    device: async (key: number) => ({ ...DEVICE, key }),
  };
  const accessNow = async (): Promise<Access> =>
    ({
      fields: null,
      requireDevice: ({ key }: { key: number }) => {
        if (!allowed.includes(key)) throw new AppError('NOT_FOUND', 'no such device');
      },
    }) as unknown as Access;
  const choice = {} as Parameters<Exporter['ofMany']>[1];
  const files = exporterOf({ store: { range }, shares, devices, ingestCache }, accessNow);
  const { bytes } = await files.ofMany(accessOf('t'), choice, { ...ALL, format: 'csv' });
  await expect(bytes.next()).rejects.toThrow('no such device');
});

test('planning buckets is held against who asks for them, also when there are too many', async () => {
  const watched = new Watched();
  const history = new History({} as MeasurementStore);
  const files = exporterOf({ history, shares: watched.shares });
  const chart = { resolution: '1mo', maxPoints: 60_000, timeZone: null };
  const { bytes } = files.ofDevice(accessOf('t'), DEVICE, { ...ALL, to: 8.64e15, format: 'csv', chart });
  await expect(bytes.next()).rejects.toThrow(/more buckets/);
  expect(watched.spentMs).toBeGreaterThan(0);
});

/** Imports with these parts; `requireDevice`: throws what ends their right to it. */
function importerOf(parts: object, requireDevice = (): void => {}): Importer {
  const deps = {
    authenticator: { follow: () => async () => ({ requireDevice }) },
    store: { compactSoon: async () => {} },
    devices: { named: async () => DEVICE },
    ingestCache: { revision: 0 },
    rules: { present: async () => new Map() },
    liveWindowMs: 3_600_000,
    maxFutureMs: 86_400_000,
    now: Date.now,
    ...parts,
  };
  return new Importer(deps as unknown as ConstructorParameters<typeof Importer>[0]);
}

async function* textOf(lines: readonly string[]): AsyncGenerator<string> {
  yield lines.join('\n');
}

/** In one piece, for three commits. */
const ELEVEN_THOUSAND = [
  'field,timestamp,value',
  ...Array.from({ length: 11_000 }, (_, at) => `f,${1_700_000_000 + at},${at}`),
];

test('what was written of a file is paid for, also by who reads no further', async () => {
  const watched = new Watched();
  const chart = { resolution: '1h', maxPoints: null, timeZone: null };
  const query = { ...ALL, format: 'csv', chart } as const;
  const { bytes } = exporter(watched, 200_000).ofDevice(accessOf('t'), DEVICE, query);
  const { value: piece } = await bytes.next();
  await bytes.return(undefined);
  expect(piece.length).toBeGreaterThan(60_000);
  expect(watched.spentMs).toBeGreaterThan(1.5);
});

test('a file in is stored as pieces in the background; while it waits for room, others may have theirs', async () => {
  const watched = new Watched();
  let isFull = true;
  const commit = async (): Promise<void> => {
    await watched.read(undefined);
    if (!isFull) return;
    isFull = false;
    throw new AppError('OVERLOADED', 'no room');
  };
  const importer = importerOf({ recorder: { commit }, shares: watched.shares });
  const { values } = await importer.run(accessOf('t'), { kind: 'csv' }, DEVICE, textOf(ELEVEN_THOUSAND));
  expect(values).toBe(11_000);
  // Three, and the first one again.
  expect(watched.pieces).toBe(4);
});

test('a file in ends before the next commit when its token may not configure the device any more', async () => {
  let commits = 0;
  const requireDevice = (): void => {
    if (commits > 0) throw new AppError('FORBIDDEN', 'no more');
  };
  const importer = importerOf(
    { recorder: { commit: async () => (commits += 1) }, shares: new Watched().shares },
    requireDevice,
  );
  const details = { stored: 5_000 };
  await expect(importer.run(accessOf('t'), { kind: 'csv' }, DEVICE, textOf(ELEVEN_THOUSAND))).rejects.toMatchObject({
    code: 'FORBIDDEN',
    details,
  });
  expect(commits).toBe(1);
});

test('what a file names keeps no more of it in memory than a commit takes', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const watched = new Watched();
  const asked: string[] = [];
  const named = async (_: unknown, name: string): Promise<never> => {
    asked.push(name);
    throw new AppError('NOT_FOUND', name);
  };
  const importer = importerOf({ devices: { named }, shares: watched.shares });
  collect();
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  async function* text(): AsyncGenerator<string> {
    yield 'device,field,timestamp,value\n';
    for (let at = 0; at < 400; at += 1) {
      yield Buffer.from(`unknown-device-${at},f,1,${'x'.repeat(100_000)}\n`).toString();
      yield Buffer.from(`${at}${'y'.repeat(100_000)},f,1,2\n`).toString();
      if (at % 100 < 99) continue;
      collect();
      most = Math.max(most, process.memoryUsage().heapUsed - before);
    }
  }
  const { refused, rejected } = await importer.run(accessOf('t'), { kind: 'csv' }, null, text());
  expect(refused).toBe(800);
  expect(new Set(rejected.map(({ code }) => code))).toEqual(new Set(['UNKNOWN_DEVICE']));
  // Nobody is asked for what is too long for a name.
  expect(Math.max(...asked.map((name) => name.length))).toBeLessThan(30);
  expect(most).toBeLessThan(12_000_000);
});

test('few values in a long text are committed before it has all come', async () => {
  const watched = new Watched();
  const importer = importerOf({ recorder: { commit: () => watched.read(undefined) }, shares: watched.shares });
  async function* text(): AsyncGenerator<string> {
    yield 'field,timestamp,value\n';
    for (let at = 0; at < 100; at += 1) yield `f,${1_700_000_000 + at}${' '.repeat(100_000)},5\n`;
  }
  const { values } = await importer.run(accessOf('t'), { kind: 'csv' }, DEVICE, text());
  expect(values).toBe(100);
  expect(watched.pieces).toBe(2);
});

test('measurements are deleted, or counted for that, as pieces in the background', async () => {
  const watched = new Watched();
  const resolver = new MeasurementsResolver({
    ingestCache: { device: async () => DEVICE },
    store: { remove: (_: unknown, piece: Piece) => piece(() => watched.read(7)) },
    shares: watched.shares,
  } as unknown as ConstructorParameters<typeof MeasurementsResolver>[0]);
  const access = { tokenId: 't', fields: null, requireDevice: () => {} };
  const context = { access, renew: () => {} } as unknown as GraphqlContext;
  expect(await resolver.deleteMeasurements(context, 'd', 0, 1, null, true)).toEqual({ measurements: 7 });
  expect(watched.pieces).toBe(1);
});

test('of what is being deleted no further piece goes once the token may not', async () => {
  const watched = new Watched();
  const remove = async (_: unknown, piece: Piece): Promise<number> => {
    for (let at = 0; at < 10; at += 1) await piece(() => watched.read(7));
    return 7;
  };
  const resolver = new MeasurementsResolver({
    ingestCache: { device: async () => DEVICE },
    store: { remove },
    shares: watched.shares,
  } as unknown as ConstructorParameters<typeof MeasurementsResolver>[0]);
  let asked = 0;
  const requireDevice = (): void => {
    if ((asked += 1) > 3) throw new AppError('FORBIDDEN', 'no more');
  };
  const context = {
    access: { tokenId: 't', fields: null, requireDevice },
    renew: () => {},
  } as unknown as GraphqlContext;
  await expect(resolver.deleteMeasurements(context, 'd', 0, 1)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  // The first time it was asked before there was a piece.
  expect(asked).toBe(4);
});

test('a token has half of the exports that it finds free, and a tenant three quarters, so that others find some too', async () => {
  const files = exporter(new Watched());
  const begun: AsyncGenerator<Uint8Array>[] = [];
  /** How many the token gets under way. */
  const begin = async (tokenId: string, tenant: string): Promise<number> => {
    for (let count = 0; ; count += 1) {
      try {
        const { bytes } = files.ofDevice(accessOf(tokenId, tenant), DEVICE, { ...ALL, format: 'csv' });
        await bytes.next();
        begun.push(bytes);
      } catch (error) {
        expect(error).toMatchObject({ code: 'OVERLOADED' });
        return count;
      }
    }
  };
  expect(await begin('first', 'many')).toBe(8);
  expect(await begin('second', 'many')).toBe(4);
  for (const token of ['third', 'fourth', 'fifth']) expect(await begin(token, 'many')).toBe(0);
  expect(await begin('alone', 'other')).toBe(2);
  // Each tenant finds one, up to 64 altogether.
  for (let at = 14; at < 64; at += 1) expect(await begin(`late ${at}`, `other ${at}`)).toBe(1);
  expect(await begin('too late', 'last')).toBe(0);
  for (const bytes of begun) await bytes.return(undefined);
  expect(await begin('second', 'many')).toBe(8);
});
