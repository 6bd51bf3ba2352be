/** Ranges that end now, by their names in the address, in milliseconds. */
export const SPANS = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 30 * 86_400_000,
  year: 365 * 86_400_000,
} as const;

/** The name of a range that ends now. */
export type SpanName = keyof typeof SPANS;

/** A range of time in milliseconds: start inclusive, end exclusive. */
export interface TimeRange {
  from: number;
  to: number;
  /** `own`: a fixed range chosen by its ends. All others end now and move along. */
  name: SpanName | 'own';
}

const SHORTEST_MS = 1_000;
const EARLIEST = 0;
const LATEST = Date.UTC(2200, 0, 1);

/** The range of the address (`?from&to`, else `?range`); `otherwise` without a valid one. */
export function readRange(query: URLSearchParams, now: number, otherwise: SpanName = 'day'): TimeRange {
  const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')];
  if (from >= EARLIEST && to <= LATEST && to - from >= SHORTEST_MS) return { from, to, name: 'own' };
  const said = query.get('range') ?? '';
  const name = Object.hasOwn(SPANS, said) ? (said as SpanName) : otherwise;
  return { from: now - SPANS[name], to: now, name };
}

/** The parameters of the address for a range chosen by its ends. */
export function ownRange(from: number, to: number): { from: string; to: string } {
  const [start, end] = bounded(from, to);
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

/** The range moved by a part of its width: −0.5 is half a width earlier. */
export function moved({ from, to }: TimeRange, part: number): { from: string; to: string } {
  const by = (to - from) * part;
  return ownRange(from + by, to + by);
}

/** The range widened (factor 2: twice as wide) or narrowed (0.5) around its middle. */
export function scaled({ from, to }: TimeRange, factor: number): { from: string; to: string } {
  const [middle, half] = [(from + to) / 2, ((to - from) / 2) * factor];
  return ownRange(middle - half, middle + half);
}

function bounded(from: number, to: number): [from: number, to: number] {
  const start = Math.min(Math.max(EARLIEST, Math.round(from)), LATEST - SHORTEST_MS);
  return [start, Math.min(LATEST, Math.max(start + SHORTEST_MS, Math.round(to)))];
}
