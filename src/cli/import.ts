import { createReadStream, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import { REFUSED_BYTES } from '../domain/text/charsets.ts';
import { FileText } from '../domain/transfer/file-text.ts';
import type { CommandInput } from './command.ts';
import { fileKind, fileArgument, mustExist } from './file-argument.ts';
import { type FilePart, fileParts, ResumeFile } from './file-parts.ts';
import { Progress } from './progress.ts';
import { Remote, REMOTE_OPTIONS } from './remote.ts';

const OPTIONS = {
  ...REMOTE_OPTIONS,
  device: { type: 'string' },
  format: { type: 'string' },
  charset: { type: 'string' },
} as const;
const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
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
  const remote = new Remote(options, env);
  const { format, packed } = fileKind(path, options.format);
  const { size, mtimeMs } = statSync(path);
  const resume = new ResumeFile<Acknowledged>(`${path}.import.json`, { size, mtimeMs, device: options.device ?? null });
  const before = resume.read();
  const place = before ?? { records: 0, stored: 0, refused: 0, values: 0 };
  if (before !== null) console.error(`${path}: goes on behind ${place.records.toLocaleString('en')} lines`);

  const source = createReadStream(path);
  const bytes = packed ? source.pipe(createGunzip().on('error', (error) => source.destroy(error))) : source;
  source.on('error', (error) => bytes.destroy(error));
  const target =
    options.device === undefined ? '/v1/import' : `/v1/devices/${encodeURIComponent(options.device)}/import`;
  const progress = new Progress('values');
  const begunAt = place.values;
  let shown = 0;
  for await (const part of fileParts(textOf(bytes, options.charset), format, place.records)) {
    const outcome = await remote.retried(() => send(remote, target, TYPES[format], part));
    for (const { line, field, code, message } of outcome.rejected) {
      if ((shown += 1) > MAX_SHOWN) break;
      console.error(
        `line ${part.line + line - part.headerLines - 1}${field === null ? '' : ` ${field}`}: ${code} ${message}`,
      );
    }
    place.records += part.records;
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
    `${path}: ${progress.end(place.values - begunAt)}; ${stored.toLocaleString('en')} lines stored, ${refused.toLocaleString('en')} refused${times}`,
  );
  if (refused > 0) throw new Error(`${refused.toLocaleString('en')} lines were refused`);
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

async function send(remote: Remote, path: string, type: string, { text }: FilePart): Promise<Outcome> {
  const response = await remote.send(path, { method: 'POST', headers: { 'Content-Type': type }, body: bytesOf(text) });
  return (await response.json()) as Outcome;
}
