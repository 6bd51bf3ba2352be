import { TimeLeft } from '../../parts/time-left.tsx';
import { t } from '../../texts/texts.ts';

const DAY_MS = 86_400_000;
const KEPT = 'kept';
const ENDS: [days: string, name: string][] = [
  ['', t('never')],
  ['1', t('in a day')],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', t('in a year')],
];

/** Chooses when a token ends: the field `ends` of its form. `kept`: its present end, which may stay. */
export function EndPicker({ kept }: { kept?: string | null }) {
  return (
    <label>
      It ends
      <select name="ends">
        {kept !== undefined && <option value={KEPT}>as it is</option>}
        {ENDS.map(([days, name]) => (
          <option key={days} value={days}>
            {name}
          </option>
        ))}
      </select>
      {kept !== undefined && (
        <small>
          As it is: <TimeLeft at={kept} isCalm />
        </small>
      )}
    </label>
  );
}

/** The end chosen in a form, as a part of CreateTokenInput: none for never. */
export function endIn(text: (name: string) => string): { expiresAt?: string } {
  const expiresAt = changedEnd(text);
  return typeof expiresAt === 'string' ? { expiresAt } : {};
}

/** The end chosen in a form; null: never; undefined: as it is. */
export function changedEnd(text: (name: string) => string): string | null | undefined {
  const chosen = text('ends');
  if (chosen === KEPT) return undefined;
  return chosen === '' ? null : new Date(Date.now() + Number(chosen) * DAY_MS).toISOString();
}
