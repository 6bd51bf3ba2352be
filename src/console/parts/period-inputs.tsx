import { setParameters } from '../navigation/place.ts';
import { localTime, readLocalTime } from '../time/local-time.ts';

interface PeriodInputsProps {
  /** ms UTC; null: open. */
  from: number | null;
  to: number | null;
}

/** The begin and end of what a list shows, kept in the address as `from` and `to`. */
export function PeriodInputs({ from, to }: PeriodInputsProps) {
  return (
    <>
      <TimeInput label="From" name="from" time={from} />
      <TimeInput label="To" name="to" time={to} />
    </>
  );
}

function TimeInput({ label, name, time }: { label: string; name: 'from' | 'to'; time: number | null }) {
  return (
    <label>
      {label}
      <input
        type="datetime-local"
        value={time === null ? '' : localTime(time)}
        onChange={({ currentTarget: { value } }) => setParameters({ [name]: readLocalTime(value) })}
      />
    </label>
  );
}
