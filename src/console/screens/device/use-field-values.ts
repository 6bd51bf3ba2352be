import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DataOf } from '../../api/operation.ts';
import { useQuery } from '../../api/use-query.ts';
import { shownAs } from '../../fields/meanings.ts';
import { zoneName } from '../../time/local-time.ts';
import { type DeviceField, FieldHistory, MeanHistory, WordHistory } from './device.graphql.ts';
import type { FieldAnswer } from '../../chart/field-chart-data.ts';
import type { LiveValues, Pushed } from './live-values.ts';
import type { RangeStatistics } from './statistics-line.tsx';
import { useInSight } from './use-in-sight.ts';
import type { ShownRange } from './use-range.ts';

/** Maximum values drawn one by one; more are drawn as buckets. */
export const POINTS = 1_500;
const BUCKETS = 400;
/** Maximum pushed values kept; then all are fetched again. */
const MAX_PUSHED = 3_000;

/** Values to draw of one field: fetched and pushed ones, in the shown range (milliseconds). */
interface FieldValues {
  answer: FieldAnswer | null;
  pushed: readonly Pushed[];
  from: number;
  to: number;
  statistics: RangeStatistics | null;
  error: string | null;
}

/** The properties of a card on the device page. */
export interface FieldCardProps {
  deviceId: string;
  field: DeviceField;
  range: ShownRange;
  live: LiveValues;
}

/** The values of a field for the card at `host`: fetched when it becomes visible, and paused while it is not. */
export function useFieldValues(
  { deviceId, field, range, live }: FieldCardProps,
  host: RefObject<HTMLElement | null>,
): FieldValues {
  const { isNow, hasBeen } = useInSight(host);
  const { answer, statistics, error } = useAnswer(deviceId, field, range.fetched, hasBeen);
  const pushed = usePushed(live, field.identifier, answer, range);
  const { from, to } = range.shown;
  const seen = useRef({ answer, pushed, from, to });
  if (isNow || seen.current.answer === null) seen.current = { answer, pushed, from, to };
  return { ...seen.current, statistics, error };
}

interface Answered {
  answer: FieldAnswer | null;
  statistics: RangeStatistics | null;
  error: string | null;
}

function useAnswer(
  id: string,
  { identifier, type, meaning }: DeviceField,
  { from, to }: { from: number; to: number },
  isWanted: boolean,
): Answered {
  const isNumber = type === 'FLOAT' || type === 'INTEGER';
  const asked = {
    id,
    fields: [identifier],
    from: new Date(from).toISOString(),
    // Include values of this very millisecond.
    to: new Date(to + 1).toISOString(),
    points: POINTS,
    timeZone: zoneName(),
  };
  const isGauge = meaning === 'GAUGE';
  const inBuckets = { ...asked, buckets: BUCKETS };
  const aggregation = shownAs(meaning);
  const ofGauge = useQuery(FieldHistory, isNumber && isGauge && isWanted ? inBuckets : null);
  const ofMeans = useQuery(MeanHistory, isNumber && !isGauge && isWanted ? { ...inBuckets, aggregation } : null);
  const ofWords = useQuery(WordHistory, isNumber || !isWanted ? null : asked);
  const { data, error } = !isNumber ? ofWords : isGauge ? ofGauge : ofMeans;
  const [gauge, means] = [ofGauge.data?.device, ofMeans.data?.device];
  const answer = useMemo((): FieldAnswer | null => {
    const raw = data?.device.raw[0];
    const statistics = data?.device.statistics[0];
    if (raw === undefined || statistics === undefined) return null;
    return { raw, buckets: bandOf(gauge) ?? lineOf(means), count: statistics.count };
  }, [data]);
  return { answer, statistics: data?.device.statistics[0] ?? null, error: error?.message ?? null };
}

type Buckets = FieldAnswer['buckets'];

/** Means in a band from the smallest to the largest. */
function bandOf(found: DataOf<typeof FieldHistory>['device'] | undefined): Buckets {
  const [low, high, mean] = [found?.low[0], found?.high[0], found?.mean[0]];
  if (low === undefined || high === undefined || mean === undefined) return null;
  const band = { low: low.values, high: high.values };
  return { timestamps: low.timestamps, mean: mean.values, band, resolution: mean.resolution };
}

function lineOf(found: DataOf<typeof MeanHistory>['device'] | undefined): Buckets {
  const mean = found?.mean[0];
  if (mean === undefined) return null;
  return { timestamps: mean.timestamps, mean: mean.values, band: null, resolution: mean.resolution };
}

/** Values pushed since the answer; buckets are fetched again instead. */
function usePushed(
  live: LiveValues,
  identifier: string,
  answer: FieldAnswer | null,
  range: ShownRange,
): readonly Pushed[] {
  const [pushed, setPushed] = useState<readonly Pushed[]>([]);
  const latest = useRef(range);
  latest.current = range;
  useEffect(() => {
    // Drop values that the answer surely holds; duplicates do no harm.
    const last = answer?.raw.timestamps.at(-1) ?? 0;
    setPushed((before) => before.filter(({ timestamp }) => timestamp >= last));
  }, [answer]);
  useEffect(
    () =>
      live.listen(identifier, (points) => {
        latest.current.stale();
        setPushed((before) => (before.length > MAX_PUSHED ? [] : [...before, ...points]));
      }),
    [live, identifier],
  );
  return pushed;
}
