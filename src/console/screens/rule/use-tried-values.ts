import { useMemo } from 'preact/hooks';
import type { Severity } from '../../api/schema-types.ts';
import { useQuery } from '../../api/use-query.ts';
import { chartDataOf, type FieldAnswer } from '../../chart/field-chart-data.ts';
import { levelLine, type Reference } from '../../chart/references.ts';
import { type RuleField, TriedNumbers, TriedValues } from '../../rules/rules.graphql.ts';
import { SEVERITY_COLORS } from '../../rules/severity.tsx';
import { zoneName } from '../../time/local-time.ts';
import { type ConditionDraft, hasClear, type RuleDraft } from './rule-draft.ts';

const POINTS = 1_500;
const BUCKETS = 400;

interface Range {
  /** Milliseconds. */
  from: number;
  to: number;
}

interface TriedChart {
  /** null: not fetched yet, or nothing that can be drawn. */
  chart: ReturnType<typeof chartDataOf>;
  references: readonly Reference[];
  error: string | null;
}

/** The values of a field of a device in a range, with lines for what the rule compares them with. */
export function useTriedValues(
  deviceId: string | null,
  field: RuleField | null,
  draft: RuleDraft,
  { from, to }: Range,
): TriedChart {
  const thresholds = field === null ? [] : thresholdsOf(draft, field.identifier);
  const others = thresholds.flatMap(({ condition: { against, otherField } }) =>
    against === 'otherField' && otherField !== '' ? [otherField] : [],
  );
  const isDrawn = deviceId !== null && field !== null && field.type !== 'GEOLOCATION';
  const asked = isDrawn
    ? {
        id: deviceId,
        fields: [...new Set([field.identifier, ...others])],
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        timeZone: zoneName(),
      }
    : null;
  const isNumber = field?.type === 'FLOAT' || field?.type === 'INTEGER';
  const values = useQuery(TriedValues, asked && { ...asked, points: POINTS });
  const isBanded = isNumber && field.meaning === 'GAUGE';
  const numbers = useQuery(
    TriedNumbers,
    asked && isBanded ? { ...asked, fields: [field.identifier], buckets: BUCKETS } : null,
  );
  const raw = values.data?.device.raw.find((series) => series.field.identifier === field?.identifier);
  const found = isBanded ? numbers.data?.device : undefined;
  const chart = useMemo(() => {
    if (field === null || raw === undefined) return null;
    return chartDataOf(field.type, answerOf(raw, found), [], { from, to, points: POINTS });
  }, [raw, found, field, from, to]);
  const device = values.data?.device;
  const key = JSON.stringify([thresholds, from, to]);
  const references = useMemo(
    () => (isNumber ? thresholds.flatMap((one) => linesOf(one, device ?? null, { from, to })) : []),
    [key, device, isNumber],
  );
  return { chart, references, error: (values.error ?? numbers.error)?.message ?? null };
}

type Raw = FieldAnswer['raw'];
type Found = NonNullable<(typeof TriedNumbers)['data']>['device'];

function answerOf(raw: Raw, found: Found | undefined): FieldAnswer {
  const [low, high, mean] = [found?.low[0], found?.high[0], found?.mean[0]];
  const count = found?.statistics[0]?.count ?? 0;
  if (low === undefined || high === undefined || mean === undefined) return { raw, buckets: null, count };
  const { timestamps } = low;
  const band = { low: low.values, high: high.values };
  return { raw, buckets: { timestamps, mean: mean.values, band, resolution: mean.resolution }, count };
}

interface Threshold {
  severity: Severity;
  condition: ConditionDraft;
}

function thresholdsOf({ levels }: RuleDraft, field: string): Threshold[] {
  return levels.flatMap(({ severity, conditions }) =>
    conditions
      .filter((condition) => condition.kind === 'threshold' && condition.field === field)
      .map((condition) => ({ severity, condition })),
  );
}

type Tried = NonNullable<(typeof TriedValues)['data']>['device'];

/** What the condition compares with, and where it ends again. */
function linesOf({ severity, condition }: Threshold, device: Tried | null, range: Range): Reference[] {
  const color = SEVERITY_COLORS[severity];
  const { against, value, otherField, configurationField, clear } = condition;
  const lines: Reference[] = [];
  const level = (at: unknown, weight: Reference['weight']): void => {
    const number = typeof at === 'number' ? at : typeof at === 'string' && at.trim() !== '' ? Number(at) : NaN;
    if (Number.isFinite(number)) lines.push(levelLine(number, range, { color, weight }));
  };
  if (against === 'value') level(value, 'strong');
  else if (against === 'configurationField')
    level(device?.configuration.find((one) => one.field.identifier === configurationField)?.value, 'strong');
  else {
    const other = device?.raw.find((series) => series.field.identifier === otherField);
    if (other !== undefined)
      lines.push({ timestamps: other.timestamps, values: other.values.map(numberOrGap), color, weight: 'strong' });
  }
  if (hasClear(condition)) level(clear, 'weak');
  return lines;
}

function numberOrGap(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
