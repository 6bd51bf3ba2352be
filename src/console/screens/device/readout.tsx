import type { ChartData, UnderCursor } from '../../chart/time-chart.tsx';
import { shownColor, shownText } from '../../fields/display.ts';
import { dateTimeText } from '../../parts/time-text.ts';
import { type MeasuredValue, numberText } from '../../parts/value-text.ts';
import type { DeviceField } from './device.graphql.ts';

interface ReadoutProps {
  data: ChartData;
  field: DeviceField;
  /** Names of the states that the values stand for. */
  names: readonly string[] | undefined;
  /** True when values are shares of true. */
  isShare: boolean;
  at: UnderCursor;
}

/** The value under the cursor, or the last one. */
export function Readout({ data: { timestamps, values, band }, field, names, isShare, at }: ReadoutProps) {
  const index = at ?? values.findLastIndex((value) => value !== null);
  const [value, timestamp] = [values[index], timestamps[index]];
  if (value == null || timestamp === undefined) return <span class="readout muted">–</span>;
  const [low, high] = [band?.low[index], band?.high[index]];
  const name = names?.[value];
  const shown: MeasuredValue = name === undefined ? value : field.type === 'BOOLEAN' ? name === 'true' : name;
  return (
    <span class="readout">
      {at !== null && <small>{dateTimeText(new Date(timestamp * 1_000))}</small>}
      <strong data-color={(isShare ? null : shownColor(shown, field)) ?? undefined}>
        {isShare ? `${numberText(value * 100)}%` : shownText(shown, field)}
      </strong>
      {low != null && high != null && (
        <small>
          {numberText(low)} … {numberText(high)}
        </small>
      )}
    </span>
  );
}
