import { badInput } from '../../errors.ts';
import type { BackgroundTurns } from '../../scheduling/turns.ts';
import type { History, Series } from '../history/history.ts';
import { PointBudget } from '../history/point-budget.ts';
import type { DeviceInfo, FieldInfo } from '../ingest-cache/ingest-cache.ts';
import { type Aggregation, AGGREGATIONS, type GapFill } from '../ports/series-request.ts';

/** Aggregations of an export; MEANING: that which makes a row of each field's own values. */
export const EXPORT_AGGREGATIONS = ['MEANING', ...AGGREGATIONS] as const;

/** The buckets of an export, as of a chart (CONTRACT 7). */
export interface ChartedQuery {
  resolution: string | null;
  maxPoints: number | null;
  timeZone: string | null;
  /** Left out: as a chart's. */
  aggregation?: (typeof EXPORT_AGGREGATIONS)[number] | null;
  fill?: GapFill | null;
}

/** A device's series in buckets, which are bounded. Throws BAD_USER_INPUT for more points than a file of them holds. */
export async function chartedSeries(
  history: Pick<History, 'series'>,
  device: DeviceInfo,
  asked: { fields: readonly string[]; from: number; to: number },
  { aggregation, ...chart }: ChartedQuery,
  turns: BackgroundTurns,
): Promise<Series[]> {
  const budget = new PointBudget();
  const chosen = aggregation === 'MEANING' ? { aggregationOf: aggregationOfRows } : { aggregation };
  const series = await turns
    .piece(() => history.series(device, { ...asked, ...chart, ...chosen }, budget))
    .finally(() => turns.spend(budget.planMs));
  if (series.some(({ truncated }) => truncated))
    throw badInput(
      'resolution, maxPoints: more points than a file of buckets holds; ask for fewer, or for every value.',
    );
  return series;
}

/** Means of gauges and directions; the last value of whatever no mean can stand for. */
function aggregationOfRows({ type, meaning }: FieldInfo): Aggregation {
  const isNumber = type === 'FLOAT' || type === 'INTEGER';
  return isNumber && (meaning === 'GAUGE' || meaning === 'ANGLE') ? 'AVG' : 'LAST';
}
