import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** What Node's parser says of bytes that it could not read as a request. */
export interface ParserError {
  code?: string;
  /** Of the parser, in fixed words. */
  reason?: string;
}

/** The code of a request that did not come to its end in time. */
export const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT';
/** A CONNECT, which Node hands over as no request. */
export const TUNNEL: ParserError = { code: 'TUNNEL' };

/** Those that are not simply 400, with the words for them. */
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

/** Tells the sender of what is no request what is wrong, where Node's own answer has no words, and ends the connection. */
export function answerBroken(socket: Duplex, { code = '', reason }: ParserError): void {
  const { status, detail } = KNOWN.get(code) ?? {
    status: 400,
    detail:
      `What came is no HTTP request${reason === undefined ? '' : ` (${reason})`}. If it was meant to be a body, the ` +
      'Content-Length of its request is missing or too small.',
  };
  const title = STATUS_CODES[status]!;
  const problem = { type: 'urn:inlet:problem:invalid-request', title, status, detail, code: 'INVALID_REQUEST' };
  const body = JSON.stringify(problem);
  const head = `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\n`;
  const rest = `X-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  socket.end(head + rest + body, () => socket.destroy());
}
