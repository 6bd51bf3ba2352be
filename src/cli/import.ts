import { createReadStream, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import { REFUSED_BYTES } from '../domain/text/charsets.ts';
import { FileText } from '../domain/transfer/file-text.ts';
import type { CommandInput } from './command.ts';
import { fileKind, fileArgument, mustExist } from './file-argument.ts';
import { fileParts, ResumeFile } from './file-parts.ts';
import { FOREIGN_OPTIONS, foreignParts, foreignSummary, foreignValues } from './import-foreign.ts';
import { Progress } from './progress.ts';
import { Remote, REMOTE_OPTIONS } from './remote.ts';

const OPTIONS = {
  ...REMOTE_OPTIONS,
  ...FOREIGN_OPTIONS,
  device: { type: 'string' },
  format: { type: 'string' },
  charset: { type: 'string' },
} as const;
const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
/** Options that only other stores' files have. */
const NEED_FROM = ['map', 'device-column', 'time', 'dry-run'] as const;
/** Maximum refused lines that are printed one by one. */
const MAX_SHOWN = 20;

/** Records that the server has acknowledged, and their outcome. */
interface Acknowledged {
  records: number;
  stored: number;
  refused: number;
  values: number;
  /** Absent in files of earlier versions. */
  replaced?: number;
}

interface Outcome {
  stored: number;
  refused: number;
  values: number;
  replaced: number;
  rejected: { line: number; field: string | null; code: string; message: string }[];
}

/**
 * `inlet import FILE`: sends measurements to a running server, some thousand lines at a time. The same command
 * continues an interrupted import behind the last acknowledged line; sending a line twice is harmless.
 */
export async function importFile({ args, env }: CommandInput): Promise<void> {
  const { values: options, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const path = fileArgument({ args: positionals });
  mustExist(path);
  const { from, device, map, time } = options;
  const foreign = from === undefined ? null : foreignValues(options);
  if (foreign === null && NEED_FROM.some((name) => options[name] !== undefined))
    throw new Error(`--${NEED_FROM.join(', --')} need --from`);
  const isPacked = /\.gz$/i.test(path);
  const { format, packed } =
    foreign === null ? fileKind(path, options.format) : { format: 'csv' as const, packed: isPacked };
  const source = createReadStream(path);
  const bytes = packed ? source.pipe(createGunzip().on('error', (error) => source.destroy(error))) : source;
  source.on('error', (error) => bytes.destroy(error));
  const text = textOf(bytes, options.charset);
  if (foreign !== null && options['dry-run'] === true) {
    for (const line of await foreignSummary(foreign, text)) console.log(line);
    return;
  }
  const remote = new Remote(options, env);
  const { size, mtimeMs } = statSync(path);
  const named = from === undefined ? {} : { from, map, time, columns: options['device-column'] };
  const resume = new ResumeFile<Acknowledged>(`${path}.import.json`, {
    size,
    mtimeMs,
    device: device ?? null,
    ...named,
  });
  const before = resume.read();
  const place = before ?? { records: 0, stored: 0, refused: 0, values: 0 };
  const what = foreign === null ? 'lines' : 'values';
  if (before !== null) console.error(`${path}: goes on behind ${place.records.toLocaleString('en')} ${what}`);
  const parts =
    foreign === null ? ownParts(text, format, place.records) : othersParts(foreignParts(foreign, text, place.records));
  // Values of other stores may be of other devices than the one that stands for those without.
  const target =
    device === undefined || foreign !== null ? '/v1/import' : `/v1/devices/${encodeURIComponent(device)}/import`;
  const progress = new Progress('values');
  const begunAt = place.values;
  let shown = 0;
  for await (const { body, records, lineOf } of parts) {
    const outcome = await remote.retried(() => send(remote, target, TYPES[format], body));
    for (const { line, field, code, message } of outcome.rejected) {
      if ((shown += 1) > MAX_SHOWN) break;
      console.error(`line ${lineOf(line)}${field === null ? '' : ` ${field}`}: ${code} ${message}`);
    }
    place.records += records;
    place.stored += outcome.stored;
    place.refused += outcome.refused;
    place.values += outcome.values;
    place.replaced = (place.replaced ?? 0) + outcome.replaced;
    resume.write(place);
    progress.show(source.bytesRead / size, place.values - begunAt);
  }
  resume.remove();
  const { stored, refused, replaced = 0 } = place;
  const times = replaced === 0 ? '' : `; ${replaced.toLocaleString('en')} values were replaced by later lines of it`;
  console.log(
    `${path}: ${progress.end(place.values - begunAt)}; ${stored.toLocaleString('en')} ${what} stored, ${refused.toLocaleString('en')} refused${times}`,
  );
  if (refused > 0) throw new Error(`${refused.toLocaleString('en')} ${what} were refused`);
}

/** Records that are sent together; `lineOf`: the line in the file of a line of the body. */
interface Part {
  body: string;
  records: number;
  lineOf: (line: number) => number;
}

async function* ownParts(text: AsyncIterable<string>, format: 'csv' | 'ndjson', skipped: number): AsyncGenerator<Part> {
  for await (const { text: body, records, line: begin, headerLines } of fileParts(text, format, skipped))
    yield { body, records, lineOf: (line) => begin + line - headerLines - 1 };
}

async function* othersParts(parts: ReturnType<typeof foreignParts>): AsyncGenerator<Part> {
  for await (const { text, values, lines } of parts)
    yield { body: text, records: values, lineOf: (line) => lines.get(line) ?? 0 };
}

async function* textOf(pieces: AsyncIterable<Buffer>, charset: string | undefined): AsyncGenerator<string> {
  const text = new FileText(charset === undefined ? undefined : `text/plain; charset=${charset}`);
  for await (const piece of pieces) yield text.read(piece);
  yield text.end();
}

/** Text in UTF-8; bytes that were not valid go out unchanged, so that the server refuses their lines. */
function bytesOf(text: string): Buffer | string {
  if (text.isWellFormed()) return text;
  const pieces = text.split(/(\p{Surrogate})/u);
  return Buffer.concat(
    pieces.map((piece) =>
      piece.isWellFormed() ? Buffer.from(piece) : Buffer.of((piece.charCodeAt(0) - REFUSED_BYTES) | 0x80),
    ),
  );
}

async function send(remote: Remote, path: string, type: string, text: string): Promise<Outcome> {
  const response = await remote.send(path, { method: 'POST', headers: { 'Content-Type': type }, body: bytesOf(text) });
  return (await response.json()) as Outcome;
}
