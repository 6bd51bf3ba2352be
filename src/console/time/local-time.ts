/** The zone of this browser by its IANA name, such as `Europe/Berlin`, for charts and calendars. */
export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A time (milliseconds) in the form of `<input type="datetime-local">`, to the minute, in the zone of this browser. */
export function localTime(ms: number): string {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** A time of an address in ms UTC; null: there is none that can be read. */
export function timeOf(text: string | null): number | null {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? null : ms;
}
