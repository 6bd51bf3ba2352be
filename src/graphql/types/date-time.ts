import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';

const ISO_WITH_ZONE = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;

let last = { time: 0, text: new Date(0).toISOString() };

/** What is measured together has one time: the text of the last is there already. */
function isoText(time: number): string {
  if (time !== last.time) last = { time, text: new Date(time).toISOString() };
  return last.text;
}

/** ISO 8601 in UTC with milliseconds outside; integer milliseconds since 1970 inside. */
export const DateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  description: 'ISO 8601 in UTC.',
  serialize(value) {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError('DateTime: expected milliseconds.');
    return isoText(value);
  },
  parseValue: (value) => parseDateTime(value),
  // The node tells clients the place, and the error formatter that the value is to blame.
  parseLiteral: (node) => parseDateTime(node.kind === Kind.STRING ? node.value : undefined, node),
});

function parseDateTime(value: unknown, node?: ValueNode): number {
  const parts = typeof value === 'string' ? ISO_WITH_ZONE.exec(value) : null;
  const time = parts ? Date.parse(parts[0].toUpperCase()) : Number.NaN;
  // Date.parse lets 30 February roll over into March.
  if (parts && !Number.isNaN(time) && Number(parts[3]) <= daysOfMonth(Number(parts[1]), Number(parts[2]))) return time;
  throw new GraphQLError(
    `DateTime: expected ISO 8601 text with a time zone such as "2026-01-31T12:00:00Z", got ${shown(value)}.`,
    { nodes: node },
  );
}

function daysOfMonth(year: number, month: number): number {
  // setUTCFullYear, because Date.UTC takes the years 0 to 99 for 1900 to 1999.
  return new Date(new Date(0).setUTCFullYear(year, month, 0)).getUTCDate();
}

function shown(value: unknown): string {
  return value === undefined ? 'something else' : (JSON.stringify(value) ?? 'something else').slice(0, 60);
}
