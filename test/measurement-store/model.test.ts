import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PointsAnswer } from '../../src/domain/ports/series-request.ts';
import type { StoredValue } from '../../src/domain/ports/store.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { DIALECTS, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

const DEVICES = 3;
const FIELDS = 4;
/** A long history of each of many seeds is tried in the nightly run. */
const IS_LONG = process.env['INLET_TESTS'] === 'nightly';
const EVENTS = IS_LONG ? 120 : 80;
const SEEDS = IS_LONG ? [1, 2, 3, 4, 5] : [2, 5];

/** What the store should hold: the last value of each key, by device, field and time. */
class Model {
  readonly #fields = new Map<string, Map<number, StoredValue>>();

  field(device: number, field: number): Map<number, StoredValue> {
    const key = `${device} ${field}`;
    const found = this.#fields.get(key) ?? new Map<number, StoredValue>();
    this.#fields.set(key, found);
    return found;
  }

  /** [time, value], oldest first. */
  rows(device: number, field: number, from = -Infinity, to = Infinity): [number, StoredValue][] {
    const rows = [...this.field(device, field)].filter(([time]) => time >= from && time < to);
    return rows.sort((a, b) => a[0] - b[0]);
  }
}

/**
 * Receipts with duplicates, corrections, late values and backfill, compactions, deletions, purges, expiry and restarts
 * in any order, against a map.
 */
