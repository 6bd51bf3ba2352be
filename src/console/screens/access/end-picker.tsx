const DAY_MS = 86_400_000;
const ENDS: [days: string, name: string][] = [
  ['', 'never'],
  ['1', 'in a day'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
];

/** Chooses when a token ends: the field `ends` of its form. */
export function EndPicker() {
  return (
    <label>
      It ends
      <select name="ends">
        {ENDS.map(([days, name]) => (
          <option key={days} value={days}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The end chosen in a form, as a part of CreateTokenInput: none for never. */
export function endIn(text: (name: string) => string): { expiresAt?: string } {
  const days = Number(text('ends'));
  return days > 0 ? { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() } : {};
}
