import { shownText } from '../../fields/display.ts';
import { placeText, readPlace } from '../../map/place.ts';
import { dateTimeText } from '../../parts/time-text.ts';
import { numberText, roundedWithin } from '../../parts/value-text.ts';
import { countText } from '../../texts/count-text.ts';
import type { DeviceField } from './device.graphql.ts';

/** Statistics of a range of one field, from the API. */
export interface RangeStatistics {
  count: number;
  min: number | null;
  minAt: string | null;
  max: number | null;
  maxAt: string | null;
  average: number | null;
  first: { value: number | string | boolean } | null;
  last: { value: number | string | boolean } | null;
  /** Counters and totals only. */
  difference?: number | null;
}

interface StatisticsLineProps {
  statistics: RangeStatistics | null;
  field: DeviceField;
}

/** The statistics of the range below its chart. */
export function StatisticsLine({ statistics, field }: StatisticsLineProps) {
  const { type, meaning } = field;
  const isNumber = type === 'FLOAT' || type === 'INTEGER';
  if (statistics === null) return <dl class="statistics" data-numbers={isNumber} />;
  const { count, min, minAt, max, maxAt, average, first, last, difference = null } = statistics;
  // Directions have no extremes.
  const bounds = meaning === 'ANGLE' ? [] : ([min, max] as const);
  const isCounted = meaning === 'COUNTER' || meaning === 'TOTAL';
  const place = type === 'GEOLOCATION' ? readPlace(last?.value) : null;
  const text = (value: number | null): string => shownText(value, field);
  const at = (time: string | null): string | undefined => (time === null ? undefined : dateTimeText(new Date(time)));
  return (
    <dl class="statistics" data-numbers={isNumber}>
      <Fact name="Values" value={countText(count)} />
      {isNumber && (
        <>
          {meaning !== 'ANGLE' && (
            <>
              <Fact name="Min" value={text(min)} title={at(minAt)} />
              <Fact name="Max" value={text(max)} title={at(maxAt)} />
            </>
          )}
          {isCounted ? (
            <Fact name="Last" value={shownText(last?.value ?? null, field)} />
          ) : (
            <Fact
              name="Mean"
              value={text(average === null ? null : roundedWithin(average, ...bounds))}
              title={meaning === 'STATE' ? 'By time.' : undefined}
            />
          )}
          {meaning !== 'ANGLE' && (
            <Fact
              name="Change"
              value={text(withoutNoise(isCounted ? difference : changeOf(first?.value, last?.value)))}
              title={
                isCounted ? 'Since the last value before the range.' : 'From the first value of the range to the last.'
              }
            />
          )}
        </>
      )}
      {type === 'BOOLEAN' && (
        <Fact name={shownText(true, field)} value={average === null ? '–' : `${numberText(average * 100)}%`} />
      )}
      {!isNumber && (
        <Fact name="Last" value={place === null ? shownText(last?.value ?? null, field) : placeText(place)} />
      )}
    </dl>
  );
}

function Fact({ name, value, title }: { name: string; value: string; title?: string | undefined }) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function changeOf(first: unknown, last: unknown): number | null {
  return typeof first === 'number' && typeof last === 'number' ? last - first : null;
}

/** Digits to which a difference is exact: the last ones of a double are noise. */
const EXACT = 12;

function withoutNoise(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(EXACT));
}
