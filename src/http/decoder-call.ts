import type { IncomingMessage } from 'node:http';
import { type Answer, inVainOf } from '../domain/receiving/webhook-receiver.ts';
import type { Wasted } from '../scheduling/invalid-input-throttle.ts';
import { type DecoderRequest, parseParameters } from '../domain/decoders/decoder-request.ts';
import { headerList } from '../domain/decoders/header-names.ts';
import { requestBodyText } from '../domain/decoders/request-body.ts';
import type { ServerResponse } from 'node:http';
import { commonHeaders } from './error-responder.ts';

/** Bytes of a usual head, with the headers of proxies and the tokens of platforms. */
const USUAL_HEAD = 4_096;
/** Weight of the head's bytes: they cost more than those of a body. */
const HEAD_COUNTS = 2;

/** A call's URL as sent, from `root` on: a prefix is a proxy's, not the sender's. Path without the query. */
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

/** Bytes of the head beyond the usual: it is parsed, logged and shown to the decoder, name by name. */
export function bytesOfHead({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = url.length;
  for (const part of rawHeaders) bytes += part.length;
  return Math.max(0, bytes - USUAL_HEAD) * HEAD_COUNTS;
}

/** The part of a call that was sent in vain: the head beyond the usual always is. */
export function callInVain(answer: Answer, body: number, head: number, beside: number): Wasted {
  const { part, entries } = inVainOf(answer, body, beside);
  return { part: body + head === 0 ? part : (part * body + head) / (body + head), entries };
}

/** Policy for a decoder's own answers on our origin: a browser may only show them, as a console may be open beside. */
const NO_PAGE = { 'Content-Security-Policy': "default-src 'none'; sandbox" };

/** Writes past Koa: every layer here costs. */
export function respondToCall(response: ServerResponse, { status, body, contentType }: Answer): void {
  if (response.destroyed) return;
  const type = contentType === undefined ? { 'Content-Type': 'application/json' } : typeOfOwn(contentType);
  // An answer without a body by its status must not have a length.
  const length = status === 204 ? {} : { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...type, ...length, ...commonHeaders(response) });
  response.end(body);
}

function typeOfOwn(contentType: string | null): Record<string, string> {
  return contentType === null ? {} : { 'Content-Type': contentType, ...NO_PAGE };
}
