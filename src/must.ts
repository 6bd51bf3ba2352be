/** The value, which has to be there by what was found before; an Error otherwise, at the place that was wrong. */
export function must<Value>(value: Value): NonNullable<Value> {
  if (value === undefined || value === null) throw new Error('A value that has to be there is missing.');
  return value;
}