describe.each(DIALECTS)('the %s store holds what a map would', (dialect) => {
  let database: OpenDatabase;
  let base = 0;
  beforeAll(async () => {
    database = await openDatabase(dialect);
  });
  afterAll(() => database.close());

  test.each(SEEDS)('seed %i', async (seed) => {
    const random = seededRandom(seed);
    const below = (most: number): number => Math.floor(random() * most);
    base += 100;
    const device = (): number => base + below(DEVICES);
    const model = new Model();
    let store: Store = await database.openStore();
    let clock = 1_000_000;

    const value = (): StoredValue => {
      const kind = random();
      if (kind < 0.05) return `text ${below(50)}`;
      return kind < 0.7 ? Math.round(random() * 10_000) / 100 : (random() - 0.5) * 10 ** below(20);
    };
    const time = (): number => {
      const kind = random();
      if (kind < 0.6) return (clock += 1 + below(1_000));
      return kind < 0.85 ? below(clock) : below(200);
    };
    const mixed = (at: number, step: number): Row[] => {
      const count = random() < 0.1 ? 1 + below(2_500) : 1 + below(30);
      return Array.from({ length: count }, (_, i): Row => [below(FIELDS), at + i * step, value()]);
    };
    /** Some of them go into chunks of their own. */
    const longTexts = (at: number, step: number): Row[] => {
      const field = below(FIELDS);
      return Array.from({ length: 10 + below(60) }, (_, i) => [
        field,
        at + i * step,
        `${below(50)}`.padEnd(4_000, '.'),
      ]);
    };
    /** In all fields of few moments: together they are cut. */
    const longMoments = (at: number): Row[] =>
      Array.from({ length: 12 }, (_, i) => [
        i % FIELDS,
        at + below(3),
        `${below(50)}`.padEnd(1_000 + below(3_000), '.'),
      ]);
    const append = async (): Promise<void> => {
      const receipts = Array.from({ length: 1 + below(3) }, () => {
        const key = device();
        const at = time();
        const step = below(4);
        const kind = random();
        const rows = kind < 0.15 ? longTexts(at, step) : kind < 0.3 ? longMoments(below(60)) : mixed(at, step);
        const count = rows.length;
        if (at + count * step > clock) clock = at + count * step;
        for (const [field, moment, written] of rows) model.field(key, field).set(moment, written);
        return receipt(key, rows);
      });
      // In one turn of the event loop: they commit in this order.
      await Promise.all(receipts.map((one) => store.append(one)));
    };
    const bounds = (): [number, number] => {
      const from = below(clock);
      return [from, from + below(random() < 0.3 ? clock : 5_000) + 1];
    };
    const remove = async (): Promise<void> => {
      const [from, to] = bounds();
      const [key, field] = [device(), below(FIELDS)];
      const gone = model.rows(key, field, from, to);
      const query = { deviceKey: key, fieldKeys: [field], from, to };
      expect(await store.remove({ ...query, dryRun: true })).toBe(gone.length);
      expect(await store.remove({ ...query, dryRun: false })).toBe(gone.length);
      for (const [moment] of gone) model.field(key, field).delete(moment);
    };
    const purge = async (): Promise<void> => {
      const [key, field] = [device(), below(FIELDS)];
      const whole = random() < 0.2;
      await database.sql('INSERT INTO purge (device_key, field_key) VALUES (?, ?)', [key, whole ? null : field]);
      void store.settlePurges();
      for (let f = 0; f < FIELDS; f++) if (whole || f === field) model.field(key, f).clear();
      const deadline = Date.now() + 60_000;
      while ((await database.sql('SELECT id FROM purge')).length > 0) {
        if (Date.now() > deadline) throw new Error('it was not purged');
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    /** What is stored together with younger values may stay: then it is the model that learns. */
    const expire = async (): Promise<void> => {
      const key = device();
      const before = below(clock);
      await store.dropOlderThan([key], before);
      for (let field = 0; field < FIELDS; field++) {
        const [rows, found] = [model.rows(key, field), await all(key, field)];
        const kept = new Map(found);
        expect(found.every(([moment, kind]) => model.field(key, field).get(moment) === kind)).toBe(true);
        expect(rows.filter(([moment], i) => (moment >= before || i === rows.length - 1) && !kept.has(moment))).toEqual([]); // oxfmt-ignore
        for (const [moment] of rows) if (!kept.has(moment)) model.field(key, field).delete(moment);
      }
    };
    const all = async (key: number, field: number): Promise<[number, StoredValue][]> => {
      const { timestamps, values } = await store.range({ deviceKey: key, fieldKey: field, newestFirst: false, limit: 1e6 }); // oxfmt-ignore
      return timestamps.map((moment, i) => [moment, values[i]!]);
    };
    const check = async (): Promise<void> => {
      const [key, field] = [device(), below(FIELDS)];
      const [from, to] = bounds();
      const limit = 1 + below(random() < 0.5 ? 20 : 3_000);
      const rows = model.rows(key, field, from, to);
      const query = { deviceKey: key, fieldKey: field, from, to, limit };
      const forth = await store.range({ ...query, newestFirst: false });
      expect(forth.timestamps.map((moment, i) => [moment, forth.values[i]])).toEqual(rows.slice(0, limit));
      const back = await store.range({ ...query, newestFirst: true });
      expect(back.timestamps.map((moment, i) => [moment, back.values[i]])).toEqual(rows.toReversed().slice(0, limit));
      await checkSeries(key, from, to, limit);
      const fieldKeys = Array.from({ length: FIELDS + 1 }, (_, f) => f);
      const devices = Array.from({ length: DEVICES }, (_, i) => base + i);
      const found = await store.latest(devices.map((deviceKey) => ({ deviceKey, fieldKeys })));
      const wanted = devices.flatMap((deviceKey) =>
        fieldKeys.flatMap((fieldKey) => {
          const last = model.rows(deviceKey, fieldKey).at(-1);
          return last ? [{ deviceKey, fieldKey, timestamp: last[0], value: last[1] }] : [];
        }),
      );
      expect(found.sort((a, b) => a.deviceKey - b.deviceKey || a.fieldKey - b.fieldKey)).toEqual(wanted);
    };

    /** All fields of a device at once; what the views make of values is tested with them. */
    const checkSeries = async (key: number, from: number, to: number, limit: number): Promise<void> => {
      const buckets = 1 + below(5);
      const edges = Float64Array.from({ length: buckets + 1 }, (_, i) => from + i * Math.ceil((to - from) / buckets));
      const fields = Array.from({ length: FIELDS }, (_, field) => field);
      const answers = await store.series(
        fields.map((field) => ({
          deviceKey: key,
          fieldKey: field,
          fieldType: 'STRING',
          from,
          to,
          maxCharacters: 1e9,
          views: [
            { kind: 'raw', limit },
            { kind: 'buckets', edges, aggregation: 'COUNT', fill: 'NONE', rawUpTo: 0 },
          ],
        })),
      );
      for (const field of fields) {
        const { before, views } = answers[field]!;
        const rows = model.rows(key, field, from, to);
        const [raw, counts] = views as [PointsAnswer, PointsAnswer];
        const shown = rows.slice(0, limit).map(([moment, kept]) => [moment, String(kept)]);
        expect(Array.from(raw.timestamps, (moment, i) => [moment, String(raw.values[i])])).toEqual(shown);
        expect(raw.total).toBe(rows.length);
        expect(Array.from<unknown>(counts.values).reduce<number>((sum, count) => sum + Number(count), 0)).toBe(rows.length); // oxfmt-ignore
        const last = model.rows(key, field, -Infinity, from).at(-1);
        expect(before && [before.timestamp, String(before.value)]).toEqual(last ? [last[0], String(last[1])] : null);
      }
    };

    for (let event = 0; event < EVENTS; event++) {
      const kind = below(100);
      if (kind < 50) await append();
      else if (kind < 68) await store.compact([device()], Infinity);
      else if (kind < 88) await check();
      else if (kind < 93) await remove();
      else if (kind < 95) await purge();
      else if (kind < 97) await expire();
      else {
        await store.stop();
        store = await database.openStore();
      }
    }
    await store.compact([base, base + 1], Infinity);
    for (let i = 0; i < DEVICES; i++)
      for (let field = 0; field < FIELDS; field++)
        expect(await all(base + i, field)).toEqual(model.rows(base + i, field));
    const overlaps = await database.sql(
      'SELECT a.first_at FROM chunk a JOIN chunk b ON a.device_key = b.device_key AND a.field_key = b.field_key WHERE a.first_at < b.first_at AND a.last_at >= b.first_at',
    );
    expect(overlaps).toEqual([]);
    await store.stop();
  });
});
