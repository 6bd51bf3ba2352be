import type { Aggregation, ConditionInput, ConditionOperator, RuleInput, Severity } from '../../api/schema-types.ts';
import type { ConditionParts, RuleField, RuleParts } from '../../rules/rules.graphql.ts';
import { secondsOf, type TypedDuration, typedDuration } from '../../time/duration.ts';
import { zoneName } from '../../time/local-time.ts';

/** What a condition watches for. */
export type ConditionKind = 'threshold' | 'absent' | 'place' | 'changed';

/** A condition as it is typed. */
export interface ConditionDraft {
  kind: ConditionKind;
  /** Identifier of a field; the empty text: the device as a whole. */
  field: string;
  operator: ConditionOperator;
  against: 'value' | 'otherField' | 'configurationField';
  value: string;
  otherField: string;
  configurationField: string;
  clear: string;
  aggregation: Aggregation | '';
  window: TypedDuration;
  /** Silence until it is told of, the rule's own duration included. */
  silence: TypedDuration;
  area: 'circle' | 'polygon';
  center: string;
  meters: string;
  /** A corner a line. */
  polygon: string;
  from: string;
  to: string;
}

/** A level as it is typed. */
export interface LevelDraft {
  severity: Severity;
  isAll: boolean;
  conditions: readonly ConditionDraft[];
}

/** A rule as it is typed. */
export interface RuleDraft {
  name: string;
  enabled: boolean;
  tags: string;
  levels: readonly LevelDraft[];
  lasts: TypedDuration;
  clears: TypedDuration;
  latched: boolean;
  /** null: at any time. */
  schedule: { days: readonly string[]; from: string; to: string; timeZone: string } | null;
  /** null: not known to who looks, and left as it is. */
  notify: NotifyDraft | null;
}

/** Whom a rule tells, as it is typed. */
export interface NotifyDraft {
  /** Ids; none: every endpoint of the workspace that wants alerts. */
  endpoints: readonly string[];
  isGrouped: boolean;
  reminds: TypedDuration;
  most: string;
}

/** Weekdays as the API names them. */
export const DAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;

type Typed = Pick<RuleField, 'identifier' | 'type' | 'role'>;

const HOUR = 3_600;

/** A condition that says nothing yet, of the kind that fits the field. */
export function newCondition(field: Typed | undefined, kind: ConditionKind = kindFor(field)): ConditionDraft {
  return {
    kind,
    field: kind === 'absent' ? '' : (field?.identifier ?? ''),
    operator: kind === 'place' ? 'OUTSIDE' : operatorsOf(field, '')[0]!,
    against: 'value',
    value: field?.type === 'BOOLEAN' ? 'true' : '',
    otherField: '',
    configurationField: '',
    clear: '',
    aggregation: '',
    window: typedDuration(null),
    silence: typedDuration(HOUR),
    area: 'circle',
    center: '',
    meters: '',
    polygon: '',
    from: '',
    to: field?.type === 'BOOLEAN' && kind === 'changed' ? 'true' : '',
  };
}

function kindFor(field: Typed | undefined): ConditionKind {
  return field === undefined ? 'absent' : field.type === 'GEOLOCATION' ? 'place' : 'threshold';
}

/** The operators of a threshold of the field; of a window that makes numbers of it, those of numbers. */
export function operatorsOf(
  field: Pick<Typed, 'type'> | undefined,
  aggregation: Aggregation | '',
): ConditionOperator[] {
  const type = field?.type ?? 'FLOAT';
  const isNumber = type === 'FLOAT' || type === 'INTEGER' || !['', 'FIRST', 'LAST'].includes(aggregation);
  if (isNumber) return ['GT', 'GTE', 'LT', 'LTE', 'EQ', 'NEQ'];
  return type === 'STRING' ? ['EQ', 'NEQ', 'CONTAINS'] : ['EQ', 'NEQ'];
}

/** A new rule, about the main field of the product. */
export function newRule(fields: readonly Typed[]): RuleDraft {
  const field = fields.find(({ role }) => role === 'PRIMARY') ?? fields[0];
  return {
    name: '',
    enabled: true,
    tags: '',
    levels: [{ severity: 'WARNING', isAll: false, conditions: [newCondition(field)] }],
    lasts: typedDuration(0),
    clears: typedDuration(0),
    latched: false,
    schedule: null,
    notify: { endpoints: [], isGrouped: false, reminds: typedDuration(null, 'h'), most: '' },
  };
}

/** A saved rule as it would be typed; `endpoints`: ids of those that it names, null where they are not known. */
export function draftOf(rule: RuleParts, endpoints: readonly string[] | null): RuleDraft {
  const { schedule, forSeconds } = rule;
  const [from = '', to = ''] = schedule?.hours?.split('-') ?? [];
  return {
    name: rule.name,
    enabled: rule.enabled,
    tags: rule.tags.join(', '),
    levels: rule.levels.map(({ severity, all, any }) => ({
      severity,
      isAll: all !== null,
      conditions: (all ?? any ?? []).map((condition) => conditionDraft(condition, forSeconds)),
    })),
    lasts: typedDuration(forSeconds),
    clears: typedDuration(rule.clearForSeconds),
    latched: rule.latched,
    schedule: schedule && { days: schedule.days ?? DAYS, from, to, timeZone: schedule.timeZone },
    notify: endpoints && {
      endpoints,
      isGrouped: rule.notify.groupBy !== null,
      reminds: typedDuration(rule.notify.remindEverySeconds, 'h'),
      most: String(rule.notify.maxReminders ?? ''),
    },
  };
}

