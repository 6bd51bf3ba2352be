/** The zone of this browser by its IANA name, such as `Europe/Berlin`: what charts and calendars are in. */
export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A time (milliseconds) as `<input type="datetime-local">` takes it, to the minute, in the zone of this browser. */
export function localTime(ms: number): string {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
