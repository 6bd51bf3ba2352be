import { closeSync, createWriteStream, ftruncateSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import type { CommandInput } from './command.ts';
import { exportedParts, type ExportPlace, type Part } from './export-parts.ts';
import { fileKind } from './file-kind.ts';
import { Progress } from './progress.ts';
import { Remote, REMOTE_OPTIONS } from './remote.ts';
import { ResumeFile } from './resume-file.ts';
import { mustBeFree } from './file-argument.ts';

const OPTIONS = {
  ...REMOTE_OPTIONS,
  device: { type: 'string' },
  product: { type: 'string' },
  tag: { type: 'string', multiple: true },
  from: { type: 'string' },
  to: { type: 'string' },
  fields: { type: 'string' },
  format: { type: 'string' },
  layout: { type: 'string' },
} as const;

/** State of an unfinished file: `bytes` of it are whole parts. */
interface Written extends ExportPlace {
  bytes: number;
  values: number;
  /** End of the range, so that values recorded meanwhile are in no part. */
  to: number;
}

/**
 * `inlet export FILE`: writes measurements of a running server, part by part (a month of a device). The same command
 * continues an interrupted export behind the last whole part; the file is the same, byte for byte.
 */
export async function exportFile({ args, env }: CommandInput): Promise<void> {
  const { values: options, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [path, another] = positionals;
  if (path === undefined || another !== undefined) throw new Error('name one file');
  mustBeFree(path);
  const remote = new Remote(options, env);
  const kind = fileKind(path, options.format);
  const { url: _, 'token-file': __, ...of } = options;
  const resume = new ResumeFile<Written>(`${path}.part.json`, of);
  const part = `${path}.part`;
  const before = resume.read();
  const place: Written = before ?? {
    after: null,
    device: null,
    field: null,
    upTo: 0,
    bytes: 0,
    values: 0,
    to: Date.now(),
  };
  cutBack(part, place.bytes);
  if (before !== null) console.error(`${path}: goes on behind ${place.values.toLocaleString('en')} values`);

  const progress = new Progress('values');
  const [begunAt, parts] = [place.values, exportedParts(remote, { ...of, format: kind.format }, place)];
  try {
    for await (const next of parts) {
      await remote.retried(async () => {
        cutBack(part, place.bytes);
        await append(remote, part, next, kind.packed, place.bytes === 0);
      });
      Object.assign(place, next.place, { bytes: statSync(part).size, values: place.values + next.values });
      resume.write(place);
      progress.show(next.progress, place.values - begunAt);
    }
  } catch (error) {
    // Nothing to continue.
    if (place.bytes === 0) rmSync(part, { force: true });
    throw error;
  }
  renameSync(part, path);
  resume.remove();
  console.log(`${path}: ${progress.end(place.values - begunAt)}, ${statSync(path).size.toLocaleString('en')} bytes`);
}

/** Cuts off an unfinished part. */
function cutBack(path: string, bytes: number): void {
  const file = openSync(path, 'a', 0o600);
  try {
    if (statSync(path).size < bytes)
      throw new Error(`${path} is shorter than it was; delete ${path}.json to begin anew`);
    ftruncateSync(file, bytes);
  } finally {
    closeSync(file);
  }
}

async function append(
  remote: Remote,
  path: string,
  { query, format }: Part,
  packed: boolean,
  isFirst: boolean,
): Promise<void> {
  const response = await remote.send(query, { headers: { 'Accept-Encoding': 'identity' } });
  const file = createWriteStream(path, { flags: 'a' });
  const steps: Transform[] = [];
  // Only the first part of a file names its columns.
  if (format === 'csv' && !isFirst) steps.push(withoutFirstLine());
  if (packed) steps.push(createGzip());
  await pipeline([Readable.fromWeb(response.body as never), ...steps, file]);
}

function withoutFirstLine(): Transform {
  let isBehind = false;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (isBehind) return done(null, chunk);
      const end = chunk.indexOf(10);
      isBehind = end >= 0;
      done(null, isBehind ? chunk.subarray(end + 1) : undefined);
    },
  });
}
