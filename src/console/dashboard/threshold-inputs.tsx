import { useState } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { type Threshold, type Tone, TONES } from './widget-options.ts';

const MOST = 10;

/** Levels from which a value has a colour, as inputs of a form: `thresholdsIn` reads them. */
export function ThresholdInputs({ thresholds }: { thresholds: readonly Threshold[] }) {
  const [rows, setRows] = useState(() => thresholds.map((threshold, key) => ({ key, threshold })));
  return (
    <fieldset class="thresholds">
      <legend>Colours</legend>
      {rows.map(({ key, threshold: { above, below, color } }, index) => (
        <div key={key} class="row">
          <select name="threshold-side" aria-label={`Colour ${index + 1} counts`}>
            <option value="above">from</option>
            <option value="below" selected={below !== undefined}>
              below
            </option>
          </select>
          <input
            name="threshold-level"
            type="number"
            step="any"
            required
            aria-label={`Level of colour ${index + 1}`}
            defaultValue={String(above ?? below ?? '')}
          />
          <select name="threshold-color" aria-label={`Colour ${index + 1}`}>
            {TONES.map(({ tone, text }) => (
              <option key={tone} value={tone} selected={tone === color}>
                {text}
              </option>
            ))}
          </select>
          <button
            type="button"
            class="quiet"
            aria-label={`Remove colour ${index + 1}`}
            onClick={() => setRows(rows.filter((row) => row.key !== key))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {rows.length < MOST && (
        <button
          type="button"
          onClick={() => setRows([...rows, { key: (rows.at(-1)?.key ?? -1) + 1, threshold: { color: 'red' } }])}
        >
          <Icon name="plus" /> Colour
        </button>
      )}
      {rows.length > 1 && <small>Where several hold, the last counts.</small>}
    </fieldset>
  );
}

/** The levels of the form, in their order. */
export function thresholdsIn(form: HTMLFormElement): Threshold[] {
  const given = new FormData(form);
  const [sides, levels, colors] = ['side', 'level', 'color'].map((name) => given.getAll(`threshold-${name}`));
  return (levels ?? []).map((level, index) => {
    const color = colors?.[index] as Tone;
    return sides?.[index] === 'below' ? { below: Number(level), color } : { above: Number(level), color };
  });
}
