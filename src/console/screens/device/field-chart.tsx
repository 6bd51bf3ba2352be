import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { ColorName } from '../../chart/chart-colors.ts';
import { chartDataOf, MAX_STATES } from '../../chart/field-chart-data.ts';
import { levelLine, type Reference } from '../../chart/references.ts';
import { type ChartData, TimeChart, type UnderCursor } from '../../chart/time-chart.tsx';
import { Compared } from '../../fields/compared.tsx';
import { displayOf, shownColor, shownText, type WordColor } from '../../fields/display.ts';
import { BUCKETS_SHOW } from '../../fields/meanings.ts';
import { Note } from '../../parts/note.tsx';
import { numberText } from '../../parts/value-text.ts';
import type { DeviceField } from './device.graphql.ts';
import { FieldHead } from './field-head.tsx';
import { Readout } from './readout.tsx';
import { StatisticsLine } from './statistics-line.tsx';
import type { FieldCardProps } from './field-card.ts';
import { isNumeric, POINTS } from './use-charts.ts';
import { useDrawnValues } from './use-drawn-values.ts';
import { t } from '../../texts/texts.ts';

/** The chart of one field with the statistics of the range. */
export function FieldChart(props: FieldCardProps) {
  const { field, values, range, others } = props;
  const { identifier, name, type } = field;
  const host = useRef<HTMLElement>(null);
  const fetched = values?.answer ?? null;
  const { answer, pushed, from, to } = useDrawnValues({ ...props, identifier, answer: fetched }, host);
  const [at, setAt] = useState<UnderCursor>(null);
  const drawn = useMemo(
    () => answer && chartDataOf(type, answer, pushed, { from, to, points: POINTS }),
    [answer, pushed, type, from, to],
  );
  const onCursor = useCallback((next: UnderCursor) => setAt(next), []);
  const isShare = type === 'BOOLEAN' && drawn?.resolution != null;
  const names = useMemo(() => drawn?.names?.map((one) => shownText(valueNamed(one, field), field)), [drawn, field]);
  const stateColor = useMemo(() => stateColors(drawn?.names, field), [drawn, field]);
  const references = useMemo(
    () => (isNumeric(field) ? [...boundsOf(field, { from, to }), ...props.linesOf(identifier, { from, to })] : []),
    [field, from, to, props.linesOf],
  );
  const title = name ?? identifier;
  const data = drawn?.data ?? NOTHING;
  return (
    <section ref={host} class="card field-chart" id={`field-${identifier}`} aria-label={title}>
      <FieldHead {...props} chip={drawn?.resolution == null ? null : chipText(field, drawn.resolution, isShare)}>
        {drawn !== null && <Readout data={data} field={field} names={drawn.names} isShare={isShare} at={at} />}
      </FieldHead>
      {others.length > 0 && (
        <Compared others={others} time={data.timestamps[at ?? data.timestamps.length - 1] ?? null} field={field} />
      )}
      {answer !== null && drawn === null ? (
        <Note>More than {MAX_STATES} different texts in this range: see the latest value above, or export them.</Note>
      ) : (
        <div class="charted">
          <TimeChart
            label={`${title} over time`}
            data={data}
            from={from}
            to={to}
            shape={isNumeric(field) && field.meaning !== 'STATE' ? 'line' : 'step'}
            names={names}
            text={isShare ? percentText : numberText}
            color={COLORS[type]}
            stateColor={stateColor}
            references={references}
            others={others}
            marked={props.marked}
            keptFrom={props.keptFrom}
            syncKey="device"
            onCursor={onCursor}
            onZoom={range.zoom}
            onBack={range.back}
          />
          {drawn?.data.timestamps.length === 0 && <p class="hint no-values">No value in this range.</p>}
        </div>
      )}
      <StatisticsLine statistics={values?.statistics ?? null} field={field} />
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
const INKS: Record<WordColor, ColorName> = {
  green: 'good',
  amber: 'warn',
  red: 'bad',
  blue: 'series-1',
  grey: 'muted',
};

function percentText(share: number): string {
  return `${numberText(share * 100)}%`;
}

function chipText(field: DeviceField, resolution: string, isShare: boolean): string {
  if (!isShare) return t('{BUCKETS_SHOW} of {resolution}', { BUCKETS_SHOW: BUCKETS_SHOW[field.meaning], resolution });
  return t('share of {shownText} per {resolution}', { shownText: shownText(true, field), resolution });
}

/** The value that a name of a chart stands for. */
function valueNamed(name: string, { type }: DeviceField): string | boolean {
  return type === 'BOOLEAN' ? name === 'true' : name;
}

/** The colours of states, by their places at the axis; undefined: none has one. */
function stateColors(
  names: readonly string[] | undefined,
  field: DeviceField,
): ((value: number) => ColorName | null) | undefined {
  const inks = names?.map((name) => shownColor(valueNamed(name, field), field)) ?? [];
  if (inks.every((ink) => ink === null)) return undefined;
  return (value) => {
    const ink = inks[value] ?? null;
    return ink === null ? null : INKS[ink];
  };
}

/** Lines at the bounds beyond which the field's values are striking. */
function boundsOf(field: DeviceField, range: { from: number; to: number }): Reference[] {
  const { low, high } = displayOf(field);
  const line = (value: number | undefined, name: string): Reference[] =>
    value === undefined
      ? []
      : [{ ...levelLine(value, range, { color: 'warn', weight: 'weak' }), name, reach: 'near' as const }];
  return [...line(low, 'low'), ...line(high, 'high')];
}
