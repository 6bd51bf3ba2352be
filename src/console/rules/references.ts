import type { Aggregation, ConditionOperator, Severity } from '../api/schema-types.ts';
import { levelLine, type Reference } from '../chart/references.ts';
import { SEVERITY_COLORS } from './severity.tsx';

type Value = number | string | boolean | null;

interface WatchedCondition {
  field: string | null;
  operator: ConditionOperator | null;
  value: Value;
  configurationField: string | null;
  clear: Value;
  window: { aggregation: Aggregation } | null;
}

/** The parts of a rule that its lines in a chart come from. */
interface WatchedRule {
  name: string;
  enabled: boolean;
  tags: readonly string[];
  levels: readonly {
    severity: Severity;
    all: readonly WatchedCondition[] | null;
    any: readonly WatchedCondition[] | null;
  }[];
}

interface Watched {
  tags: readonly string[];
  configuration: readonly { field: { identifier: string }; value: unknown }[];
}

/** Aggregations of a window that are in the unit of the field itself. */
const IN_UNIT: ReadonlySet<Aggregation> = new Set(['AVG', 'TIME_AVG', 'MIN', 'MAX', 'FIRST', 'LAST']);

/** Lines at what the rules that watch a device compare a field with, and where that ends again; `range` in ms. */
export function ruleLines(
  rules: readonly WatchedRule[],
  field: string,
  device: Watched,
  range: { from: number; to: number },
): Reference[] {
  const watching = rules.filter(({ enabled, tags }) => enabled && tags.every((tag) => device.tags.includes(tag)));
  return watching.flatMap(({ name, levels }) =>
    levels.flatMap(({ severity, all, any }) => {
      const [color, lines] = [SEVERITY_COLORS[severity], [] as Reference[]];
      for (const condition of all ?? any ?? []) {
        const { operator, value, configurationField, clear, window } = condition;
        if (condition.field !== field || operator === null) continue;
        if (window !== null && !IN_UNIT.has(window.aggregation)) continue;
        const own = device.configuration.find((one) => one.field.identifier === configurationField)?.value;
        const [limit, end] = [configurationField === null ? value : own, clear];
        if (typeof limit === 'number')
          lines.push({ ...levelLine(limit, range, { color, weight: 'strong' }), name, reach: 'near' });
        if (typeof end === 'number') lines.push({ ...levelLine(end, range, { color, weight: 'weak' }), reach: 'near' });
      }
      return lines;
    }),
  );
}
