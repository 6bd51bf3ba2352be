import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { DeviceFinder } from '../domain/ingest-cache/device-finder.ts';
import type { Export, Exporter, ExportQuery } from '../domain/transfer/exporter.ts';
import { GAP_FILLS } from '../domain/ports/series-request.ts';
import { EXPORT_AGGREGATIONS } from '../domain/transfer/charted-series.ts';
import { readRangeTime } from '../domain/times/range-time.ts';
import { asAppError, badInput } from '../errors.ts';
import type { TokenHandler } from './routes.ts';

interface ExportRouteDeps {
  devices: DeviceFinder;
  exporter: Exporter;
  log: Logger;
}

/** Parameters of the query of a file of values. */
export const PARAMETERS = [
  'fields',
  'from',
  'to',
  'resolution',
  'maxPoints',
  'timeZone',
  'aggregation',
  'fill',
  'layout',
  'spreadsheet',
];
/** Parameters that choose the devices of an export. */
export const CHOICE = ['product', 'tag', 'device', 'search', 'online', 'workspace'];
/** Compression level: a table is long and repeats itself, and more effort costs more time than it saves bytes. */
const GZIP_LEVEL = 3;

/** `GET /v1/devices/<device>/history.csv` and `.ndjson` (CONTRACT 8): one device's history, streamed. */
export function historyFileRoute(
  { devices, exporter, log }: ExportRouteDeps,
  format: ExportQuery['format'],
): TokenHandler {
  return async (context, access) => {
    const { device: name } = context['params'] as { device: string };
    const query = readQuery(context, format, []);
    const device = await devices.named(access, name, 'READ');
    await send(context, exporter.ofDevice(access, device, query), log);
  };
}

/** `GET /v1/export.csv` and `.ndjson` (CONTRACT 8): many devices, narrowed as `devices` narrows them. */
export function exportRoute({ exporter, log }: ExportRouteDeps, format: ExportQuery['format']): TokenHandler {
  return async (context, access) => {
    const query = readQuery(context, format, CHOICE);
    const ids = many(context, 'device');
    const choice = {
      productId: one(context, 'product'),
      tags: many(context, 'tag'),
      ids: ids.length === 0 ? null : ids,
      search: one(context, 'search'),
      online: onlineOf(context),
      workspaceId: one(context, 'workspace'),
    };
    await send(context, await exporter.ofMany(access, choice, query), log);
  };
}

function readQuery(context: Koa.Context, format: ExportQuery['format'], others: string[]): ExportQuery {
  const known = [...PARAMETERS, ...others];
  // A leading underscore: what clients add to get past caches.
  const unknown = Object.keys(context.query).find((name) => !known.includes(name) && !name.startsWith('_'));
  if (unknown !== undefined)
    throw badInput(`There is no parameter "${unknown.slice(0, 64)}"; there are: ${known.join(', ')}.`);
  const fields = many(context, 'fields').flatMap((list) => list.split(',').filter((field) => field !== ''));
  const layout = one(context, 'layout') ?? 'long';
  if (layout !== 'long' && layout !== 'wide') throw badInput('layout: expected long or wide.');
  const spreadsheet = one(context, 'spreadsheet') ?? 'false';
  if (spreadsheet !== 'true' && spreadsheet !== 'false') throw badInput('spreadsheet: expected true or false.');
  const chart = chartOf(context);
  if (chart !== null && (one(context, 'from') === null || one(context, 'to') === null))
    throw badInput('resolution, maxPoints: give "from" and "to" as well.');
  const [from, to] = [timeOf(context, 'from') ?? 0, timeOf(context, 'to') ?? Number.MAX_SAFE_INTEGER];
  if (from >= to) throw badInput('"from" must be before "to".');
  return {
    format,
    layout,
    fields: fields.length === 0 ? null : [...new Set(fields)],
    from,
    to,
    chart,
    spreadsheet: spreadsheet === 'true',
  };
}

