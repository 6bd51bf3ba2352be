import { expect, test } from 'vitest';
import { QuietValues } from '../../../src/domain/alerts/quiet-values.ts';
import type { FieldType } from '../../../src/domain/entities/field.ts';
import type { DeviceInfo } from '../../../src/domain/ingest-cache/ingest-cache.ts';
import { RecordedEvent } from '../../../src/domain/live/recorded-event.ts';
import type { Condition, RuleDefinition, Threshold } from '../../../src/domain/rules/definition.ts';
import { fieldsOf } from '../../../src/domain/rules/definition.ts';
import { freshState, type Transition } from '../../../src/domain/rules/judge-state.ts';
import { RuleJudge } from '../../../src/domain/rules/rule-judge.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const TYPES: Record<number, FieldType> = { 1: 'FLOAT', 2: 'INTEGER', 3: 'BOOLEAN', 4: 'STRING' };
const OPERATORS: Threshold['operator'][] = ['GT', 'GTE', 'LT', 'LTE', 'EQ', 'NEQ'];
const CONFIGURATION = 9;

function randomRule(below: (count: number) => number): RuleDefinition {
  const condition = (): Condition => {
    const field = 1 + below(4);
    if (below(6) === 0) return { kind: 'absent', field: below(2) === 0 ? null : field, seconds: 1 + below(10) };
    if (below(8) === 0) return { kind: 'changed', field, from: null, to: null };
    const operand = [
      { value: below(5) },
      { value: below(5) },
      { field: 1 + below(3) },
      { configuration: CONFIGURATION },
    ];
    const clear = below(2) === 0 ? null : below(5);
    return {
      kind: 'threshold',
      field,
      operator: OPERATORS[below(OPERATORS.length)]!,
      operand: operand[below(4)]!,
      clear,
      window: null,
    };
  };
  const levels = (['WARNING', 'CRITICAL'] as const).slice(0, 1 + below(2)).map((severity) => ({
    severity,
    all: below(2) === 0,
    conditions: Array.from({ length: 1 + below(2) }, condition),
  }));
  const forSeconds = below(3) * 5;
  return { levels, forSeconds, clearForSeconds: below(2) * 5, latched: below(5) === 0, schedule: null };
}

/** The rules of a device, judged value by value, and what was told. */
function judgesOf(rules: readonly RuleDefinition[], configured: number) {
  const judges = rules.map((rule) => new RuleJudge(rule, freshState(rule), { [CONFIGURATION]: configured }));
  const told: Transition[][] = rules.map(() => []);
  const byField = new Map<number, RuleJudge[]>();
  for (const [at, rule] of rules.entries())
    for (const field of fieldsOf(rule)) byField.set(field, [...(byField.get(field) ?? []), judges[at]!]);
  const isOfSilence = ({ levels }: RuleDefinition): boolean =>
    levels.some(({ conditions }) => conditions.some(({ kind, field }) => kind === 'absent' && field === null));
  const ofSilence = judges.filter((_, at) => isOfSilence(rules[at]!));
  return {
    judges,
    told,
    byField,
    ofSilence,
    event({ receivedAt, fieldKeys, timestamps, values }: RecordedEvent): void {
      for (const judge of ofSilence) judge.heard(receivedAt);
      for (const [at, field] of fieldKeys.entries())
        for (const judge of byField.get(field) ?? [])
          judge.value({ field, measuredAt: timestamps[at]!, receivedAt, value: values[at]! });
    },
    gather(): void {
      for (const [at, judge] of judges.entries()) told[at]!.push(...judge.taken());
    },
  };
}

test('what changes no state is noted, and leaves the judges as if each value had been judged', () => {
  const fieldsByKey = new Map(Object.entries(TYPES).map(([key, type]) => [Number(key), { key: Number(key), type }]));
  const info = { product: { fieldsByKey } } as unknown as DeviceInfo;
  let [quietly, loudly] = [0, 0];
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = seededRandom(seed);
    const below = (count: number): number => Math.floor(random() * count);
    const rules = Array.from({ length: 1 + below(3) }, () => randomRule(below));
    const configured = below(5);
    const [each, some] = [judgesOf(rules, configured), judgesOf(rules, configured)];
    let quiet: QuietValues | null = null;
    let now = 1_000_000;
    for (let step = 0; step < 60; step += 1) {
      now += 1_000 * below(8);
      if (below(4) === 0) {
        quiet?.settle();
        quiet = null;
        for (const judge of [...each.judges, ...some.judges]) judge.clock(now);
      }
      const event = new RecordedEvent(
        { seq: '1', deviceKey: 1, timestamp: now, storedAt: now, fieldKeys: [], values: [] },
        { after: '0', between: null },
      );
      const measuredAt = now - 1_000 * below(4);
      for (let field = 1; field <= 4; field += 1) {
        if (below(2) === 0) continue;
        event.fieldKeys.push(field);
        event.timestamps.push(measuredAt);
        const value = field === 4 ? 'text' : field === 3 ? below(2) : below(4) + (field === 1 ? below(2) / 2 : 0);
        event.values.push(value);
      }
      each.event(event);
      quiet ??= new QuietValues(info, some);
      if (quiet.takes(event)) quietly += 1;
      else {
        loudly += 1;
        quiet.settle();
        quiet = null;
        some.event(event);
      }
      each.gather();
      some.gather();
      expect(some.told, `seed ${seed}`).toEqual(each.told);
      if (below(3) > 0) continue;
      quiet?.settle();
      expect(
        some.judges.map(({ state, dueAt }) => ({ state, dueAt })),
        `seed ${seed}`,
      ).toEqual(each.judges.map(({ state, dueAt }) => ({ state, dueAt })));
    }
  }
  expect(quietly).toBeGreaterThan(loudly / 5);
});
