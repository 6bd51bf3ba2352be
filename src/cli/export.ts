import { closeSync, createWriteStream, ftruncateSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { readRangeTime } from '../domain/times/range-time.ts';
import type { CommandInput } from './command.ts';
import { fileArgument, mustBeFree, fileKind } from './file-argument.ts';
import { Progress } from './progress.ts';
import { Remote, REMOTE_OPTIONS } from './remote.ts';
import { ResumeFile } from './file-parts.ts';
import { must } from '../must.ts';

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

/** Position of an unfinished file: its first `bytes` hold the months from `from` to before `upTo`, of those up to `to`. */
interface Written {
  bytes: number;
  from: number;
  upTo: number;
  /** Excludes what is recorded meanwhile. */
  to: number;
}

/**
 * `inlet export FILE`: measurements from a running server, a month (UTC) of all chosen devices per request. After an
 * interruption the same command begins again at the month that it was in.
 */
export async function exportFile({ args, env }: CommandInput): Promise<void> {
  const { values: options, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const path = fileArgument({ args: positionals });
  mustBeFree(path);
  const remote = new Remote(options, env);
  const { format, packed } = fileKind(path, options.format);
  const { url: _, 'token-file': __, ...of } = options;
  const resume = new ResumeFile<Written>(`${path}.part.json`, of);
  const part = `${path}.part`;
  const before = resume.read();
  if (before !== null) console.error(`${path}: goes on at ${iso(before.upTo)}`);
  const place = before ?? (await beginning(remote, options));
  const progress = new Progress('bytes');
  const begunAt = place.bytes;
  try {
    while (place.upTo < place.to) {
      // What lies ahead of now comes at once.
      const end = place.upTo > Date.now() ? place.to : Math.min(place.to, nextMonth(place.upTo));
      await remote.retried(async () => {
        cutBack(part, place.bytes);
        const url = urlOf(options, format, { layout: options.layout, from: iso(place.upTo), to: iso(end) });
        await append(remote, part, { url, packed, withoutHeader: format === 'csv' && place.upTo > place.from });
      });
      Object.assign(place, { upTo: end, bytes: statSync(part).size });
      resume.write(place);
      progress.show((end - place.from) / (place.to - place.from), place.bytes - begunAt);
    }
  } catch (error) {
    // Nothing to go on with.
    if (place.bytes === 0) rmSync(part, { force: true });
    throw error;
  }
  renameSync(part, path);
  resume.remove();
  console.log(`${path}: ${progress.end(place.bytes - begunAt)}`);
}

type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** Range of the export, from the first year on that has values in it. */
async function beginning(remote: Remote, options: Options): Promise<Written> {
  const [first, to] = [timeOf(options.from, 'from') ?? 0, timeOf(options.to, 'to') ?? Date.now()];
  if (first >= to) throw new Error('--from must be before --to');
  let from = Math.max(first, startOfYear(Math.min(to - 1, Date.now())));
  while (from > first && (await hasValues(remote, options, { from: iso(first), to: iso(from) })))
    from = Math.max(first, startOfYear(from - 1));
  return { bytes: 0, from, upTo: from, to };
}

/** Whether a part of the export has values; reads no further than the first of them. */
function hasValues(remote: Remote, options: Options, range: Record<string, string>): Promise<boolean> {
  return remote.retried(async () => {
    const response = await remote.send(urlOf(options, 'ndjson', range));
    const reader = must(response.body).getReader();
    const { done } = await reader.read();
    await reader.cancel();
    return !done;
  });
}

function urlOf(
  { device, product, tag = [], fields }: Options,
  format: string,
  range: Record<string, string | undefined>,
): string {
  const parameters = new URLSearchParams();
  for (const one of tag) parameters.append('tag', one);
  for (const [name, value] of Object.entries({ product, fields, ...range }))
    if (value !== undefined) parameters.set(name, value);
  const route = device === undefined ? '/v1/export' : `/v1/devices/${encodeURIComponent(device)}/history`;
  return `${route}.${format}?${parameters}`;
}

/** Drops what is behind the last whole month. */
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
  { url, packed, withoutHeader }: { url: string; packed: boolean; withoutHeader: boolean },
): Promise<void> {
  const response = await remote.send(url, { headers: { 'Accept-Encoding': 'identity' } });
  const steps: Transform[] = [];
  if (withoutHeader) steps.push(withoutFirstLine());
  if (packed) steps.push(createGzip());
  await pipeline([Readable.fromWeb(response.body as never), ...steps, createWriteStream(path, { flags: 'a' })]);
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

function startOfYear(time: number): number {
  return Date.UTC(new Date(time).getUTCFullYear(), 0, 1);
}

function nextMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function timeOf(text: string | undefined, name: string): number | null {
  const time = text === undefined ? null : readRangeTime(text);
  if (text !== undefined && time === null) throw new Error(`--${name}: expected ISO 8601 such as 2026-01-31T12:00:00Z`);
  return time;
}