/** null: neither buckets nor a choice of points is asked for. */
function chartOf(context: Koa.Context): ExportQuery['chart'] {
  const [resolution, points, timeZone] = [
    one(context, 'resolution'),
    one(context, 'maxPoints'),
    one(context, 'timeZone'),
  ];
  if (points !== null && !/^[1-9]\d{0,6}$/.test(points)) throw badInput('maxPoints: expected a whole number from 1.');
  const aggregation = oneOf(context, 'aggregation', EXPORT_AGGREGATIONS);
  const fill = oneOf(context, 'fill', GAP_FILLS);
  if (resolution === null && points === null) {
    if (timeZone !== null)
      throw badInput('timeZone: it says where buckets begin; give "resolution" or "maxPoints" as well.');
    if (aggregation !== null || fill !== null)
      throw badInput(
        `${aggregation === null ? 'fill' : 'aggregation'}: it is about buckets; give "resolution" or "maxPoints" as well.`,
      );
    return null;
  }
  return { resolution, maxPoints: points === null ? null : Number(points), timeZone, aggregation, fill };
}

/** One of the words, in any case; null: left out. */
function oneOf<Word extends string>(context: Koa.Context, name: string, words: readonly Word[]): Word | null {
  const given = one(context, name);
  if (given === null) return null;
  const word = words.find((known) => known === given.toUpperCase());
  if (word === undefined) throw badInput(`${name}: expected ${words.join(', ')}.`);
  return word;
}

function onlineOf(context: Koa.Context): boolean | null {
  const text = one(context, 'online');
  if (text !== null && text !== 'true' && text !== 'false') throw badInput('online: expected true or false.');
  return text === null ? null : text === 'true';
}

function many({ query }: Koa.Context, name: string): string[] {
  const value = query[name];
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function one(context: Koa.Context, name: string): string | null {
  const [value, another] = many(context, name);
  if (another !== undefined) throw badInput(`${name}: give it once.`);
  return value ?? null;
}

function timeOf(context: Koa.Context, name: string): number | null {
  const text = one(context, name);
  if (text === null) return null;
  const time = readRangeTime(text);
  if (time === null)
    throw badInput(`${name}: expected ISO 8601 such as 2026-01-31T12:00:00Z, or epoch seconds or milliseconds.`);
  return time;
}

/** Sends at the reader's pace; an error behind the first byte can only break the answer off. */
async function send(context: Koa.Context, { contentType, bytes }: Export, log: Logger): Promise<void> {
  const { res: response } = context;
  // An export that cannot begin says so by its status.
  const first = await bytes.next();
  let brokenBy: unknown = null;
  async function* all(): AsyncGenerator<Uint8Array> {
    if (!first.done) yield first.value;
    try {
      yield* bytes;
    } catch (error) {
      // The pipe throws its own error into what it reads when the reader has gone.
      if (!isReaderGone(error)) brokenBy = error;
      // Destroyed before the pipe does so with the error, which would count as one of the connection.
      response.destroy();
      throw error;
    }
  }
  const packed = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  context.respond = false;
  const source = Readable.from(all(), { objectMode: true, highWaterMark: 2 });
  try {
    if (response.destroyed) return;
    response.writeHead(200, {
      'Content-Type': contentType,
      Vary: 'Accept-Encoding, Origin',
      ...(packed ? { 'Content-Encoding': 'gzip' } : {}),
    });
    if (packed) await pipeline(source, createGzip({ level: GZIP_LEVEL, flush: constants.Z_NO_FLUSH }), response);
    else await pipeline(source, response);
  } catch (error) {
    if (brokenBy !== null) noteBreak(brokenBy, log);
    else if (!isReaderGone(error)) log.warn({ err: error }, 'the connection of an export broke');
    response.destroy();
  } finally {
    // A pipe that was never begun does not end it, and it would count as under way for ever.
    bytes.return(undefined).catch(() => {});
  }
}

function isReaderGone(error: unknown): boolean {
  return (error as { code?: string }).code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** Logs an export that broke off; a right that has ended, or a deleted product, is no mistake of the server's. */
function noteBreak(error: unknown, log: Logger): void {
  const known = asAppError(error);
  if (known === null) log.error({ err: error }, 'an export broke off');
  else if (known.cause !== undefined) log.warn({ err: known.cause }, 'an export broke off');
  else log.info({ code: known.code, reason: known.message }, 'an export broke off');
}
