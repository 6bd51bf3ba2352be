import { badInput } from '../../errors.ts';
import { excessOf, isLongNumber, keepLongNumbers } from '../text/json-text.ts';
import { NameIndex } from '../text/name-index.ts';
import { CsvReader, type CsvRecord } from './csv-reader.ts';
import { listed, quoted } from './headings.ts';
import { LineReader } from './line-reader.ts';
import { must } from '../../must.ts';

/**
 * One device of a file, as it was written. A part that is undefined is left out, null clears it; `configuration` by
 * identifier, `metadataKeys` by key.
 */
export interface DeviceLine {
  line: number;
  /** The reason why the line cannot be read; null: none. */
  error: string | null;
  parts: DeviceParts;
}

/** The parts of a line. */
export interface DeviceParts {
  serialNumber?: unknown;
  name?: unknown;
  tags?: unknown;
  location?: unknown;
  plan?: unknown;
  /** null: all of it is cleared. */
  metadata?: null;
  metadataKeys?: Record<string, unknown>;
  configuration?: Record<string, unknown>;
}

/** Reads a file in pieces, each line when taken; `end` follows the last piece. */
interface DeviceLines {
  read(piece: string): Iterable<DeviceLine>;
  end(): Iterable<DeviceLine>;
}

/** The parts with a column of their own. */
const PARTS = ['serialNumber', 'name', 'tags', 'location', 'plan'] as const;
type Part = (typeof PARTS)[number];
/** Columns that say a part by another name, in small letters and without signs. */
const ALSO: Readonly<Record<string, Part>> = { serial: 'serialNumber' };
/** Columns that probably stand for the serial number. */
const PROBABLY = /^(?:(?:dev(?:ice)?)?(?:eui(?:64)?|id)|coreid|device)$/;
const GROUPS = { 'configuration.': 'configuration', 'metadata.': 'metadataKeys' } as const;
const EXPECTED = 'There are serialNumber, name, tags, location, plan, configuration.<field> and metadata.<key>';

type Place = { part: Part } | { group: 'configuration' | 'metadataKeys'; key: string };

/**
 * CSV with headings (comma, semicolon or tab), or NDJSON. `configurationFields`: identifiers of the product. Throws
 * BAD_USER_INPUT naming a column that is unknown or there twice, and for a CSV without serial numbers.
 */
export function deviceLines(kind: 'csv' | 'ndjson', configurationFields: ReadonlySet<string>): DeviceLines {
  return kind === 'csv' ? new CsvDevices(configurationFields) : new NdjsonDevices(configurationFields);
}

/** The place of a column or key; a text: the reason why it has none. */
function placeOf(name: string, configurationFields: ReadonlySet<string>): Place | string {
  const plain = name.toLowerCase().replace(/[ _-]/g, '');
  const part = PARTS.find((one) => one.toLowerCase() === plain) ?? ALSO[plain];
  if (part !== undefined) return { part };
  for (const [prefix, group] of Object.entries(GROUPS)) {
    if (!name.toLowerCase().startsWith(prefix) || name.length === prefix.length) continue;
    const key = name.slice(prefix.length);
    if (group !== 'configuration' || configurationFields.has(key)) return { group, key };
    const near = new NameIndex(configurationFields).nearest(key);
    const meant = near === null ? '' : ` Did you mean "configuration.${near}"?`;
    return `the product has no configuration field ${quoted(key)}.${meant}`;
  }
  const meant = PROBABLY.test(plain) ? ' Probably it is the serialNumber: rename it.' : '';
  return `${quoted(name)} is no column of devices.${meant} ${EXPECTED}.`;
}

class CsvDevices implements DeviceLines {
  readonly #reader = new CsvReader();
  readonly #configurationFields: ReadonlySet<string>;
  #places: Place[] | null = null;
  /** The column of the serial numbers. */
  #serialAt = 0;

  constructor(configurationFields: ReadonlySet<string>) {
    this.#configurationFields = configurationFields;
  }

  read(piece: string): Iterable<DeviceLine> {
    return this.#lines(this.#reader.read(piece));
  }

