import type { IncomingMessage } from 'node:http';
import type { Answer } from '../domain/calls/webhook-receiver.ts';
import { type DecoderRequest, parseParameters } from '../domain/decoders/decoder-request.ts';
import { headerList } from '../domain/decoders/header-names.ts';
import { requestBodyText } from '../domain/decoders/request-body.ts';
import type { ServerResponse } from 'node:http';
import { commonHeaders } from './error-responder.ts';

/** A call's URL as sent, from `root` on: whatever a proxy put before it is not the sender's. Path without the query. */
export function splitUrl(url: string, root: string): { path: string; query: string } {
  const at = url.indexOf('?');
  const whole = at < 0 ? url : url.slice(0, at);
  const start = whole.indexOf(root);
  return { path: start < 0 ? whole : whole.slice(start), query: at < 0 ? '' : url.slice(at + 1) };
}

/** The call as decoders see it. */
export function decoderRequestOf(request: IncomingMessage, path: string, query: string, body: Buffer): DecoderRequest {
  return {
    method: request.method ?? 'POST',
    path,
    GET: parseParameters(query),
    headers: headerList(request.rawHeaders),
    body: requestBodyText(body, request.headers['content-type']),
  };
}

/** Tiny, written past Koa: every layer here costs. */
export function respondToCall(response: ServerResponse, { status, body }: Answer): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...commonHeaders(response),
  });
  response.end(body);
}
