import { useMistake } from './mistake.tsx';

interface PickProps<Value extends string> {
  label: string;
  /** The part of the input that it is. */
  part: string;
  value: Value;
  choices: readonly (readonly [value: Value, text: string])[];
  onChange: (value: Value) => void;
}

/** A named list of choices. */
export function Pick<Value extends string>({ label, part, value, choices, onChange }: PickProps<Value>) {
  const { marks, told } = useMistake(part);
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as Value)} {...marks}>
        {choices.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
      {told}
    </label>
  );
}

interface TypedProps {
  label: string;
  /** The part of the input that it is. */
  part: string;
  value: string;
  onChange: (value: string) => void;
  /** Behind the label, such as a unit. */
  unit?: string | null;
  isNumber?: boolean;
  required?: boolean;
  maxLength?: number;
  placeholder?: string;
  hint?: string;
}

const NUMBER = { type: 'number', step: 'any', inputMode: 'decimal' } as const;
const TEXT = { type: 'text', list: undefined } as const;

/** A named line of text, or a number. */
export function Typed({ label, part, value, onChange, unit = null, isNumber = false, hint, ...more }: TypedProps) {
  const { marks, told } = useMistake(part);
  return (
    <label>
      {unit === null ? label : `${label} (${unit})`}
      <input
        {...(isNumber ? NUMBER : TEXT)}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
        {...more}
        {...marks}
      />
      {hint !== undefined && <small>{hint}</small>}
      {told}
    </label>
  );
}
