import { Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ApiError } from '../../api/api-error.ts';
import type { ColorName } from '../../chart/chart-colors.ts';
import type { Columns } from '../../chart/merge-values.ts';
import type { OtherSeries } from '../../chart/other-series.ts';
import { showGaps } from '../../chart/show-gaps.ts';
import { shownText } from '../../fields/display.ts';
import { Note } from '../../parts/note.tsx';
import { EARLIER, type Comparison, earlierBy } from './comparison.ts';
import type { DeviceField } from './device.graphql.ts';
import type { CardSurroundings } from './field-card.ts';
import { FieldChart } from './field-chart.tsx';
import { FieldTrack } from './field-track.tsx';
import { FoldedField } from './folded-field.tsx';
import type { OpenFields } from './open-fields.ts';
import { type FieldValues, isNumeric, POINTS, useCharts, useOtherDevices } from './use-charts.ts';
import type { Latest } from './use-latest.ts';

/** Colours of lines beside the chart's own. */
const PAIR_COLOR: ColorName = 'series-2';
const EARLIER_COLOR: ColorName = 'series-6';
const DEVICE_COLORS: readonly ColorName[] = ['series-3', 'series-4', 'series-5', 'series-2'];
const NONE: readonly OtherSeries[] = [];

interface ChartRunProps {
  deviceId: string;
  /** The fields to show; as many of them open as one request may have. */
  run: readonly DeviceField[];
  open: OpenFields;
  comparison: Comparison;
  latest: ReadonlyMap<string, Latest>;
  around: CardSurroundings;
}

/** Cards of fields one below the other, whose open charts are fetched by one request. */
export function ChartRun({ deviceId, run, open, comparison, latest, around }: ChartRunProps) {
  const { fields, range } = around;
  const { pairs, deviceIds, earlier } = comparison;
  const shown = run.filter(({ identifier }) => open.has(identifier));
  const paired = shown.flatMap(({ identifier }) => {
    const other = pairs.get(identifier);
    return fields.filter((field) => field.identifier === other && isNumeric(field));
  });
  const asked = [...new Set([...shown, ...paired])];
  const by = earlierBy(earlier, range.fetched);
  const { values, error } = useCharts({ deviceId, fields: asked, range: range.fetched, earlierBy: by });
  const devices = useOtherDevices(deviceIds, shown, range.fetched);
  const others = useMemo(
    () => new Map(shown.map((field) => [field.identifier, othersOf(field, { fields, values, comparison, devices })])),
    [values, devices.lines, JSON.stringify([earlier, deviceIds, [...pairs]]), shown.length],
  );
  return (
    <>
      <Mistake error={error ?? devices.error} />
      {run.map((field) => {
        const { identifier, type } = field;
        if (!open.has(identifier))
          return (
            <FoldedField
              key={identifier}
              field={field}
              latest={latest.get(identifier) ?? null}
              live={around.live}
              onOpen={() => open.set(identifier, true)}
            />
          );
        const Card = type === 'GEOLOCATION' ? FieldTrack : FieldChart;
        return (
          <Fragment key={identifier}>
            <Card
              {...around}
              field={field}
              values={values.get(identifier) ?? null}
              others={others.get(identifier) ?? NONE}
              paired={pairs.get(identifier) ?? null}
              onPair={(other) => comparison.setPair(identifier, other)}
              onFold={() => open.set(identifier, false)}
            />
          </Fragment>
        );
      })}
    </>
  );
}

/** A failure; that the server is away is told once for the page. */
function Mistake({ error }: { error: ApiError | null }) {
  if (error === null || error.code === 'OFFLINE' || error.code === 'UNAVAILABLE') return null;
  return <Note kind="error">{error.message}</Note>;
}

interface Found {
  fields: readonly DeviceField[];
  values: ReadonlyMap<string, FieldValues>;
  comparison: Comparison;
  devices: ReturnType<typeof useOtherDevices>;
}

/** The lines that a field is compared with. */
function othersOf(field: DeviceField, { fields, values, comparison, devices }: Found): readonly OtherSeries[] {
  const { identifier } = field;
  if (!isNumeric(field)) return NONE;
  const lines: OtherSeries[] = [];
  const other = fields.find((one) => one.identifier === comparison.pairs.get(identifier));
  const pair = other && values.get(other.identifier);
  if (other !== undefined && pair !== undefined)
    lines.push({
      ...numbersOf(pair),
      name: other.name ?? other.identifier,
      color: PAIR_COLOR,
      axis: other.unit === field.unit ? 'same' : 'own',
      text: (value) => shownText(value, other),
    });
  const earlier = values.get(identifier)?.earlier ?? null;
  if (comparison.earlier !== null && earlier !== null)
    lines.push({
      ...showGaps(earlier),
      name: EARLIER[comparison.earlier],
      color: EARLIER_COLOR,
      axis: 'same',
      isDashed: true,
    });
  for (const [at, line] of (devices.lines.get(identifier) ?? []).entries())
    lines.push({
      ...showGaps(line),
      name: line.name,
      color: DEVICE_COLORS[at % DEVICE_COLORS.length] ?? PAIR_COLOR,
      axis: 'same',
    });
  return lines;
}

/** The values of a field, or their means where there are too many. */
function numbersOf({ answer: { raw, buckets, count } }: FieldValues): Columns<number> {
  if (buckets !== null && count > POINTS) return { timestamps: buckets.timestamps, values: buckets.mean.map(numberOf) };
  return showGaps({ timestamps: raw.timestamps, values: raw.values.map(numberOf) });
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
