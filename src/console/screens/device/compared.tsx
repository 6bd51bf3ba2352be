import { type OtherSeries, valueNear } from '../../chart/other-series.ts';
import { shownText } from '../../fields/display.ts';
import type { DeviceField } from './device.graphql.ts';

interface ComparedProps {
  others: readonly OtherSeries[];
  /** The time (Unix seconds) that is read off; null: none. */
  time: number | null;
  field: DeviceField;
}

/** The lines that a chart is compared with, and what they have at a time. */
export function Compared({ others, time, field }: ComparedProps) {
  return (
    <ul class="compared">
      {others.map((other) => {
        const value = time === null ? null : valueNear(other, time);
        return (
          <li key={other.name}>
            <i style={{ background: `var(--${other.color})` }} data-dashed={other.isDashed === true} />
            {other.name}
            <strong>{value === null ? '–' : (other.text?.(value) ?? shownText(value, field))}</strong>
          </li>
        );
      })}
    </ul>
  );
}
