import { type OtherSeries, valueNear } from '../chart/other-series.ts';
import { shownText } from './display.ts';
import './compared.css';

interface ComparedProps {
  others: readonly OtherSeries[];
  /** The time (Unix seconds) that is read off; null: none. */
  time: number | null;
  field: Parameters<typeof shownText>[1];
}

/** The lines of a chart by name and colour, and what they have at a time. */
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
