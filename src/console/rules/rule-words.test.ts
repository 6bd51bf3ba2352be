import { expect, test } from 'vitest';
import type { ConditionParts } from './rules.graphql.ts';
import { levelWords } from './rule-words.ts';

const EMPTY: ConditionParts = {
  field: null,
  operator: null,
  value: null,
  otherField: null,
  configurationField: null,
  clear: null,
  window: null,
  absentSeconds: null,
  circle: null,
  polygon: null,
  from: null,
  to: null,
};
const FIELDS = [
  { identifier: 'temperature', name: 'Temperature', unit: '°C' },
  { identifier: 'door', name: null, unit: null },
];

const words = (conditions: Partial<ConditionParts>[], forSeconds = 0, isAll = false): string => {
  const whole = conditions.map((one) => ({ ...EMPTY, ...one }));
  return levelWords({ severity: 'WARNING', all: isAll ? whole : null, any: isAll ? null : whole }, forSeconds, FIELDS);
};

test('a level reads as somebody would say it', () => {
  const warm: Partial<ConditionParts> = { field: 'temperature', operator: 'GT', value: -15 };
  expect(words([warm, { absentSeconds: 3_000 }], 600)).toBe(
    'Temperature above -15 °C for 10 min or nothing heard for 1 h',
  );
  expect(
    words(
      [
        { ...warm, clear: -18 },
        { field: 'door', operator: 'EQ', value: true },
      ],
      0,
      true,
    ),
  ).toBe('Temperature above -15 °C (until -18 °C) and door is true');
  const mean = { aggregation: 'AVG', seconds: 900 } as const;
  expect(words([{ ...warm, value: null, configurationField: 'limit', window: mean }])).toBe(
    'mean of Temperature in 15 min above the device’s limit',
  );
  expect(words([{ field: 'temperature', operator: 'LTE', otherField: 'door' }])).toBe('Temperature at or below door');
  expect(words([{ field: 'temperature', absentSeconds: 60 }])).toBe('no Temperature for 1 min');
  expect(words([{ field: 'door', from: false, to: true }])).toBe('door turns from false to true');
  expect(words([{ field: 'door', from: false }])).toBe('door turns from false to anything else');
  expect(words([{ field: 'door', operator: 'OUTSIDE', circle: { center: '(52.5,13.4)', meters: 500 } }])).toBe(
    'door outside 500 m around (52.5,13.4)',
  );
});
