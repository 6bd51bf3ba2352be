import type { IncomingMessage } from 'node:http';
import { type Answer, inVainOf } from '../domain/receiving/webhook-receiver.ts';
import type { Wasted } from '../scheduling/invalid-input-throttle.ts';
import { type DecoderRequest, parseParameters } from '../domain/decoders/decoder-request.ts';
import { headerList } from '../domain/decoders/header-names.ts';
import { requestBodyText } from '../domain/decoders/request-body.ts';
import type { ServerResponse } from 'node:http';
import { commonHeaders } from './error-responder.ts';

/** In bytes: proxies add theirs, platforms tokens of their own. */
const USUAL_HEAD = 4_096;
/** Bytes of it cost more than those of a body: 12 KB of headers take 1.3 ms, 14 KB of parameters 0.5. */
const HEAD_COUNTS = 2;

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

/**
 * What the head has beyond what senders usually send, as bytes of a body: it is parsed, logged and shown to the decoder, name
 * by name.
 */
export function bytesOfHead({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = url.length;
  for (const part of rawHeaders) bytes += part.length;
  return Math.max(0, bytes - USUAL_HEAD) * HEAD_COUNTS;
}

/** What a call was sent for in vain: the head beyond the usual always is. */
export function callInVain(answer: Answer, body: number, head: number, beside: number): Wasted {
  const { part, entries } = inVainOf(answer, body, beside);
  return { part: body + head === 0 ? part : (part * body + head) / (body + head), entries };
}

/**
 * What a browser may do with an answer of somebody's own on our origin: show it, and nothing else; a console may be open
 * beside it.
 */
const NO_PAGE = { 'Content-Security-Policy': "default-src 'none'; sandbox" };

/** Tiny, written past Koa: every layer here costs. */
export function respondToCall(response: ServerResponse, { status, body, contentType }: Answer): void {
  if (response.destroyed) return;
  const type = contentType === undefined ? { 'Content-Type': 'application/json' } : typeOfOwn(contentType);
  // No length may be said of an answer that has no body by its status.
  const length = status === 204 ? {} : { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...type, ...length, ...commonHeaders(response) });
  response.end(body);
}

function typeOfOwn(contentType: string | null): Record<string, string> {
  return contentType === null ? {} : { 'Content-Type': contentType, ...NO_PAGE };
}
