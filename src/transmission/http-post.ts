import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { OutgoingRequest, TransmissionResult } from '../domain/ports/transmitter.ts';
import { type AddressSettings, refusalOf } from './address-rules.ts';
import type { FindAddresses } from './host-addresses.ts';
import { must } from '../must.ts';

/** Maximum time from the look-up of the host to the end of the answer. */
export const ANSWER_MS = 15_000;
/** Maximum bytes read of an answer. */
const MAX_ANSWER = 4_096;
/** How long an unused connection is kept, and how many per host. */
const IDLE_MS = 10_000;
const IDLE_PER_HOST = 4;
const DAY_MS = 86_400_000;

/** Own connections: a proxy of the environment is not used, as the addresses could not be judged. */
const connections = { keepAlive: true, maxFreeSockets: IDLE_PER_HOST, timeout: IDLE_MS };

interface HttpPostOptions extends AddressSettings {
  addressesOf: FindAddresses;
}

/** Posts to receivers (CONTRACT 13): to the very addresses that were judged, without following redirects. */
export class HttpPost {
  readonly #options: HttpPostOptions;
  readonly #http = new HttpAgent(connections);
  readonly #https = new HttpsAgent(connections);

  constructor(options: HttpPostOptions) {
    this.#options = options;
  }

  /** Never rejects; done is a 2xx. */
  async post(request: OutgoingRequest): Promise<TransmissionResult> {
    const timeout = AbortSignal.timeout(ANSWER_MS);
    try {
      return await this.#try(request, timeout).catch((error: unknown) => {
        // The receiver had just closed a connection that was kept: nothing of the request was read.
        if (!(error as { wasKept?: boolean }).wasKept || timeout.aborted) throw error;
        return this.#try(request, timeout);
      });
    } catch (error) {
      return failed(timeout.aborted ? `No answer within ${ANSWER_MS / 1000} s.` : reasonOf(error));
    }
  }

  /** Closes the connections that are kept. */
  stop(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  async #try({ url, headers, body }: OutgoingRequest, timeout: AbortSignal): Promise<TransmissionResult> {
    const target = new URL(url);
    const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
    const addresses = await orAborted(this.#options.addressesOf(host), timeout);
    const refusal = refusalOf(host, addresses, this.#options);
    if (refusal !== null) return failed(refusal);
    const isSecure = target.protocol === 'https:';
    const options = {
      method: 'POST',
      agent: isSecure ? this.#https : this.#http,
      // Not looked up again: between two look-ups the addresses could change.
      lookup: lookupOf(addresses),
      signal: timeout,
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'User-Agent': 'Inlet',
        // Never unpacked, however little of it is read.
        'Accept-Encoding': 'identity',
        ...headers,
      },
    };
    return new Promise((resolve, reject) => {
      const sent: ClientRequest = (isSecure ? requestHttps : requestHttp)(target, options);
      sent.on('response', (response) => void readAnswer(response).then(resolve, reject));
      sent.on('error', (error: NodeJS.ErrnoException) =>
        reject(Object.assign(error, { wasKept: sent.reusedSocket && error.code === 'ECONNRESET' })),
      );
      sent.end(body);
    });
  }
}

/** The result of a call that was not answered. */
export function failed(error: string): TransmissionResult {
  return { isDone: false, httpStatus: null, error, answer: null, retryAfterMs: null };
}

/** A text as PostgreSQL can keep it, of at most the bytes of an answer. */
export function keptText(text: string): string {
  return text.slice(0, MAX_ANSWER).replaceAll('\0', '\uFFFD').toWellFormed();
}

/** The status counts, also when the rest of the answer never comes. */
async function readAnswer(response: IncomingMessage): Promise<TransmissionResult> {
  const { statusCode = 0, headers } = response;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Leaving the loop closes the connection.
      if (bytes >= MAX_ANSWER) break;
    }
  } catch {
    // Cut off, or too slow.
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  const isDone = statusCode >= 200 && statusCode < 300;
  const text = Buffer.concat(chunks).subarray(0, MAX_ANSWER).toString('utf8');
  return {
    isDone,
    httpStatus: statusCode,
    error: statusCode >= 300 && statusCode < 400 ? `Redirects are not followed (${redirectOf(headers)}).` : null,
    answer: encoding === 'identity' ? keptText(text) : `(${keptText(encoding).slice(0, 40)}, not unpacked)`,
    retryAfterMs: isDone ? null : retryAfter(headers['retry-after']),
  };
}

function redirectOf({ location }: { location?: string | undefined }): string {
  return location === undefined ? 'without a Location' : `to ${keptText(location).slice(0, 200)}`;
}

/** Seconds or an HTTP date, as ms from now; null for anything else. */
function retryAfter(given: string | undefined): number | null {
  if (given === undefined) return null;
  const ms = /^\d{1,9}$/.test(given.trim()) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isFinite(ms) ? Math.min(DAY_MS, Math.max(0, ms)) : null;
}

/** Gives a connection the addresses that were judged. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  return (_host, options, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    if (options.all === true) callback(null, found);
    else callback(null, must(found[0]).address, must(found[0]).family);
  };
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function reasonOf(error: unknown): string {
  // Several refused addresses are one error without a message.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const reasons = errors.map((each) => (each instanceof Error ? each.message : String(each)));
  return keptText([...new Set(reasons)].join('; ')).slice(0, 500);
}