function conditionDraft(condition: ConditionParts, forSeconds: number): ConditionDraft {
  const { absentSeconds, circle, polygon, operator, window } = condition;
  const kind =
    absentSeconds !== null
      ? 'absent'
      : circle !== null || polygon !== null
        ? 'place'
        : operator === null
          ? 'changed'
          : 'threshold';
  const text = (value: string | number | boolean | null): string => (value === null ? '' : String(value));
  return {
    kind,
    field: condition.field ?? '',
    operator: operator ?? 'GT',
    against:
      condition.otherField !== null
        ? 'otherField'
        : condition.configurationField !== null
          ? 'configurationField'
          : 'value',
    value: text(condition.value),
    otherField: condition.otherField ?? '',
    configurationField: condition.configurationField ?? '',
    clear: text(condition.clear),
    aggregation: window?.aggregation ?? '',
    window: typedDuration(window?.seconds ?? null),
    silence: typedDuration(absentSeconds === null ? HOUR : absentSeconds + forSeconds),
    area: polygon === null ? 'circle' : 'polygon',
    center: circle?.center ?? '',
    meters: text(circle?.meters ?? null),
    polygon: polygon?.join('\n') ?? '',
    from: text(condition.from),
    to: text(condition.to),
  };
}

/** The rule that the API is told; null: something that it needs is not typed yet. */
export function inputOf(draft: RuleDraft, fields: readonly Typed[]): RuleInput | null {
  const forSeconds = secondsOf(draft.lasts) ?? 0;
  let isWhole = true;
  const levels = draft.levels.map(({ severity, isAll, conditions }) => {
    const told = conditions.map((condition) => {
      const field = fields.find(({ identifier }) => identifier === condition.field);
      isWhole &&= isTyped(condition);
      return conditionInput(condition, field, forSeconds);
    });
    return isAll ? { severity, all: told } : { severity, any: told };
  });
  if (!isWhole) return null;
  const { schedule, notify } = draft;
  return {
    name: draft.name,
    enabled: draft.enabled,
    tags: draft.tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    levels,
    forSeconds,
    clearForSeconds: secondsOf(draft.clears) ?? 0,
    latched: draft.latched,
    schedule: schedule && {
      days: schedule.days.length === DAYS.length ? null : schedule.days,
      hours: schedule.from === '' && schedule.to === '' ? null : `${schedule.from}-${schedule.to}`,
      timeZone: schedule.timeZone,
    },
    ...(notify === null ? {} : { notify: notifyInput(notify) }),
  };
}

function notifyInput({ endpoints, isGrouped, reminds, most }: NotifyDraft): NonNullable<RuleInput['notify']> {
  const remindEverySeconds = secondsOf(reminds);
  return {
    endpointIds: endpoints.length === 0 ? null : endpoints,
    groupBy: isGrouped ? 'PRODUCT' : null,
    remindEverySeconds,
    maxReminders: remindEverySeconds === null || most === '' ? null : Number(most),
  };
}

/** A schedule to begin with: working days, in the zone of the product or of this browser. */
export function newSchedule(timeZone: string | null): NonNullable<RuleDraft['schedule']> {
  return { days: DAYS.slice(0, 5), from: '08:00', to: '18:00', timeZone: timeZone ?? zoneName() };
}

function isTyped(condition: ConditionDraft): boolean {
  const { kind, field, against, value, otherField, configurationField, area, center, meters, polygon } = condition;
  if (kind === 'absent') return secondsOf(condition.silence) !== null;
  if (field === '') return false;
  if (kind === 'changed') return condition.from !== '' || condition.to !== '';
  if (kind === 'place') return area === 'circle' ? center !== '' && meters !== '' : polygon.trim() !== '';
  if (condition.aggregation !== '' && secondsOf(condition.window) === null) return false;
  return { value, otherField, configurationField }[against] !== '';
}

function conditionInput(condition: ConditionDraft, field: Typed | undefined, forSeconds: number): ConditionInput {
  const { kind, operator, against } = condition;
  const named = condition.field === '' ? {} : { field: condition.field };
  if (kind === 'absent') return { ...named, absentSeconds: (secondsOf(condition.silence) ?? 0) - forSeconds };
  if (kind === 'place')
    return {
      ...named,
      operator,
      ...(condition.area === 'circle'
        ? { circle: { center: condition.center.trim(), meters: Number(condition.meters) } }
        : { polygon: condition.polygon.split('\n').filter((line) => line.trim() !== '') }),
    };
  const valueOf = (text: string): string | number | boolean => typedValue(text, field, condition.aggregation);
  if (kind === 'changed')
    return {
      ...named,
      ...(condition.from === '' ? {} : { from: valueOf(condition.from) }),
      ...(condition.to === '' ? {} : { to: valueOf(condition.to) }),
    };
  return {
    ...named,
    operator,
    [against]: against === 'value' ? valueOf(condition.value) : condition[against],
    ...(condition.clear === '' || !hasClear(condition) ? {} : { clear: valueOf(condition.clear) }),
    ...(condition.aggregation === ''
      ? {}
      : { window: { aggregation: condition.aggregation, seconds: secondsOf(condition.window) ?? 0 } }),
  };
}

/** True where a second operand can end it (hysteresis). */
export function hasClear({ kind, operator }: ConditionDraft): boolean {
  return kind === 'threshold' && ['GT', 'GTE', 'LT', 'LTE'].includes(operator);
}

function typedValue(text: string, field: Typed | undefined, aggregation: Aggregation | ''): string | number | boolean {
  const isNumber = operatorsOf(field, aggregation).includes('GT');
  if (isNumber) return Number.isNaN(Number(text)) ? text : Number(text);
  return field?.type === 'BOOLEAN' ? text === 'true' : text;
}
