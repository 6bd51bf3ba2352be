import { describe, expect, test, vi } from 'vitest';
import type { FieldType } from '../../src/domain/entities/field.ts';
import { readEntries, readUplinkEntries, shownOutput } from '../../src/domain/decoders/decoder-output.ts';
import { seededRandom } from '../support/seeded-random.ts';

const fieldsOf = (types: Record<string, FieldType> = {}) =>
  new Map(Object.entries(types).map(([identifier, type], at) => [identifier, { key: at + 1, identifier, type }]));
/** As the engine gives it. */
const outputOf = (returned: unknown) => {
  const output = JSON.stringify(returned);
  return { output, value: JSON.parse(output) as unknown };
};
const entriesOf = (output: unknown, types = {}) => readEntries(outputOf(output), fieldsOf(types));
const uplinkOf = (output: unknown, types = {}, fromUplink = false) =>
  readUplinkEntries(outputOf(output), fieldsOf(types), fromUplink);
const flat = (output: unknown, types = {}) =>
  Object.fromEntries(uplinkOf(output, types).entries.map(({ entry }) => Object.values(entry as object)));
const shown = (read: Pick<ReturnType<typeof readEntries>, 'entries'>) => read.entries.map((entry) => entry.shown);

describe('what a webhook decoder returned', () => {
  test.each([null, [], [null, null], { $inlet: 'undefined' }])('%j is nothing to store', (output) => {
    expect(entriesOf(output)).toEqual({ entries: [], error: null, answer: null });
  });

  test('a single object counts as one entry', () => {
    expect(shown(entriesOf({ device: 'a', field: 'F', value: 1 }))).toEqual([{ device: 'a', field: 'F', value: 1 }]);
  });

  test('what the sender is answered may stand beside the entries', () => {
    const entry = { device: 'a', field: 'F', value: 1 };
    const read = entriesOf({ entries: [entry], answer: { status: 201, body: [1, { $inlet: 'NaN' }] } });
    expect(shown(read)).toEqual([entry]);
    expect(read.answer).toEqual({ status: 201, contentType: 'application/json', body: '[1,"NaN"]' });
    expect(entriesOf({ answer: { body: 'ok', contentType: { $inlet: 'undefined' } } })).toEqual({
      entries: [],
      error: null,
      answer: { status: 200, contentType: 'text/plain; charset=utf-8', body: 'ok' },
    });
    for (const answer of [null, { $inlet: 'undefined' }])
      expect(entriesOf({ entries: [entry], answer }).answer).toBeNull();
    // An entry that has such a key is an entry.
    expect(entriesOf({ ...entry, answer: {} })).toMatchObject({ entries: [{ index: 0 }], answer: null });
  });

  test.each([
    [{ status: 199 }, 'status'],
    [{ status: 503 }, 'status'],
    [{ status: '200' }, 'status'],
    [{ status: 204, body: 'x' }, 'none goes with status 204'],
    [{ contentType: 'text/html\r\nX: y' }, 'contentType'],
    [{ contentType: 5 }, 'contentType'],
    [{ body: 'ü'.repeat(8_193) }, '16384 bytes'],
    [{ headers: {} }, '"headers" is no part'],
    ['ok', 'must be an object'],
    [[], 'must be an object'],
  ])('the answer %j is BAD_OUTPUT that says why', (answer, why) => {
    const { error } = entriesOf({ entries: [], answer });
    expect(error).toMatchObject({ kind: 'BAD_OUTPUT', message: expect.stringContaining(why) });
  });

  test('skipped elements keep the positions of the others', () => {
    const { entries } = entriesOf([null, { field: 'A' }, { $inlet: 'undefined' }, 7]);
    expect(entries.map(({ index, shown: element }) => [index, element])).toEqual([
      [1, { field: 'A' }],
      [3, 7],
    ]);
  });

  test.each([3, 'text', true, { $inlet: 'function' }, { $inlet: 'bigint:5' }])('%j is BAD_OUTPUT', (output) => {
    expect(entriesOf(output).error).toMatchObject({ kind: 'BAD_OUTPUT' });
  });

  test('10,000 entries pass and one more does not', () => {
    const list = Array.from({ length: 10_001 }, () => ({ field: 'F' }));
    expect(entriesOf(list.slice(1)).entries).toHaveLength(10_000);
    expect(entriesOf(list).error).toMatchObject({ kind: 'BAD_OUTPUT', message: expect.stringContaining('10000') });
  });

  test('values that JSON cannot say are checked as themselves and shown as text', () => {
    const output = ['NaN', 'Infinity', '-Infinity', 'symbol', 'function', 'cyclic', 'bigint:12', 'undefined'];
    const { entries } = entriesOf(output.map((name) => ({ field: 'F', value: { $inlet: name } })));
    const values = entries.map(({ entry }) => (entry as { value: unknown }).value);
    expect(values.slice(0, 3)).toEqual([Number.NaN, Infinity, -Infinity]);
    expect(values.slice(3).map((value) => typeof value)).toEqual([
      'symbol',
      'function',
      'object',
      'bigint',
      'undefined',
    ]);
    expect((entries[6]!.shown as { value: unknown }).value).toBe('12n');
    expect((entries[0]!.shown as { value: unknown }).value).toBe('NaN');
  });

  test('a forged marker with a million digits costs nothing', async () => {
    const forged = [{ field: 'F', value: { $inlet: `bigint:${'9'.repeat(1_000_000)}` } }];
    const read = vi.spyOn(globalThis, 'BigInt');
    entriesOf(forged);
    expect(Math.max(0, ...read.mock.calls.map(([text]) => String(text).length))).toBeLessThan(10_000);
    read.mockRestore();
  });

  test('an object that only has a key $inlet among others is no marker', () => {
    expect(shownOutput({ $inlet: 'NaN', more: 1 })).toEqual({ $inlet: 'NaN', more: 1 });
    expect(shownOutput([{ deep: [{ $inlet: 'NaN' }] }])).toEqual([{ deep: ['NaN'] }]);
  });
});

