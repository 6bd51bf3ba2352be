import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { type ChartData, TimeChart, type UnderCursor } from '../../chart/time-chart.tsx';
import { BUCKETS_SHOW } from '../../fields/meanings.ts';
import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import { numberText, valueText } from '../../parts/value-text.ts';
import { chartDataOf, MAX_STATES } from '../../chart/field-chart-data.ts';
import { StatisticsLine } from './statistics-line.tsx';
import { type FieldCardProps, POINTS, useFieldValues } from './use-field-values.ts';

/** The chart of one field with the statistics of the range, fetched when it becomes visible. */
export function FieldChart(props: FieldCardProps) {
  const { field, range } = props;
  const { identifier, name, unit, type } = field;
  const host = useRef<HTMLElement>(null);
  const { answer, pushed, from, to, statistics, error } = useFieldValues(props, host);
  const [at, setAt] = useState<UnderCursor>(null);
  const drawn = useMemo(
    () => answer && chartDataOf(type, answer, pushed, { from, to, points: POINTS }),
    [answer, pushed, type, from, to],
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
          <span class="chip">
            {isShare
              ? `share of true per ${drawn.resolution}`
              : `${BUCKETS_SHOW[field.meaning]} of ${drawn.resolution}`}
          </span>
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
        <div class="charted">
          <TimeChart
            label={`${title} over time`}
            data={drawn?.data ?? NOTHING}
            from={from}
            to={to}
            shape={(type === 'FLOAT' || type === 'INTEGER') && field.meaning !== 'STATE' ? 'line' : 'step'}
            names={drawn?.names}
            text={write}
            color={COLORS[type]}
            syncKey="device"
            onCursor={onCursor}
            onZoom={range.zoom}
            onBack={range.back}
          />
          {drawn?.data.timestamps.length === 0 && <p class="hint no-values">No value in this range.</p>}
        </div>
      )}
      <StatisticsLine statistics={statistics} unit={unit} type={type} meaning={field.meaning} />
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

interface ReadoutProps {
  data: ChartData;
  names: readonly string[] | undefined;
  at: UnderCursor;
  text: (value: number) => string;
}

/** The value under the cursor, or the last one. */
function Readout({ data: { timestamps, values, band }, names, at, text }: ReadoutProps) {
  const index = at ?? values.findLastIndex((value) => value !== null);
  const [value, timestamp] = [values[index], timestamps[index]];
  if (value == null || timestamp === undefined) return <span class="readout muted">–</span>;
  const [low, high] = [band?.low[index], band?.high[index]];
  return (
    <span class="readout">
      {at !== null && <small>{dateTimeText(timestamp * 1_000)}</small>}
      <strong>{names?.[value] ?? text(value)}</strong>
      {low != null && high != null && (
        <small>
          {numberText(low)} … {numberText(high)}
        </small>
      )}
    </span>
  );
}
