import { expect, test } from 'vitest';
import type { FieldMeaning, FieldType } from '../api/schema-types.ts';
import { barsShow, proposedMeaning } from './meanings.ts';

test('a meaning is proposed by type, unit and name', () => {
  for (const [identifier, unit, type, meaning] of [
    ['wind_dir', '°', 'FLOAT', 'ANGLE'],
    ['winddirection', null, 'FLOAT', 'ANGLE'],
    ['windDir', 'deg', 'INTEGER', 'ANGLE'],
    ['heading', null, 'FLOAT', 'ANGLE'],
    ['latitude', '°', 'FLOAT', 'GAUGE'],
    ['tilt', 'deg', 'FLOAT', 'GAUGE'],
    ['temperature', '°C', 'FLOAT', 'GAUGE'],
    ['energy', 'kWh', 'FLOAT', 'COUNTER'],
    ['volume', 'm³', 'FLOAT', 'COUNTER'],
    ['pulses', null, 'INTEGER', 'COUNTER'],
    ['rain_total', 'mm', 'FLOAT', 'COUNTER'],
    ['total_power', 'W', 'FLOAT', 'GAUGE'],
    ['total_flow', 'm³/h', 'FLOAT', 'GAUGE'],
    ['battery', 'Wh', 'FLOAT', 'GAUGE'],
    ['net_energy', 'kWh', 'FLOAT', 'TOTAL'],
    ['open', null, 'BOOLEAN', 'STATE'],
    ['total', null, 'STRING', 'GAUGE'],
  ] as [string, string | null, FieldType, FieldMeaning][])
    expect([identifier, unit, proposedMeaning({ identifier, name: null, unit, type })]).toEqual([
      identifier,
      unit,
      meaning,
    ]);
});

test('bars of counters show their increase, of a mixture the means', () => {
  expect(barsShow(['COUNTER', 'TOTAL'])).toBe('DIFFERENCE');
  expect(barsShow(['COUNTER', 'GAUGE'])).toBe('AVG');
  expect(barsShow([])).toBe('AVG');
});
