import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { isoMs } from '../../domain/times/iso-time.ts';

/** A date and time with its zone, or a date alone. */
const UNAMBIGUOUS = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/i;

let last = { time: 0, text: new Date(0).toISOString() };

/** ISO text of a time. Values measured together have one time: the last text is kept. */
function isoText(time: number): string {
  if (time !== last.time) last = { time, text: new Date(time).toISOString() };
  return last.text;
}

/** ISO 8601 in UTC with milliseconds outside; integer milliseconds since 1970 inside. */
export const DateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  description: 'ISO 8601 in UTC. In arguments also with another zone, or a date such as 2026-01-31: its begin in UTC.',
  serialize(value) {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError('DateTime: expected milliseconds.');
    return isoText(value);
  },
  parseValue: (value) => parseDateTime(value),
  // The node tells clients the place, and the error formatter that the value is to blame.
  parseLiteral: (node) => parseDateTime(node.kind === Kind.STRING ? node.value : undefined, node),
});

function parseDateTime(value: unknown, node?: ValueNode): number {
  const time = typeof value === 'string' && UNAMBIGUOUS.test(value) ? isoMs(value) : null;
  if (time !== null) return time;
  throw new GraphQLError(
    `DateTime: expected ISO 8601 text with a time zone such as "2026-01-31T12:00:00Z", or a date such as "2026-01-31", got ${shown(value)}.`,
    { nodes: node },
  );
}

function shown(value: unknown): string {
  return value === undefined ? 'something else' : (JSON.stringify(value) ?? 'something else').slice(0, 60);
}
