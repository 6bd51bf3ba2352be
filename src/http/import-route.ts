import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type Koa from 'koa';
import type { Access } from '../domain/access/access.ts';
import type { DeviceFinder } from '../domain/ingest-cache/device-finder.ts';
import type { DeviceInfo } from '../domain/ingest-cache/ingest-cache.ts';
import type { Authenticator } from '../domain/tokens/authenticator.ts';
import type { Importer } from '../domain/transfer/importer.ts';
import { worksFor } from '../domain/whose-work.ts';
import { AppError } from '../errors.ts';
import type { AnonymousRequests } from './anonymous-requests.ts';
import { authenticate } from './authenticate.ts';
import { SenderGone } from './body.ts';
import type { Handler } from './http-app.ts';

interface ImportRouteDeps {
  authenticator: Authenticator;
  anonymous: AnonymousRequests;
  devices: DeviceFinder;
  importer: Importer;
}

const KINDS = new Map([
  ['text/csv', 'csv'],
  ['application/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
] as const);

/** `POST /v1/devices/<device>/import` (CONTRACT 8): the device of the URL counts, whatever the lines name. */
export function deviceImportRoute(deps: ImportRouteDeps): Handler {
  return async (context) => {
    const access = await authenticate(context.req, deps);
    const device = await deps.devices.named(access, (context['params'] as { device: string }).device, 'CONFIGURE');
    await receive(deps, context, access, device);
  };
}

/** `POST /v1/import` (CONTRACT 8): each line names its device. */
export function importRoute(deps: ImportRouteDeps): Handler {
  return async (context) => {
    const access = await authenticate(context.req, deps);
    access.workspaceIdsWith('CONFIGURE');
    await receive(deps, context, access, null);
  };
}

async function receive(
  { importer }: ImportRouteDeps,
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
  context.body = await worksFor(access, () => importer.run(access, kind, device, textOf(context.req)));
}

/** The body as text, unpacked, in pieces. */
async function* textOf(request: IncomingMessage): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  const encoding = request.headers['content-encoding']?.trim().toLowerCase();
  try {
    const stream = unpacked(request, encoding);
    // Whoever stops reading must not end the request: its connection goes on.
    const chunks = stream === request ? request.iterator({ destroyOnReturn: false }) : stream;
    for await (const chunk of chunks) yield decoder.decode(chunk as Buffer, { stream: true });
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    // The whole file may have come in before its sender went away, and wait to be read.
    if (code === 'ECONNRESET' || (request.destroyed && !request.complete)) throw new SenderGone();
    if (code.startsWith('Z_') || /^ERR__?ERROR/.test(code))
      throw new AppError('INVALID_BODY', `The body is not valid ${encoding}, as its Content-Encoding says.`);
    throw error;
  }
  yield decoder.decode();
}

function unpacked(request: IncomingMessage, encoding: string | undefined): Readable {
  const unpack =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : null;
  if (unpack === null) return request;
  request.on('error', (error) => unpack.destroy(error));
  request.on('close', () => {
    if (!request.complete) unpack.destroy(new SenderGone());
  });
  return request.pipe(unpack);
}
