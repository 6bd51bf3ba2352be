import { type Duplex, PassThrough } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import type Koa from 'koa';
import type { Access } from '../domain/access/access.ts';
import type { DeviceFinder } from '../domain/ingest-cache/device-finder.ts';
import type { DeviceInfo } from '../domain/ingest-cache/ingest-cache.ts';
import { NameIndex } from '../domain/text/name-index.ts';
import { FileText } from '../domain/transfer/file-text.ts';
import type { Importer } from '../domain/transfer/importer.ts';
import { type ImportOptions, readColumns } from '../domain/transfer/import-options.ts';
import { ZoneOffsets } from '../domain/times/zone-offsets.ts';
import { runAs } from '../scheduling/current-caller.ts';
import { AppError, badInput } from '../errors.ts';
import { nothingCame, SenderGone } from './body.ts';
import { keepOwnTime } from './own-time.ts';
import type { TokenHandler } from './routes.ts';

interface ImportRouteDeps {
  devices: DeviceFinder;
  importer: Importer;
  /** Milliseconds in which nothing of a file may come. */
  idleMs: number;
}

const KINDS = new Map([
  ['text/csv', 'csv'],
  ['application/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
] as const);

const UNPACKERS = new Map<string, () => Duplex>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
]);

const NAMES = new NameIndex(['dryRun', 'columns', 'timeZone']);

/** `POST /v1/devices/<device>/import` (CONTRACT 8): the device of the URL counts, whatever the lines name. */
export function deviceImportRoute(deps: ImportRouteDeps): TokenHandler {
  return async (context, access) => {
    const device = await deps.devices.named(access, (context['params'] as { device: string }).device, 'CONFIGURE');
    await receive(deps, context, access, device);
  };
}

/** `POST /v1/import` (CONTRACT 8): each line names its device. */
export function importRoute(deps: ImportRouteDeps): TokenHandler {
  return async (context, access) => {
    access.workspaceIdsWith('CONFIGURE');
    await receive(deps, context, access, null);
  };
}

async function receive(
  { importer, idleMs }: ImportRouteDeps,
  context: Koa.Context,
  access: Access,
  device: DeviceInfo | null,
): Promise<void> {
  const type = context.get('content-type').split(';')[0]?.trim().toLowerCase() ?? '';
  const kind = KINDS.get(type as 'text/csv');
  if (kind === undefined)
    throw new AppError(
      'INVALID_BODY',
      'Content-Type must be text/csv or application/x-ndjson: it says how to read the body.',
    );
  const options = { kind, ...readOptions(context) };
  const text = fileText(context, idleMs);
  context.body = await runAs(access, () => importer.run(access, options, device, text));
}

function readOptions(context: Koa.Context): Omit<ImportOptions, 'kind'> {
  // A slip in "dryRun" would store the file. Other names are passed over, as they were before there were any.
  for (const name of Object.keys(context.query)) {
    const meant = NAMES.nearest(name);
    if (meant !== null && meant !== name)
      throw badInput(`There is no parameter "${name.slice(0, 64)}"; is "${meant}" meant?`);
  }
  const dryRun = one(context, 'dryRun') ?? 'false';
  if (dryRun !== 'true' && dryRun !== 'false') throw badInput('dryRun: expected true or false.');
  const timeZone = one(context, 'timeZone');
  if (timeZone !== null) ZoneOffsets.of(timeZone);
  return { dryRun: dryRun === 'true', timeZone, columns: readColumns(one(context, 'columns') ?? '') };
}

/** The parameter; null: left out. */
function one({ query }: Koa.Context, name: string): string | null {
  const value = query[name];
  if (Array.isArray(value)) throw badInput(`${name}: give it once.`);
  return value ?? null;
}

/**
 * The body of a request as text, unpacked, in pieces; `idleMs`: milliseconds in which nothing of it may come. Throws
 * INVALID_BODY for a packing or charset that is not known.
 */
export function fileText(context: Koa.Context, idleMs: number): AsyncGenerator<string> {
  const encoding = context.get('content-encoding').trim().toLowerCase();
  // Brotli takes up to 16 MB for each file that it unpacks, the others 32 kB.
  if (encoding === 'br')
    throw new AppError(
      'INVALID_BODY',
      'Content-Encoding br is not taken here: send the file by gzip, deflate, or as it is.',
    );
  return textOf(context, { encoding, idleMs, text: new FileText(context.get('content-type')) });
}

/** The body as text, unpacked, in pieces. */
async function* textOf(
  { req: request, res: response }: Koa.Context,
  { encoding, idleMs, text }: { encoding: string; idleMs: number; text: FileText },
): AsyncGenerator<string> {
  // Closed while it waited for its turn.
  if (response.destroyed) throw new SenderGone();
  const stream = request.pipe(UNPACKERS.get(encoding)?.() ?? new PassThrough());
  // A sender that waits for no answer has gone, also when the whole file is here; and so has one that has closed its
  // side (connections.ts).
  const gone = (): unknown => stream.destroy(new SenderGone());
  const { socket } = request;
  socket.once('end', gone);
  response.once('close', () => {
    socket.off('end', gone);
    gone();
  });
  keepOwnTime(request, idleMs, () => stream.destroy(nothingCame(idleMs)));
  try {
    for await (const chunk of stream) yield text.read(chunk as Buffer);
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('Z_'))
      throw new AppError('INVALID_BODY', `The body is not valid ${encoding}, as its Content-Encoding says.`);
    throw error;
  } finally {
    // Stops before the answer: the rest of the body is dropped behind it.
    request.unpipe(stream);
  }
  yield text.end();
}
