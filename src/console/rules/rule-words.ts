import type { ConditionOperator } from '../api/schema-types.ts';
import { valueText } from '../parts/value-text.ts';
import { durationText } from '../time/duration.ts';
import type { ConditionParts, RuleField, RuleParts } from './rules.graphql.ts';
import { t } from '../texts/texts.ts';
import { LOCALE } from '../texts/languages.ts';

type Named = Pick<RuleField, 'identifier' | 'name' | 'unit'>;
type Level = RuleParts['levels'][number];

/** Operators as a sentence has them. */
export const OPERATOR_WORDS: Record<ConditionOperator, string> = {
  GT: t('above'),
  GTE: t('at or above'),
  LT: t('below'),
  LTE: t('at or below'),
  EQ: t('is'),
  NEQ: t('is not'),
  CONTAINS: t('contains'),
  INSIDE: t('inside'),
  OUTSIDE: t('outside'),
};

/** Names of windows' aggregations, before the name of a field. */
export const AGGREGATION_WORDS = {
  AVG: t('mean'),
  TIME_AVG: t('mean by time'),
  MIN: t('smallest'),
  MAX: t('largest'),
  SUM: t('sum'),
  DIFFERENCE: t('increase'),
  COUNT: t('number of values'),
  FIRST: t('first'),
  LAST: t('last'),
} as const;

/** A level in plain words, such as `temperature above −15 °C for 10 min or nothing heard for 1 h`. */
export function levelWords({ all, any }: Level, forSeconds: number, fields: readonly Named[]): string {
  const conditions = all ?? any ?? [];
  const texts = conditions.map((condition) => conditionWords(condition, forSeconds, fields));
  return texts.join(all === null ? t(' or ') : t(' and '));
}

/** A condition in plain words; silence is told as long as it lasts until it is told of. */
function conditionWords(condition: ConditionParts, forSeconds: number, fields: readonly Named[]): string {
  const { absentSeconds } = condition;
  const field = fields.find(({ identifier }) => identifier === condition.field);
  const name = field?.name ?? condition.field ?? '';
  if (absentSeconds !== null) {
    const long = durationText(absentSeconds + forSeconds);
    return condition.field === null
      ? t('nothing heard for {long}', { long })
      : t('no {name} for {long}', { name, long });
  }
  const what =
    condition.circle !== null || condition.polygon !== null
      ? placeWords(condition, name)
      : condition.operator === null
        ? turnWords(condition, name)
        : thresholdWords(condition, name, { unit: field?.unit ?? null, fields });
  return forSeconds > 0 ? t('{what} for {durationText}', { what, durationText: durationText(forSeconds) }) : what;
}

function placeWords({ operator, circle, polygon }: ConditionParts, name: string): string {
  const area =
    circle === null
      ? t('an area of {text} corners', { text: polygon?.length ?? 0 })
      : t('{meters} m around {center}', { meters: circle.meters.toLocaleString(LOCALE), center: circle.center });
  return `${name} ${OPERATOR_WORDS[operator ?? 'OUTSIDE']} ${area}`;
}

function turnWords({ from, to }: ConditionParts, name: string): string {
  const start = from === null ? '' : t(' from {valueText}', { valueText: valueText(from) });
  return to === null
    ? t('{name} turns{start} to anything else', { name, start })
    : t('{name} turns{start} to {valueText}', { name, start, valueText: valueText(to) });
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
        : t('the device’s {text}', { text: configurationField ?? '' });
  const subject =
    window === null
      ? name
      : t('{AGGREGATION_WORDS} of {name} in {durationText}', {
          AGGREGATION_WORDS: AGGREGATION_WORDS[window.aggregation],
          name,
          durationText: durationText(window.seconds),
        });
  const until = clear === null ? '' : t(' (until {valueText})', { valueText: valueText(clear, shown) });
  return `${subject} ${OPERATOR_WORDS[operator!]} ${operand}${until}`;
}