describe("what a native network's decoder returned", () => {
  test("decodeUplink's data becomes one entry for each key", () => {
    expect(shown(uplinkOf({ data: { T: 21.5, H: 0, note: null }, warnings: ['low'] }))).toEqual([
      { field: 'T', value: 21.5 },
      { field: 'H', value: 0 },
    ]);
  });

  test('a plain object is taken as it is, also with a key called data', () => {
    expect(shown(uplinkOf({ T: 1, data: 5 }))).toEqual([
      { field: 'T', value: 1 },
      { field: 'data', value: 5 },
    ]);
  });

  test('entries without a device, one or many, stay entries', () => {
    expect(shown(uplinkOf([{ field: 'T', value: 1, timestamp: 5 }]))).toEqual([{ field: 'T', value: 1, timestamp: 5 }]);
    expect(shown(uplinkOf({ field: 'T', value: 1 }))).toEqual([{ field: 'T', value: 1 }]);
    expect(shown(uplinkOf({ data: [{ field: 'T', value: 1 }] }))).toEqual([{ field: 'T', value: 1 }]);
  });

  test('errors are a failure with their texts', () => {
    expect(uplinkOf({ errors: ['unknown FPort', 'too short'] }).error).toMatchObject({
      kind: 'THREW',
      message: 'unknown FPort; too short',
    });
    expect(uplinkOf({ data: {}, errors: [], warnings: [] })).toEqual({ entries: [], error: null });
  });

  test('a key data of its own beside others makes no wrapper; of decodeUplink it is the result', () => {
    expect(flat({ T: 1, data: { raw: 'x' } })).toEqual({ T: 1, data_raw: 'x' });
    const read = uplinkOf({ data: { T: 1 }, model: 'x' }, {}, true);
    expect(shown(read)).toEqual([
      { field: 'T', value: 1 },
      { field: 'model', value: 'x' },
    ]);
    expect(uplinkOf({ data: { T: 1 }, errors: ['no'] }).error).toMatchObject({ kind: 'THREW', message: 'no' });
    expect(uplinkOf({ data: {}, errors: 'bad port' }).error).toMatchObject({ kind: 'THREW', message: 'bad port' });
    expect(shown(uplinkOf({ errors: 3 }))).toEqual([{ field: 'errors', value: 3 }]);
  });

  test('nested objects and lists are flattened, names are made identifiers', () => {
    const decoded = {
      gps: { fix: true, speed: { kmh: 3 } },
      temperature: [20, 21.5],
      'pm2.5': 7,
      'battery voltage': 3.6,
      'Füllstand (%)': 40,
      nothing: null,
      empty: {},
      none: [],
      deep: [[1], { a: 2 }],
    };
    expect(flat({ data: decoded })).toEqual({
      gps_fix: true,
      gps_speed_kmh: 3,
      temperature_0: 20,
      temperature_1: 21.5,
      pm2_5: 7,
      battery_voltage: 3.6,
      Fullstand: 40,
      deep_0_0: 1,
      deep_1_a: 2,
    });
    const long = `${'x'.repeat(80)}.y`;
    expect(Object.keys(flat({ [long]: 1 }))).toEqual(['x'.repeat(64)]);
  });

  test('a name is what normalizing all of its path leaves of it, whatever characters stand in it', () => {
    const whole = (path: string): string => {
      const plain = path.normalize('NFKD').replace(/\p{M}/gu, '');
      const joined = plain.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+|(?<!_)_+$/g, '');
      return joined === '' ? path : joined.slice(0, 64);
    };
    const characters = Array.from('aZ_-. é\u0301\ufdfa⑴㎏ü😀𝐀\ud800ﬁＡ＿\u0344');
    const random = seededRandom(5);
    const keyOf = (length: number): string =>
      Array.from({ length }, () => characters[Math.floor(random() * characters.length)]).join('');
    for (let i = 0; i < 2000; i += 1) {
      const [outer, inner] = [`a ${keyOf(Math.floor(random() * 40))}`, keyOf(1 + Math.floor(random() * 30))];
      expect(shown(uplinkOf({ [outer]: { [inner]: 1 } }))).toEqual([{ field: whole(`${outer}_${inner}`), value: 1 }]);
    }
  });

  test.each([
    ['in one list', { ['\ufdfa'.repeat(256)]: Array.from({ length: 10_001 }, () => 1) }],
    ['in many lists', { ['\ufdfa'.repeat(250)]: Array.from({ length: 9_990 }, () => ({ '\ufdfa': [1] })) }],
    ['in keys', Object.fromEntries(Array.from({ length: 9_990 }, (_, i) => [`${'\ufdfa'.repeat(33)}${i}`, 1]))],
    ['in places', { ['\ufdfa'.repeat(250)]: Array.from({ length: 9_990 }, () => ({ lat: 1, lon: 2 })) }],
  ])('letters that normalizing makes eighteen times as long cost little: %s', async (_where, decoded) => {
    const normalized = vi.spyOn(String.prototype, 'normalize');
    uplinkOf(decoded, { P: 'GEOLOCATION' });
    const characters = normalized.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
    normalized.mockRestore();
    expect(characters).toBeLessThan(1_000_000);
  });

  test('reading ends at the limit, however many parts `data` has', async () => {
    const part = { T: Array.from({ length: 10_001 }, () => 'x') };
    const returned = { data: Array.from({ length: 45 }, () => part), x: 1 };
    expect(uplinkOf(returned, {}, true).error).toMatchObject({ message: expect.stringContaining(' 10001 entries') });
    const parts = { data: Array.from({ length: 200_000 }, () => ({})), x: 1 };
    const fields = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`F${i}`, 'FLOAT' as const]));
    const looked = vi.spyOn(Map.prototype, 'get');
    uplinkOf(parts, fields, true);
    const looks = looked.mock.calls.length;
    looked.mockRestore();
    expect(looks).toBeLessThan(1_000_000);
  });

  test('{value, unit, displayName} counts as its value and says what the field is called', () => {
    const { entries } = uplinkOf({
      T: { value: 21.5, unit: '°C', displayName: 'Air temperature' },
      H: { value: null, unit: '%' },
      value: 4,
    });
    expect(entries.map(({ entry, hint }) => [entry, hint])).toEqual([
      [
        { field: 'T', value: 21.5 },
        { name: 'Air temperature', unit: '°C' },
      ],
      [{ field: 'value', value: 4 }, null],
    ]);
    const [one] = entriesOf([{ device: 'd', field: 'T', value: { value: 3, unit: 'V' } }]).entries;
    expect(one).toMatchObject({ entry: { device: 'd', field: 'T', value: 3 }, hint: { name: null, unit: 'V' } });
    expect(one!.shown).toEqual({ device: 'd', field: 'T', value: { value: 3, unit: 'V' } });
  });

  test("Cayenne's values are named by name and channel", () => {
    const cayenne = [
      { channel: 2, name: 'temperature', type: 103, value: 21.5 },
      { channel: 3, name: 'Relative Humidity', value: 40, unit: '%' },
      { channel: 4, name: 'gps', value: { latitude: 51.4, longitude: 6.9, altitude: 30 } },
    ];
    const expected = { temperature_2: 21.5, Relative_Humidity_3: 40, gps_4_altitude: 30 };
    expect(flat(cayenne)).toEqual({ ...expected, gps_4_latitude: 51.4, gps_4_longitude: 6.9 });
    expect(flat({ data: cayenne }, { gps_4: 'GEOLOCATION' })).toEqual({ ...expected, gps_4: '(51.4,6.9)' });
  });

  test('a pair of latitude and longitude fills a GEOLOCATION field', () => {
    const tracked = { gps: { latitude: 51.4, longitude: 6.9 }, T: 1 };
    expect(flat(tracked)).toEqual({ gps_latitude: 51.4, gps_longitude: 6.9, T: 1 });
    expect(flat(tracked, { gps: 'GEOLOCATION' })).toEqual({ gps: '(51.4,6.9)', T: 1 });
    expect(flat(tracked, { LOCATION: 'GEOLOCATION', gps_latitude: 'FLOAT' })).toEqual({
      LOCATION: '(51.4,6.9)',
      gps_latitude: 51.4,
      T: 1,
    });
    expect(flat({ latitude: '51.4', longitude: '6.9' }, { P: 'GEOLOCATION' })).toEqual({ P: '(51.4,6.9)' });
    expect(flat({ lat: 51.4, lng: 6.9 }, { P: 'GEOLOCATION', Q: 'GEOLOCATION' })).toEqual({ lat: 51.4, lng: 6.9 });
    expect(flat({ lat: 200, lng: 6.9 }, { P: 'GEOLOCATION' })).toEqual({ lat: 200, lng: 6.9 });
    expect(flat({ P: '(1,2)', lat: 51.4, lng: 6.9 }, { P: 'GEOLOCATION' })).toEqual({ P: '(1,2)' });
    const entry = { field: 'P', value: { latitude: 51.4, longitude: 6.9 } };
    expect(entriesOf([entry], { P: 'GEOLOCATION' }).entries[0]!.entry).toMatchObject({ value: '(51.4,6.9)' });
    expect(entriesOf([entry], { P: 'FLOAT' }).entries[0]!.entry).toEqual(entry);
  });

  test('a list [lat, lon] is a place where the field is one', () => {
    const tracked = { gps: [51.4, '6.9'], xy: [1, 2] };
    expect(flat(tracked, { gps: 'GEOLOCATION' })).toEqual({ gps: '(51.4,6.9)', xy_0: 1, xy_1: 2 });
    expect(flat(tracked, { gps: 'FLOAT' })).toEqual({ gps_0: 51.4, gps_1: '6.9', xy_0: 1, xy_1: 2 });
    expect(flat({ gps: [200, 6.9] }, { gps: 'GEOLOCATION' })).toEqual({ gps_0: 200, gps_1: 6.9 });
    const entry = { field: 'P', value: [51.4, 6.9] };
    expect(entriesOf([entry], { P: 'GEOLOCATION' }).entries[0]!.entry).toEqual({ field: 'P', value: '(51.4,6.9)' });
    for (const value of [[51.4], [51.4, 6.9, 30], [51.4, null], [200, 6.9]])
      expect(entriesOf([{ field: 'P', value }], { P: 'GEOLOCATION' }).entries[0]!.entry).toEqual({ field: 'P', value });
    expect(entriesOf([entry], { P: 'FLOAT' }).entries[0]!.entry).toEqual(entry);
  });

  test.each(['', ' ', null, { $inlet: 'NaN' }, { $inlet: 'Invalid Date' }])(
    'an empty time %j of a native decoder means none',
    (timestamp) => {
      const timed = [{ field: 'T', value: 1, timestamp }];
      expect((uplinkOf(timed).entries[0]!.entry as { timestamp: unknown }).timestamp).toBeUndefined();
      const kept = (entriesOf(timed).entries[0]!.entry as { timestamp: unknown }).timestamp;
      if (typeof timestamp === 'string' || timestamp === null) expect(kept).toBe(timestamp);
      else expect(Number(kept)).toBeNaN();
    },
  );

  test('more values than entries may be are BAD_OUTPUT, however deep they stand', () => {
    expect(uplinkOf({ a: { b: Array.from({ length: 10_001 }, () => 'x') } }).error).toMatchObject({
      kind: 'BAD_OUTPUT',
    });
    expect(uplinkOf({ a: { b: Array.from({ length: 10_000 }, () => 'x') } }).entries).toHaveLength(10_000);
  });

  test('nothing is nothing, and a number is BAD_OUTPUT', () => {
    expect(uplinkOf(null)).toEqual({ entries: [], error: null });
    expect(uplinkOf({ data: null })).toEqual({ entries: [], error: null });
    expect(uplinkOf(5).error).toMatchObject({ kind: 'BAD_OUTPUT' });
  });
});
