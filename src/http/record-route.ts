import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { PATHS } from '../domain/access/path-rights.ts';
import { bytesOfTexts, inVainOf, mostEntriesIn, readEntries, verdictOf } from '../domain/measurements/record-body.ts';
import type { Recorder, RecordOutcome } from '../domain/measurements/recorder.ts';
import { bodyText } from '../domain/text/body-text.ts';
import type { DeviceFinder } from '../domain/ingest-cache/device-finder.ts';
import type { DeviceInfo } from '../domain/ingest-cache/ingest-cache.ts';
import { runAs } from '../scheduling/current-caller.ts';
import type { InvalidInputThrottle, Wasted } from '../scheduling/invalid-input-throttle.ts';
import type { Authenticator } from '../domain/accounts/authenticator.ts';
import { AppError } from '../errors.ts';
import type { AnonymousRequests } from './anonymous-requests.ts';
import { authenticate, secretHashOf } from './authenticate.ts';
import { type BodyBounds, isSenderGone, readBody, SenderGone } from './body.ts';
import { commonHeaders, respondWithJson, respondWithProblem, retryAfter, toProblem } from './error-responder.ts';
import type { RequestTurns } from './request-turns.ts';
import { requireHost, requireMethod } from './require.ts';

const ROW = PATHS['/v1/devices/:device/record'];
/** Parameter of senders that take everything but 200 for a failure. */
const ASKS_200 = /[?&]answer=200(?:&|$)/;

interface RecordRouteDeps {
  authenticator: Authenticator;
  anonymous: AnonymousRequests;
  devices: DeviceFinder;
  recorder: Recorder;
  bounds: BodyBounds;
  refused: InvalidInputThrottle;
  turns: RequestTurns;
  now: () => number;
  log: Logger;
}

/** `POST /v1/devices/<device>/record/` (CONTRACT 3): works on the bare request, because every layer here costs. */
export class RecordRoute {
  readonly #deps: RecordRouteDeps;

  constructor(deps: RecordRouteDeps) {
    this.#deps = deps;
  }

  /** Answers a request; `encodedName`: the name in the URL. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse, encodedName: string): Promise<void> {
    try {
      requireHost(request);
      requireMethod(request.method, ROW.methods);
      const { recorder, bounds, refused, turns, now } = this.#deps;
      const deviceName = decoded(encodedName);
      const first = this.#known(request, deviceName) ?? (await this.#authorised(request, deviceName));
      const { tokenId } = first;
      const tenant = first.device.workspaceId;
      const body = await readBody(request, bounds, { tenant, tokenId });
      // A body may take its time: a token or device that has gone meanwhile stores nothing.
      const record = async (): Promise<Recorded> => {
        const { device } = this.#stands(first) ? first : await this.#authorised(request, deviceName);
        const receivedAt = now();
        const entries = readEntries(bodyText(body, request.headers['content-type']));
        const ofTexts = bytesOfTexts(entries, body.length);
        const recheck = async (): Promise<DeviceInfo> => (await this.#authorised(request, deviceName)).device;
        const outcome = await recorder.record(device, entries, { limited: true, receivedAt, recheck });
        return { outcome, inVain: inVainOf(outcome, body.length, ofTexts), device };
      };
      const sent = {
        tenant,
        source: tokenId,
        bytes: body.length,
        maxEntries: mostEntriesIn(body.length),
        isAbandoned: (): boolean => isSenderGone(request),
      };
      const recorded = await refused.run(
        sent,
        () => turns.run({ tenant, tokenId }, record),
        ({ inVain }) => inVain,
      );
      answer(response, recorded, ASKS_200.test(request.url ?? ''));
    } catch (error) {
      if (error instanceof SenderGone) return;
      const problem = toProblem(error, this.#deps.log, response);
      const rejected = error instanceof AppError ? (error.details['rejected'] ?? []) : [];
      const counts = { 'Inlet-Stored': '0', 'Inlet-Rejected': String((rejected as unknown[]).length) };
      Object.assign(problem.headers, counts);
      respondWithProblem(response, problem, { stored: 0, rejected });
    }
  }

  /** The device that the request's token may record for, when both are in memory: no promise for what is known. */
  #known(request: IncomingMessage, deviceName: string): Authorised | null {
    const { authenticator, devices } = this.#deps;
    const hashed = secretHashOf(request);
    const access = hashed === null ? null : authenticator.cachedByHash(hashed);
    const device = access === null ? null : devices.cached(access, deviceName);
    if (access === null || device === null) return null;
    const [tokens, found] = [authenticator.revision, devices.revision];
    return { device, tokens, found, tokenId: access.tokenId, expires: access.expiresAt !== null };
  }

  async #authorised(request: IncomingMessage, deviceName: string): Promise<Authorised> {
    const { authenticator, devices } = this.#deps;
    const tokens = authenticator.revision;
    const found = devices.revision;
    const access = await authenticate(request, this.#deps);
    const device = await runAs(access, () => devices.forRecording(access, deviceName));
    return { device, tokens, found, tokenId: access.tokenId, expires: access.expiresAt !== null };
  }

  /** Whether the grant still holds: two numbers compared instead of a hash and three look-ups for every request. */
  #stands({ tokens, found, expires }: Authorised): boolean {
    const { authenticator, devices } = this.#deps;
    return !expires && tokens === authenticator.revision && found === devices.revision;
  }
}

/** A grant, and the revisions of what it was read from. */
interface Authorised {
  device: DeviceInfo;
  tokens: number;
  found: number;
  tokenId: string;
  expires: boolean;
}

interface Recorded {
  outcome: RecordOutcome;
  inVain: Wasted;
  device: DeviceInfo;
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

/** `asks200`: the sender knows no other success, nor may its product's others. */
function answer(response: ServerResponse, { outcome, device }: Recorded, asks200: boolean): void {
  const { stored, rejected, ahead } = outcome;
  const { writeIntervalMs, product } = device;
  if (rejected.length === 0) {
    const text = `{"stored":${stored},"rejected":[]${ahead === undefined ? '' : `,"ahead":${JSON.stringify(ahead)}`}}`;
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': text.length,
      'Inlet-Stored': stored,
      'Inlet-Rejected': 0,
      ...commonHeaders(response),
    });
    response.end(text);
    return;
  }
  const verdict = verdictOf(outcome);
  const retryAfterSeconds = Math.max(1, Math.ceil(writeIntervalMs / 1000));
  if (verdict === 'some') {
    const counts = { 'Inlet-Stored': String(stored), 'Inlet-Rejected': String(rejected.length) };
    const isLimited = rejected.some(({ code }) => code === 'RATE_LIMITED');
    const headers = isLimited ? { ...counts, ...retryAfter(retryAfterSeconds) } : counts;
    respondWithJson(response, asks200 || product.answers.always200 ? 200 : 207, outcome, headers);
    return;
  }
  if (verdict === 'limited')
    throw new AppError('RATE_LIMITED', 'Every entry is over the write limit; none was stored.', {
      details: { rejected, retryAfterSeconds },
    });
  throw new AppError('NOTHING_STORED', 'No entry could be stored; "rejected" says why for each of them.', {
    details: { rejected },
  });
}
