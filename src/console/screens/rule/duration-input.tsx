import { type TypedDuration, type Unit, UNITS } from '../../time/duration.ts';
import { useMistake } from '../../parts/mistake.tsx';

interface DurationInputProps {
  /** Its name, also for the unit. */
  label: string;
  /** The part of the input that it is. */
  part: string;
  value: TypedDuration;
  onChange: (value: TypedDuration) => void;
}

/** A number and a unit of time. */
export function DurationInput({ label, part, value, onChange }: DurationInputProps) {
  const { marks, told } = useMistake(part);
  return (
    <div class="labelled">
      <span aria-hidden="true">{label}</span>
      <span class="duration">
        <input
          type="number"
          min={0}
          step="any"
          inputMode="decimal"
          aria-label={label}
          value={value.amount}
          onInput={(event) => onChange({ ...value, amount: event.currentTarget.value })}
          {...marks}
        />
        <select
          aria-label={`Unit of: ${label}`}
          value={value.unit}
          onChange={(event) => onChange({ ...value, unit: event.currentTarget.value as Unit })}
        >
          {UNITS.toReversed().map(([unit]) => (
            <option key={unit} value={unit}>
              {unit}
            </option>
          ))}
        </select>
      </span>
      {told}
    </div>
  );
}