  *end(): Iterable<DeviceLine> {
    yield* this.#lines(this.#reader.end());
    if (this.#places === null) throw badInput(`The file is empty: its first line must name the columns. ${EXPECTED}.`);
  }

  *#lines(records: Iterable<CsvRecord>): Iterable<DeviceLine> {
    for (const record of records) {
      if (this.#places === null) this.#places = this.#placesOf(record);
      else yield this.#line(record, this.#places);
    }
  }

  #placesOf({ cells, line }: CsvRecord): Place[] {
    if (cells.some((cell) => cell.includes('\r')))
      throw badInput(`Line ${line} has a carriage return in it: lines must end with LF or CRLF, not with CR alone.`);
    const names = cells.map((cell) => cell.trim());
    const seen = new Map<string, string>();
    const places = names.map((name) => {
      const place = placeOf(name, this.#configurationFields);
      if (typeof place === 'string') throw badInput(`Line ${line}, unknown column: ${place}`);
      const id = 'part' in place ? place.part : `${place.group} ${place.key}`;
      const first = seen.get(id);
      if (first !== undefined)
        throw badInput(`Line ${line}: the columns ${quoted(first)} and ${quoted(name)} say the same; leave out one.`);
      seen.set(id, name);
      return place;
    });
    if (!seen.has('serialNumber'))
      throw badInput(`Line ${line}: one of the columns must be "serialNumber". It was read as ${listed(names)}.`);
    this.#serialAt = places.findIndex((place) => 'part' in place && place.part === 'serialNumber');
    return places;
  }

  #line({ line, cells, quoted: inQuotes }: CsvRecord, places: readonly Place[]): DeviceLine {
    const parts: DeviceParts = {};
    if (cells.length !== places.length)
      return {
        line,
        parts: { serialNumber: cells[this.#serialAt]?.trim() },
        error: `The line has ${cells.length} columns, the header ${places.length}.`,
      };
    for (const [at, place] of places.entries()) {
      const cell = must(cells[at]);
      if (cell === '' && inQuotes[at] !== true) continue;
      put(parts, place, cell === '' ? null : 'part' in place ? cell.trim() : cell);
    }
    return { line, parts, error: null };
  }
}

class NdjsonDevices implements DeviceLines {
  readonly #reader = new LineReader();
  readonly #configurationFields: ReadonlySet<string>;

  constructor(configurationFields: ReadonlySet<string>) {
    this.#configurationFields = configurationFields;
  }

  *read(piece: string): Iterable<DeviceLine> {
    for (const { line, text } of this.#reader.read(piece)) yield this.#line(line, text);
  }

  *end(): Iterable<DeviceLine> {
    for (const { line, text } of this.#reader.end()) yield this.#line(line, text);
  }

  #line(line: number, text: string): DeviceLine {
    const parts: DeviceParts = {};
    const wrong = (error: string): DeviceLine => ({ line, parts, error });
    const excess = excessOf(text);
    if (excess !== null) return wrong(`The line ${excess}.`);
    let object: unknown;
    try {
      object = JSON.parse(text);
      if (Object.values(object ?? {}).some(isLongNumber)) object = JSON.parse(text, keepLongNumbers);
    } catch {
      return wrong('The line is not JSON.');
    }
    if (typeof object !== 'object' || object === null || Array.isArray(object))
      return wrong('The line must be a JSON object.');
    for (const [name, value] of Object.entries(object)) {
      const group = name === 'metadata' || name === 'configuration' ? name : null;
      if (group === 'metadata' && value === null) parts.metadata = null;
      else if (group !== null) {
        if (typeof value !== 'object' || value === null || Array.isArray(value))
          return wrong(`${group}: expected an object of names and values.`);
        for (const [key, item] of Object.entries(value)) {
          const error = this.#put(parts, `${group}.${key}`, item);
          if (error !== null) return wrong(error);
        }
      } else {
        const error = this.#put(parts, name, value);
        if (error !== null) return wrong(error);
      }
    }
    return { line, parts, error: null };
  }

  #put(parts: DeviceParts, name: string, value: unknown): string | null {
    const place = placeOf(name, this.#configurationFields);
    if (typeof place === 'string') return `Unknown key: ${place}`;
    put(parts, place, value);
    return null;
  }
}

function put(parts: DeviceParts, place: Place, value: unknown): void {
  if ('part' in place) parts[place.part] = value;
  else {
    parts[place.group] ??= Object.create(null) as Record<string, unknown>;
    must(parts[place.group])[place.key] = value;
  }
}
