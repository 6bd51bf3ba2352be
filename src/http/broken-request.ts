import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { must } from '../must.ts';

/** Error of Node's parser for bytes that are no request. */
export interface ParserError {
  code?: string;
  /** The parser's reason, in fixed words. */
  reason?: string;
}

/** The code of a request that did not come to its end in time. */
export const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT';
/** A CONNECT, which Node hands over as no request. */
export const TUNNEL: ParserError = { code: 'TUNNEL' };

/** Codes that are not simply 400, with their words. */
const KNOWN = new Map([
  ['HPE_HEADER_OVERFLOW', { status: 431, detail: 'The headers are too long.' }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { status: 413, detail: 'The extensions of the chunks are too long.' }],
  [
    'HPE_INVALID_EOF_STATE',
    {
      status: 400,
      detail: 'The sender closed the connection in the middle of the request; is its Content-Length too large?',
    },
  ],
  ['TUNNEL', { status: 405, detail: 'This server is no proxy: CONNECT leads nowhere.' }],
  [TIMED_OUT, { status: 408, detail: 'The request did not come to its end in time.' }],
]);

/** Tells the sender what is wrong with bytes that are no request, and ends the connection. */
export function answerBroken(socket: Duplex, { code = '', reason }: ParserError): void {
  const { status, detail } = KNOWN.get(code) ?? {
    status: 400,
    detail:
      `What came is no HTTP request${reason === undefined ? '' : ` (${reason})`}. If it was meant to be a body, the ` +
      'Content-Length of its request is missing or too small.',
  };
  const title = must(STATUS_CODES[status]);
  const problem = { type: 'urn:inlet:problem:invalid-request', title, status, detail, code: 'INVALID_REQUEST' };
  const body = JSON.stringify(problem);
  const head = `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\n`;
  const rest = `X-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  socket.end(head + rest + body, () => socket.destroy());
}
