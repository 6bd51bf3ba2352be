import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Recorder, RecordOutcome } from '../domain/measurements/recorder.ts';
import type { DeviceFinder } from '../domain/ingest-cache/device-finder.ts';
import type { DeviceInfo } from '../domain/ingest-cache/ingest-cache.ts';
import type { Authenticator } from '../domain/tokens/authenticator.ts';
import { AppError } from '../errors.ts';
import { authenticate } from './authenticate.ts';
import { bodyText, readBody, SenderGone } from './body.ts';
import { respondWithJson, respondWithProblem, toProblem } from './error-responder.ts';
import { parseJson } from './parse-json.ts';
import { requireMethod } from './require-method.ts';

const MAX_ENTRIES = 10_000;

interface RecordRouteDeps {
  authenticator: Authenticator;
  devices: DeviceFinder;
  recorder: Recorder;
  maxBodyBytes: number;
  now: () => number;
  log: Logger;
}

/** `POST /v1/devices/<device>/record/` (CONTRACT 3): works on the bare request, because every layer here costs. */
export class RecordRoute {
  readonly #deps: RecordRouteDeps;

  constructor(deps: RecordRouteDeps) {
    this.#deps = deps;
  }

  /** `encodedName`: as it stands in the URL. Answers whatever happens; never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse, encodedName: string): Promise<void> {
    try {
      requireMethod(request.method, ['POST']);
      const { recorder, maxBodyBytes, now } = this.#deps;
      const deviceName = decoded(encodedName);
      await this.#authorised(request, deviceName);
      const body = await readBody(request, maxBodyBytes);
      // A body may take its time: what has been revoked or deleted meanwhile stores nothing.
      const device = await this.#authorised(request, deviceName);
      const receivedAt = now();
      const entries = readEntries(bodyText(body));
      const outcome = await recorder.record(device, entries, { limited: true, receivedAt });
      answer(response, outcome, device.writeIntervalMs);
    } catch (error) {
      if (error instanceof SenderGone) return;
      respondWithProblem(response, toProblem(error, this.#deps.log), {
        stored: 0,
        rejected: error instanceof AppError ? (error.details['rejected'] ?? []) : [],
      });
    }
  }

  /** The device that the request's token may record for; from memory, as a rule. */
  async #authorised(request: IncomingMessage, deviceName: string): Promise<DeviceInfo> {
    const { authenticator, devices } = this.#deps;
    const access = await authenticate(request, authenticator);
    return devices.cached(access, deviceName) ?? devices.forRecording(access, deviceName);
  }
}

/** A name that is no valid percent-encoding is no device's name either. */
function decoded(name: string): string {
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The shape decides: an array of entries, or one entry. */
function readEntries(text: string): unknown[] {
  const body = parseJson(text);
  if (!Array.isArray(body)) {
    if (typeof body === 'object' && body !== null) return [body];
    throw new AppError(
      'INVALID_BODY',
      `The body must be a JSON array of entries or one entry object, not ${body === null ? 'null' : `a ${typeof body}`}.`,
    );
  }
  if (body.length > MAX_ENTRIES)
    throw new AppError(
      'TOO_MANY_ENTRIES',
      `${body.length} entries are over the limit of ${MAX_ENTRIES}; send them in parts.`,
      {
        details: { limit: MAX_ENTRIES },
      },
    );
  return body;
}

function answer(response: ServerResponse, outcome: RecordOutcome, writeIntervalMs: number): void {
  const { stored, rejected } = outcome;
  if (rejected.length === 0) {
    const text = `{"stored":${stored},"rejected":[]}`;
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
    response.end(text);
    return;
  }
  if (stored > 0) {
    respondWithJson(response, 207, { stored, rejected });
    return;
  }
  if (rejected.every(({ code }) => code === 'RATE_LIMITED'))
    throw new AppError('RATE_LIMITED', 'Every entry is over the write limit; none was stored.', {
      details: { rejected, retryAfterSeconds: Math.max(1, Math.ceil(writeIntervalMs / 1000)) },
    });
  throw new AppError('NOTHING_STORED', 'No entry could be stored; "rejected" says why for each of them.', {
    details: { rejected },
  });
}
