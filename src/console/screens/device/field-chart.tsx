import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useQuery } from '../../api/use-query.ts';
import { type ChartData, TimeChart, type UnderCursor } from '../../chart/time-chart.tsx';
import { Note } from '../../parts/note.tsx';
import { numberText, valueText } from '../../parts/value-text.ts';
import { zoneName } from '../../time/local-time.ts';
import { type DeviceField, FieldHistory, WordHistory } from './device.graphql.ts';
import { chartDataOf, type FieldAnswer, MAX_STATES } from './history-data.ts';
import type { LiveValues, Pushed } from './live-values.ts';
import { type RangeStatistics, StatisticsLine } from './statistics-line.tsx';
import { useInSight } from './use-in-sight.ts';
import type { ShownRange } from './use-range.ts';

/** So many values are drawn one by one; more of them as buckets. */
const POINTS = 1_500;
const BUCKETS = 400;
/** Pushed values kept beside what was fetched; then all is fetched anew. */
const MAX_PUSHED = 3_000;

interface FieldChartProps {
  deviceId: string;
  field: DeviceField;
  range: ShownRange;
  live: LiveValues;
}

/** The chart of one field, with what was summed up of the range. It is fetched when it comes into sight. */
export function FieldChart({ deviceId, field, range, live }: FieldChartProps) {
  const { identifier, name, unit, type } = field;
  const host = useRef<HTMLElement>(null);
  const { isNow, hasBeen } = useInSight(host);
  const { fetched, shown } = range;
  const { answer, statistics, error } = useAnswer(deviceId, field, fetched, hasBeen);
  const pushed = usePushed(live, identifier, answer, range);
  const [at, setAt] = useState<UnderCursor>(null);
  // What nobody sees stays as it was until somebody scrolls there.
  const view = useRef({ answer, pushed, from: shown.from, to: shown.to });
  if (isNow || view.current.answer === null) view.current = { answer, pushed, from: shown.from, to: shown.to };
  const { from, to } = view.current;
  const drawn = useMemo(
    () =>
      view.current.answer && chartDataOf(type, view.current.answer, view.current.pushed, { from, to, points: POINTS }),
    [view.current.answer, view.current.pushed, type, from, to],
  );
  const onCursor = useCallback((next: UnderCursor) => setAt(next), []);
  const isShare = type === 'BOOLEAN' && drawn?.resolution != null;
  const write = (value: number): string => (isShare ? `${numberText(value * 100)}%` : numberText(value));
  const title = name ?? identifier;
  return (
    <section ref={host} class="card field-chart" id={`field-${identifier}`} aria-label={title}>
      <header class="card-head">
        <h2 title={field.description ?? identifier}>{title}</h2>
        {drawn?.resolution != null && (
          <span class="chip">{isShare ? `share of true per ${drawn.resolution}` : `means of ${drawn.resolution}`}</span>
        )}
        <span class="grow" />
        {drawn !== null && (
          <Readout
            data={drawn.data}
            names={drawn.names}
            at={at}
            text={(value) => (isShare ? write(value) : valueText(value, unit))}
          />
        )}
      </header>
      {error !== null && <Note kind="error">{error}</Note>}
      {answer !== null && drawn === null ? (
        <Note>More than {MAX_STATES} different texts in this range: see the latest value above, or export them.</Note>
      ) : (
        <TimeChart
          label={`${title} over time`}
          data={drawn?.data ?? NOTHING}
          from={from}
          to={to}
          shape={drawn?.shape ?? 'line'}
          names={drawn?.names}
          text={write}
          color={COLORS[type]}
          syncKey="device"
          onCursor={onCursor}
          onZoom={range.zoom}
          onBack={range.back}
        />
      )}
      <StatisticsLine statistics={statistics} unit={unit} type={type} />
    </section>
  );
}

const NOTHING: ChartData = { timestamps: [], values: [] };
const COLORS = {
  FLOAT: 'series-1',
  INTEGER: 'series-1',
  BOOLEAN: 'series-5',
  STRING: 'series-3',
  GEOLOCATION: 'series-6',
} as const;

interface Answered {
  answer: FieldAnswer | null;
  statistics: RangeStatistics | null;
  error: string | null;
}

function useAnswer(
  id: string,
  { identifier, type }: DeviceField,
  { from, to }: { from: number; to: number },
  isWanted: boolean,
): Answered {
  const isNumber = type === 'FLOAT' || type === 'INTEGER';
  const asked = {
    id,
    fields: [identifier],
    from: new Date(from).toISOString(),
    // Up to now and what comes with this very moment.
    to: new Date(to + 1).toISOString(),
    points: POINTS,
    timeZone: zoneName(),
  };
  const ofNumbers = useQuery(FieldHistory, isNumber && isWanted ? { ...asked, buckets: BUCKETS } : null);
  const ofWords = useQuery(WordHistory, isNumber || !isWanted ? null : asked);
  const found = ofNumbers.data?.device;
  const { data, error } = isNumber ? ofNumbers : ofWords;
  const answer = useMemo((): FieldAnswer | null => {
    const raw = data?.device.raw[0];
    const statistics = data?.device.statistics[0];
    if (raw === undefined || statistics === undefined) return null;
    const [low, high, mean] = [found?.low[0], found?.high[0], found?.mean[0]];
    const buckets =
      low === undefined || high === undefined || mean === undefined
        ? null
        : {
            timestamps: low.timestamps,
            low: low.values,
            mean: mean.values,
            high: high.values,
            resolution: mean.resolution,
          };
    return { raw, buckets, count: statistics.count };
  }, [data]);
  return { answer, statistics: data?.device.statistics[0] ?? null, error: error?.message ?? null };
}

/** What was pushed since the answer; what only the server can work in makes the page fetch anew. */
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
    // What the new answer surely holds need not be kept; the rest is there twice and does no harm.
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

interface ReadoutProps {
  data: ChartData;
  names: readonly string[] | undefined;
  at: UnderCursor;
  text: (value: number) => string;
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** The value under the cursor, or the last one. */
function Readout({ data: { timestamps, values, band }, names, at, text }: ReadoutProps) {
  const index = at ?? values.findLastIndex((value) => value !== null);
  const [value, timestamp] = [values[index], timestamps[index]];
  if (value == null || timestamp === undefined) return <span class="readout muted">–</span>;
  const [low, high] = [band?.low[index], band?.high[index]];
  return (
    <span class="readout">
      {at !== null && <small>{MOMENT.format(timestamp * 1_000)}</small>}
      <strong>{names?.[value] ?? text(value)}</strong>
      {low != null && high != null && (
        <small>
          {numberText(low)} … {numberText(high)}
        </small>
      )}
    </span>
  );
}
