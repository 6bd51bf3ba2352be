import type { ConditionOperator } from '../api/schema-types.ts';
import { valueText } from '../parts/value-text.ts';
import { durationText } from '../time/duration.ts';
import type { ConditionParts, RuleField, RuleParts } from './rules.graphql.ts';

type Named = Pick<RuleField, 'identifier' | 'name' | 'unit'>;
type Level = RuleParts['levels'][number];

/** Operators as a sentence has them. */
export const OPERATOR_WORDS: Record<ConditionOperator, string> = {
  GT: 'above',
  GTE: 'at or above',
  LT: 'below',
  LTE: 'at or below',
  EQ: 'is',
  NEQ: 'is not',
  CONTAINS: 'contains',
  INSIDE: 'inside',
  OUTSIDE: 'outside',
};

/** Names of windows' aggregations, before the name of a field. */
export const AGGREGATION_WORDS = {
  AVG: 'mean',
  TIME_AVG: 'mean by time',
  MIN: 'smallest',
  MAX: 'largest',
  SUM: 'sum',
  DIFFERENCE: 'increase',
  COUNT: 'number of values',
  FIRST: 'first',
  LAST: 'last',
} as const;

/** A level in plain words, such as `temperature above −15 °C for 10 min or nothing heard for 1 h`. */
export function levelWords({ all, any }: Level, forSeconds: number, fields: readonly Named[]): string {
  const conditions = all ?? any ?? [];
  const texts = conditions.map((condition) => conditionWords(condition, forSeconds, fields));
  return texts.join(all === null ? ' or ' : ' and ');
}

/** A condition in plain words; silence is told as long as it lasts until it is told of. */
function conditionWords(condition: ConditionParts, forSeconds: number, fields: readonly Named[]): string {
  const { absentSeconds } = condition;
  const field = fields.find(({ identifier }) => identifier === condition.field);
  const name = field?.name ?? condition.field ?? '';
  if (absentSeconds !== null) {
    const long = durationText(absentSeconds + forSeconds);
    return condition.field === null ? `nothing heard for ${long}` : `no ${name} for ${long}`;
  }
  const what =
    condition.circle !== null || condition.polygon !== null
      ? placeWords(condition, name)
      : condition.operator === null
        ? turnWords(condition, name)
        : thresholdWords(condition, name, { unit: field?.unit ?? null, fields });
  return forSeconds > 0 ? `${what} for ${durationText(forSeconds)}` : what;
}

function placeWords({ operator, circle, polygon }: ConditionParts, name: string): string {
  const area =
    circle === null
      ? `an area of ${polygon?.length ?? 0} corners`
      : `${circle.meters.toLocaleString()} m around ${circle.center}`;
  return `${name} ${OPERATOR_WORDS[operator ?? 'OUTSIDE']} ${area}`;
}

function turnWords({ from, to }: ConditionParts, name: string): string {
  const start = from === null ? '' : ` from ${valueText(from)}`;
  return to === null ? `${name} turns${start} to anything else` : `${name} turns${start} to ${valueText(to)}`;
}

interface Around {
  unit: string | null;
  fields: readonly Named[];
}

function thresholdWords(condition: ConditionParts, name: string, { unit, fields }: Around): string {
  const { operator, value, otherField, configurationField, clear, window } = condition;
  const shown = window?.aggregation === 'COUNT' ? null : unit;
  const operand =
    value !== null
      ? valueText(value, shown)
      : otherField !== null
        ? (fields.find(({ identifier }) => identifier === otherField)?.name ?? otherField)
        : `the device’s ${configurationField ?? ''}`;
  const subject =
    window === null ? name : `${AGGREGATION_WORDS[window.aggregation]} of ${name} in ${durationText(window.seconds)}`;
  const until = clear === null ? '' : ` (until ${valueText(clear, shown)})`;
  return `${subject} ${OPERATOR_WORDS[operator!]} ${operand}${until}`;
}
