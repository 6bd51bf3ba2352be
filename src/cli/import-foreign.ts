import { type ForeignValue, ForeignValues, type Naming, STORES } from './foreign-values.ts';
import { TIME_UNITS } from './foreign-times.ts';

/** Options of an import from another store. */
export const FOREIGN_OPTIONS = {
  from: { type: 'string' },
  map: { type: 'string', multiple: true },
  'device-column': { type: 'string', multiple: true },
  time: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const;

/** The options as they were given. */
interface ForeignOptions {
  from?: string | undefined;
  device?: string | undefined;
  map?: string[] | undefined;
  'device-column'?: string[] | undefined;
  time?: string | undefined;
}

/** Values that are sent together: CSV in the long layout, and where each stands in the file. */
interface ForeignPart {
  text: string;
  values: number;
  /** Line of the text, from 1, at which a value begins → its line in the file. */
  lines: Map<number, number>;
}

const MAX_VALUES = 10_000;
const MAX_CHARACTERS = 2_000_000;

/** The reader that the options ask for; throws with what is wrong about them. */
export function foreignValues(options: ForeignOptions): ForeignValues {
  const store = STORES.find((name) => name === options.from);
  if (store === undefined) throw new Error(`--from ${options.from}: expected ${STORES.join(', ')}`);
  if (options.time !== undefined && !TIME_UNITS.includes(options.time))
    throw new Error(`--time ${options.time}: expected ${TIME_UNITS.join(', ')}`);
  const naming: Naming = {
    map: new Map((options.map ?? []).map(readPair)),
    deviceColumns: options['device-column'] ?? ['device', 'host', ...(store === 'thingsboard' ? ['Entity name'] : [])],
    device: options.device ?? null,
    unit: options.time ?? null,
  };
  return new ForeignValues(store, naming);
}

/** Parses `NAME=FIELD`, `NAME=DEVICE/FIELD` or `NAME=`. */
function readPair(pair: string): [string, string] {
  const equals = pair.lastIndexOf('=');
  if (equals <= 0) throw new Error(`--map ${pair}: expected NAME=FIELD, NAME=DEVICE/FIELD, or NAME= to leave it out`);
  return [pair.slice(0, equals), pair.slice(equals + 1)];
}

/** Puts values together that can be sent by themselves, after the first `skipped`. */
export async function* foreignParts(
  values: ForeignValues,
  pieces: AsyncIterable<string>,
  skipped: number,
): AsyncGenerator<ForeignPart> {
  let part: ForeignPart | null = null;
  let [seen, line] = [0, 1];
  for await (const value of values.read(pieces)) {
    const device = requireDevice(value);
    if ((seen += 1) <= skipped) continue;
    const between = values.mayHaveCommas ? ';' : ',';
    if (part === null) {
      const head = `${between === ',' ? '' : 'sep=;\n'}${['device', 'field', 'timestamp', 'value'].join(between)}\n`;
      part = { text: head, values: 0, lines: new Map() };
      line = between === ',' ? 2 : 3;
    }
    const record = [device, value.field, value.time, value.value].map(quoted).join(between);
    part.text += `${record}\n`;
    part.values += 1;
    part.lines.set(line, value.line);
    line += record.split('\n').length;
    if (part.values < MAX_VALUES && part.text.length < MAX_CHARACTERS) continue;
    yield part;
    part = null;
  }
  if (part !== null) yield part;
}

function requireDevice({ device, line }: ForeignValue): string {
  if (device !== null) return device;
  throw new Error(`line ${line} names no device: say --device, --device-column NAME or --map NAME=DEVICE/FIELD`);
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** What an import would send: a line for each device and field, with the number of values and their times. */
export async function foreignSummary(values: ForeignValues, pieces: AsyncIterable<string>): Promise<string[]> {
  const found = new Map<string, { count: number; first: string; last: string }>();
  for await (const value of values.read(pieces)) {
    const name = `${requireDevice(value)} ${value.field}`;
    const before = found.get(name);
    if (before === undefined) found.set(name, { count: 1, first: value.time, last: value.time });
    else Object.assign(before, { count: before.count + 1, last: value.time });
  }
  return [...found].map(
    ([name, { count, first, last }]) =>
      `${name}: ${count.toLocaleString('en')} values, ${shown(first)} to ${shown(last)}`,
  );
}

/** Times as texts; of numbers their milliseconds. */
function shown(time: string): string {
  return /^\d{1,15}$/.test(time) ? new Date(Number(time)).toISOString() : time;
}
