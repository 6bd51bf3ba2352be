import { CsvEnds } from '../domain/transfer/csv-ends.ts';
import { CsvHead, type HeadOfCsv } from '../domain/transfer/csv-head.ts';
import { lineEndsIn, RecordCutter } from '../domain/transfer/record-cutter.ts';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Records of a file that can be sent by themselves. */
interface FilePart {
  /** Text with the header, if the format has one. */
  text: string;
  records: number;
  /** Line of its first record in the file, from 1; number of lines of the header. */
  line: number;
  headerLines: number;
}

const MAX_RECORDS = 10_000;
const MAX_CHARACTERS = 2_000_000;
/** Maximum characters of a record, as in the server. */
const MAX_RECORD = 262_144;

/** Splits the file between records, after the first `skipped`; blank lines count. */
export async function* fileParts(
  pieces: AsyncIterable<string>,
  format: 'csv' | 'ndjson',
  skipped: number,
): AsyncGenerator<FilePart> {
  const head = new CsvHead();
  /** Null until the header of a CSV is complete. */
  let cutter = format === 'csv' ? null : new RecordCutter(lineEndsIn);
  let [header, line, seen] = [format === 'csv' ? null : '', 1, 0] as [string | null, number, number];
  let said = '';
  const part = { text: '', records: 0, line: 1 };
  const take = (record: string): FilePart | null => {
    const begin = line;
    for (let at = record.indexOf('\n'); at >= 0; at = record.indexOf('\n', at + 1)) line += 1;
    if (header === null) {
      header = said + record;
      return null;
    }
    seen += 1;
    if (seen <= skipped) return null;
    if (part.records === 0) part.line = begin;
    part.text += record;
    part.records += 1;
    return part.records >= MAX_RECORDS || part.text.length >= MAX_CHARACTERS ? whole() : null;
  };
  const whole = (): FilePart => {
    const headerLines = header === null || header === '' ? 0 : header.split('\n').length - 1;
    const done = { text: (header ?? '') + part.text, records: part.records, line: part.line, headerLines };
    Object.assign(part, { text: '', records: 0 });
    return done;
  };
  const begin = (found: HeadOfCsv | null): string => {
    if (found === null) return '';
    cutter = new RecordCutter(new CsvEnds(found.delimiter).in);
    line = found.line;
    // Each part is a file by itself.
    if (found.delimiter !== ',') said = `sep=${found.delimiter}\n`;
    return found.text;
  };
  for await (const piece of pieces) {
    const text: string = cutter === null ? begin(head.read(piece)) : piece;
    if (cutter === null) continue;
    for (const record of cutter.cut(text)) {
      const ready = take(`${record}\n`);
      if (ready !== null) yield ready;
    }
    if (cutter.unfinished > MAX_RECORD)
      throw new Error(`line ${line} is longer than ${MAX_RECORD} characters; is a quote left open?`);
  }
  const rest: string = cutter === null ? begin(head.end()) : (cutter as RecordCutter).rest();
  if (rest !== '') take(`${rest}\n`);
  // The server decides whether a header alone is a file.
  if (part.records > 0 || (seen === 0 && header)) yield whole();
}

/** Position of long work, in a file beside it, so that an interrupted command can continue. */
export class ResumeFile<Place> {
  readonly #path: string;
  readonly #of: string;

  /** `of`: work that the position belongs to; the position of other work is an error. */
  constructor(path: string, of: unknown) {
    this.#path = path;
    this.#of = JSON.stringify(of);
  }

  /** The position; null at the beginning. Throws when the file belongs to other work. */
  read(): Place | null {
    if (!existsSync(this.#path)) return null;
    const { of, place } = this.#parsed();
    if (of === this.#of) return place;
    throw new Error(`${this.#path} is of something else that was not finished; finish that, or delete the file`);
  }

  #parsed(): { of: string; place: Place } {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as { of: string; place: Place };
    } catch (error) {
      throw new Error(`${this.#path} cannot be read; delete it to begin anew`, { cause: error });
    }
  }

  /** Writes the position atomically. */
  write(place: Place): void {
    writeFileSync(`${this.#path}.new`, JSON.stringify({ of: this.#of, place }), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}
