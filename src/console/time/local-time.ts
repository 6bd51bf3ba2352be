import { browserZone, reader } from './reader.ts';

/** The zone of the reader by its IANA name, such as `Europe/Berlin`, for charts and calendars. */
export function zoneName(): string {
  return reader.get().zone ?? browserZone();
}

/** A time (milliseconds) in the form of `<input type="datetime-local">`, to the minute, in the zone of the reader. */
export function localTime(ms: number): string {
  return new Date(ms + offsetAt(ms)).toISOString().slice(0, 16);
}

/** The time that `<input type="datetime-local">` has, read in the zone of the reader, in ISO 8601; null: none. */
export function readLocalTime(text: string): string | null {
  const wall = Date.parse(`${text}Z`);
  if (Number.isNaN(wall)) return null;
  // Once more with the offset of what was found: the clock may be put forward or back in between.
  const near = wall - offsetAt(wall);
  return new Date(wall - offsetAt(near)).toISOString();
}

/** A time of an address in ms UTC; null: there is none that can be read. */
export function timeOf(text: string | null): number | null {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? null : ms;
}

const wallClocks = new Map<string, Intl.DateTimeFormat>();

/** Milliseconds that the reader's clocks are ahead of UTC then. */
function offsetAt(ms: number): number {
  const zone = zoneName();
  let clock = wallClocks.get(zone);
  if (clock === undefined) {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const; // oxfmt-ignore
    clock = new Intl.DateTimeFormat('en-US', { ...parts, timeZone: zone, hourCycle: 'h23' });
    wallClocks.set(zone, clock);
  }
  const found = new Map(clock.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => found.get(name) ?? 0;
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall - Math.floor(ms / 1_000) * 1_000;
}
