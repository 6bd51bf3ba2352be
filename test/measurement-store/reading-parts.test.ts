import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StoredValue } from '../../src/domain/ports/store.ts';
import {
  BASE,
  cutIfLong,
  cutReading,
  type Part,
  wholeReading,
} from '../../src/measurement-store/readings/reading-parts.ts';
import { maxValuesBytes, valueOf, writeValues } from '../../src/measurement-store/readings/reading-values.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { DIALECTS, everything, openDatabase, type OpenDatabase, receipt, type Row, type Store } from './open-store.ts';

const TEXTS = 240;
const AT = 1_000;
/** Maximum of a row: the values of 500 fields without long texts, or one text. */
const MAX_ROW_BYTES = 13_000;
const textOf = (field: number, again = 0): string => `${field} ${again} `.padEnd(4_000, 'x');

/** A megabyte at a moment, in fields from 2. */
function longMoment(timestamp: number, again = 0): Row[] {
  return Array.from({ length: TEXTS }, (_, at): Row => [at + 2, timestamp, textOf(at + 2, again)]);
}

/** As a version before this one has it in its row. */
function packedOf(rows: readonly Row[]): Buffer {
  const values = rows.map(([, , value]) => value);
  const bytes = Buffer.alloc(maxValuesBytes(values));
  const columns = { fieldKeys: rows.map(([field]) => field), values };
  return bytes.subarray(0, writeValues(bytes, 0, columns, [...rows.keys()], 0, rows.length));
}

describe('a reading that is cut', () => {
  test('is as it was when it is put together, however often it was written over', () => {
    const rows: Row[] = [
      [1, AT, 7],
      ...longMoment(AT),
      [3, AT, 'short'],
      [4, AT, textOf(4, 1)],
      [300, AT, ''],
      [301, AT, 'x'.repeat(31)],
    ];
    const { packed, parts } = cutReading(packedOf(rows));
    expect([packed.length, parts.length, parts[0]![0]]).toEqual([0, TEXTS, BASE]);
    const [[, base], ...texts] = parts as [Part, ...Part[]];
    expect(base.length).toBeLessThan(2_000);
    const late = packedOf([[5, AT, 5], [6, AT, textOf(6, 2)]]); // oxfmt-ignore
    const whole = wholeReading(late, base, Buffer.concat(texts.map(([, entry]) => entry)));
    const expected = new Map<number, StoredValue>(rows.map(([field, , value]) => [field, value]));
    expected.set(5, 5).set(6, textOf(6, 2));
    for (const [field, value] of expected) expect(valueOf(whole, field)).toBe(value);
    expect(wholeReading(packed, base, null).length).toBeLessThan(100);
  });

  test('is left whole while it is short, and has a base where it is long without its texts', () => {
    const short = packedOf([[1, AT, textOf(1)], [2, AT, textOf(2)]]); // oxfmt-ignore
    expect(cutIfLong(short)).toEqual({ packed: short, parts: [] });
    expect(cutReading(short).parts.map(([part]) => part)).toEqual([1, 2]);
    const numbers = packedOf(Array.from({ length: 1_000 }, (_, field): Row => [field, AT, Math.PI * field]));
    expect(cutIfLong(numbers)).toEqual({ packed: Buffer.alloc(0), parts: [[BASE, numbers]] });
  });
});

