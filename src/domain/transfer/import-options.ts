import { badInput } from '../../errors.ts';

/** The way a file of measurements is read. */
export interface ImportOptions {
  kind: 'csv' | 'ndjson';
  /** true: judges every line, answers a preview, and stores nothing. */
  dryRun?: boolean;
  /** Names for columns or keys by the names that the file has; an empty one leaves the column out. */
  columns?: ReadonlyMap<string, string>;
  /** IANA zone of times without one; null: that of each device's product. */
  timeZone?: string | null;
}

/** Maximum columns that are named, the maximum of a file. */
const MAX_NAMED = 2_000;
/** Maximum characters of a name, beyond that of any field. */
const MAX_NAME = 200;

/**
 * Reads names for columns: `Zeit:timestamp,Temp:temperature`, or an object in JSON where a heading has a colon or comma.
 * Throws BAD_USER_INPUT.
 */
export function readColumns(text: string): ReadonlyMap<string, string> {
  const pairs = text.trimStart().startsWith('{') ? pairsOfJson(text) : pairsOf(text);
  if (pairs.length > MAX_NAMED) throw badInput(`columns: at most ${MAX_NAMED} columns.`);
  const columns = new Map<string, string>();
  for (const [heading, name] of pairs) {
    if (columns.has(heading.trim())) throw badInput(`columns: "${heading.slice(0, 40)}" is named twice.`);
    if (name.length > MAX_NAME) throw badInput(`columns: a name has at most ${MAX_NAME} characters.`);
    columns.set(heading.trim(), name.trim());
  }
  return columns;
}

function pairsOf(text: string): [string, string][] {
  return text
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair) => {
      const colon = pair.lastIndexOf(':');
      if (colon < 0)
        throw badInput(
          `columns: expected <heading>:<name> such as Zeit:timestamp,Temp:temperature, not "${pair.slice(0, 40)}".`,
        );
      return [pair.slice(0, colon), pair.slice(colon + 1)];
    });
}

function pairsOfJson(text: string): [string, string][] {
  let given: unknown = null;
  try {
    given = JSON.parse(text);
  } catch {
    throw badInput('columns: begins with { but is not JSON.');
  }
  return Object.entries(given as object).map(([heading, name]) => {
    if (typeof name !== 'string') throw badInput(`columns: the name of "${heading.slice(0, 40)}" must be a text.`);
    return [heading, name];
  });
}