describe.each(DIALECTS)('a moment of a megabyte in the %s store', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  beforeEach(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore();
  });
  afterEach(async () => {
    await store.stop();
    await database.close();
  });

  /** What was committed goes to its place. */
  const settle = (): Promise<void> => store.compact([], 0);
  const one = async (select: string): Promise<number> => {
    const [row] = await database.sql<{ n: number | string | null }>(`SELECT (SELECT ${select}) AS n`);
    return Number(row!.n);
  };
  const bytes = dialect === 'sqlite' ? 'length' : 'octet_length';
  const longestRow = async (): Promise<number> =>
    Math.max(...(await Promise.all(['reading', 'reading_part'].map((table) => one(`max(${bytes}(packed)) FROM ${table}`))))); // oxfmt-ignore
  const parts = (where = ''): Promise<number> => one(`count(*) FROM reading_part ${where}`);
  const valuesAt = async (...fieldKeys: number[]): Promise<(StoredValue | undefined)[]> => {
    const timestamps = fieldKeys.map(() => AT);
    return (await store.valuesAt([{ deviceKey: 1, fieldKeys, timestamps }]))[0]!.values;
  };

  /** Notes the bytes of each row that is written from now on. */
  async function noteWritten(): Promise<void> {
    await database.sql('CREATE TABLE written (bytes integer)');
    const note = 'INSERT INTO written VALUES';
    if (dialect === 'postgres')
      await database.sql(`CREATE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN ${note} (octet_length(NEW.packed)); RETURN NEW; END $$`);
    for (const table of ['reading', 'reading_part'])
      for (const event of ['INSERT', 'UPDATE']) {
        const what =
          dialect === 'postgres'
            ? 'FOR EACH ROW EXECUTE FUNCTION note_written()'
            : `BEGIN ${note} (length(NEW.packed)); END`;
        await database.sql(`CREATE TRIGGER note_${table}_${event} AFTER ${event} ON ${table} ${what}`);
      }
  }
  const written = (): Promise<number> => one('coalesce(sum(bytes), 0) FROM written');

  test('is written again in parts of what a value is in, not as a whole', async () => {
    await store.append(receipt(1, longMoment(AT)));
    await settle();
    expect(await parts('WHERE part >= 0')).toBe(TEXTS);
    expect(await longestRow()).toBeLessThan(MAX_ROW_BYTES);
    await noteWritten();
    for (let value = 1; value <= 20; value += 1) {
      await store.append(receipt(1, [[1, AT, value]]));
      await settle();
    }
    // Each of them was a megabyte.
    expect(await written()).toBeGreaterThan(20 * 100);
    expect(await written()).toBeLessThan(20 * 10_000);
    for (let again = 1; again <= 20; again += 1) {
      await store.append(receipt(1, [[2, AT, textOf(2, again)]]));
      await settle();
    }
    expect(await written()).toBeLessThan(40 * 20_000);
    expect(await valuesAt(1, 2, 3, TEXTS + 1, TEXTS + 2)).toEqual([20, textOf(2, 20), textOf(3), textOf(TEXTS + 1), undefined]); // oxfmt-ignore
    expect(await everything(store, 1, TEXTS)).toEqual([[AT, textOf(TEXTS)]]);
    expect(await longestRow()).toBeLessThan(MAX_ROW_BYTES);
  });

  test('of very many numbers is not written again as a whole either, and holds what came last', async () => {
    const random = seededRandom(1);
    const model = new Map<number, number>();
    const rows = (count: number): Row[] =>
      Array.from({ length: count }, (): Row => {
        const field = 2 + Math.floor(random() * 500);
        model.set(field, random());
        return [field, AT, model.get(field)!];
      });
    const check = async (): Promise<void> => expect(await valuesAt(...model.keys())).toEqual([...model.values()]);
    await store.append(receipt(1, rows(2_000)));
    await settle();
    await store.append(receipt(1, rows(1)));
    await settle();
    expect(await parts(`WHERE part = ${BASE}`)).toBe(1);
    await noteWritten();
    for (let time = 0; time < 20; time += 1) {
      await store.append(receipt(1, rows(3)));
      await settle();
    }
    expect(await written()).toBeLessThan(20 * 2_000);
    await check();
    for (let time = 0; time < 20; time += 1) {
      await store.append(receipt(1, rows(60)));
      if (time % 3 > 0) await settle();
      await check();
    }
    const gone = [...model.keys()].slice(0, 250);
    for (const field of gone) model.delete(field);
    expect(await store.remove({ deviceKey: 1, fieldKeys: gone, from: 0, to: 2 * AT, dryRun: false })).toBe(250);
    expect(await valuesAt(...gone)).toEqual(gone.map(() => undefined));
    await store.append(receipt(1, rows(60)));
    await check();
    await store.compact([1], Infinity);
    expect([await parts(), await one('count(*) FROM reading')]).toEqual([0, 0]);
    await check();
  });

  test('that was stored before there were parts is read whole, and cut when it is written to', async () => {
    const packed = packedOf(longMoment(AT));
    const seq = dialect === 'sqlite' ? 'seq, ' : '';
    await database.sql(
      `INSERT INTO reading (device_key, ts, stored_at, ${seq}packed) VALUES (1, ${AT}, ${Date.now()}, ${seq && '1, '}?)`,
      [packed],
    );
    expect(await everything(store, 1, 3)).toEqual([[AT, textOf(3)]]);
    expect(await longestRow()).toBe(packed.length);
    await store.append(receipt(1, [[1, AT, 1], [3, AT, 'short']])); // oxfmt-ignore
    await settle();
    expect(await longestRow()).toBeLessThan(MAX_ROW_BYTES);
    expect(await valuesAt(1, 2, 3)).toEqual([1, textOf(2), 'short']);
  });

  test('has of each field what came last, whether that stands in a part or not', async () => {
    const steps: StoredValue[] = ['a', textOf(2, 1), 'b', textOf(2, 2), textOf(2, 3), '', textOf(2, 4)];
    await store.append(receipt(1, longMoment(AT)));
    for (const value of steps) {
      await store.append(receipt(1, [[2, AT, value]]));
      expect(await valuesAt(2, 3)).toEqual([value, textOf(3)]);
      await settle();
      expect(await valuesAt(2, 3)).toEqual([value, textOf(3)]);
    }
    // All of it once more, in one commit with what came before and behind it.
    await Promise.all(
      [[[2, AT, 'before']], longMoment(AT, 5), [[3, AT, 'behind']]].map((rows) => store.append(receipt(1, rows as Row[]))),
    ); // oxfmt-ignore
    expect(await valuesAt(2, 3, 4)).toEqual([textOf(2, 5), 'behind', textOf(4, 5)]);
    await settle();
    expect(await valuesAt(2, 3, 4)).toEqual([textOf(2, 5), 'behind', textOf(4, 5)]);
  });

  test('that is written as a whole again and again stays as long as its values', async () => {
    for (let again = 0; again < 20; again += 1)
      await store.append(receipt(1, [...longMoment(AT, again), [1, AT, again]]));
    await settle();
    expect([await parts(), await one('count(*) FROM reading')]).toEqual([TEXTS, 1]);
    expect(await longestRow()).toBeLessThan(MAX_ROW_BYTES);
    expect(await valuesAt(1, 2, 241)).toEqual([19, textOf(2, 19), textOf(241, 19)]);
  });

  test('loses the parts of what is taken out of it, and all of them with the last', async () => {
    await store.append(receipt(1, [...longMoment(AT), [1, AT, 1]]));
    await store.append(receipt(1, [[1, 2 * AT, 2]]));
    await settle();
    const remove = (fieldKeys: number[]): Promise<number> =>
      store.remove({ deviceKey: 1, fieldKeys, from: 0, to: AT + 1, dryRun: false });
    expect(await remove([3, 4, 1])).toBe(3);
    expect(await parts()).toBe(TEXTS - 2);
    expect(await parts('WHERE part IN (3, 4)')).toBe(0);
    expect(await valuesAt(1, 2, 3, 4, 5)).toEqual([undefined, textOf(2), undefined, undefined, textOf(5)]);
    const gone = { deviceKey: 1, fieldKeys: [5, 6], timestamps: [AT, AT], values: [textOf(5), 'another'] };
    expect(await store.rewrite({ batches: [], removals: [gone], shared: [], calls: [] })).toBe(1);
    expect(await valuesAt(5, 6)).toEqual([undefined, textOf(6)]);
    expect(await parts()).toBe(TEXTS - 3);
    expect(await remove(longMoment(AT).map(([field]) => field))).toBe(TEXTS - 3);
    expect([await parts(), await one('count(*) FROM reading')]).toEqual([0, 1]);
  });

  test('goes into chunks with its parts, and is dropped with them', async () => {
    for (const at of [AT, 2 * AT]) await store.append(receipt(1, longMoment(at)));
    await store.append(receipt(2, longMoment(AT)));
    await store.append(receipt(2, longMoment(2 * AT)));
    await settle();
    expect(await parts()).toBe(4 * TEXTS);
    await store.compact([1], Infinity);
    expect([await parts(), await parts('WHERE device_key = 1')]).toEqual([2 * TEXTS, 0]);
    expect(await everything(store, 1, 9)).toEqual([AT, 2 * AT].map((at) => [at, textOf(9)]));
    await store.dropOlderThan([2], 2 * AT);
    expect(await parts()).toBe(TEXTS);
    expect(await everything(store, 2, 9)).toEqual([[2 * AT, textOf(9)]]);
  });

  test('is told to those who follow with all its fields when one of them is written', async () => {
    await store.append(receipt(1, longMoment(AT)));
    const after = await store.position();
    await store.append(receipt(1, [[1, AT, 7]]));
    for (let time = 0; time < 2; time += 1) {
      const page = await store.recorded({
        after,
        upTo: await store.position(),
        place: null,
        deviceKeys: [1],
        limit: 10,
      });
      const [{ fieldKeys, values }, ...others] = page.readings as [(typeof page.readings)[number]];
      expect(others).toEqual([]);
      const found = new Map(fieldKeys.map((field, at) => [field, values[at]]));
      expect([found.size, found.get(1), found.get(9)]).toEqual([TEXTS + 1, 7, textOf(9)]);
      await settle();
    }
  });

  test('that another device hands over field by field is cut, too', async () => {
    const some = longMoment(AT).slice(0, 20);
    await store.append(receipt(1, some));
    await store.append(receipt(2, [[2, AT, 'own']]));
    const rows = some.map(([field]) => `(1, ${field}, 2)`).join(', ');
    await database.sql(`INSERT INTO purge (device_key, field_key, into_device_key) VALUES ${rows}`);
    await store.settlePurges();
    expect(await longestRow()).toBeLessThan(MAX_ROW_BYTES);
    expect(await everything(store, 2, 2)).toEqual([[AT, 'own']]);
    for (const field of [3, 10, 21]) expect(await everything(store, 2, field)).toEqual([[AT, textOf(field)]]);
  });
});
