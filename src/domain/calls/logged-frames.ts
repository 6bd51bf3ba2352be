import { lruCache } from '../../scheduling/lru-cache.ts';
import { requestOfCall } from '../decoders/decoder-request.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { CallRow, MeasurementStore } from '../ports/store.ts';
import { frameDigest } from '../networks/frame.ts';
import { networkOfPath, readNetworkCall } from '../networks/network-call.ts';
import { FRAME_WINDOW_MS, type FrameClaim, type Frames } from './frames.ts';

/** Of a product, the newest before the start: more are read by nobody's frame. */
const MAX_READ = 200;
/** Of which it is remembered that their log has been read. */
const MAX_PRODUCTS = 10_000;

interface LoggedFramesDeps {
  frames: Frames;
  store: Pick<MeasurementStore, 'calls'>;
  now: () => number;
}

/**
 * Which call has stored a frame of a product: as `Frames` knows, and, of the time before this process started, as the call
 * log tells, where a network sends again what it has no answer to.
 */
export class LoggedFrames {
  readonly #deps: LoggedFramesDeps;
  readonly #startedAt: number;
  readonly #read = lruCache<number, Promise<void>>(MAX_PRODUCTS);

  constructor(deps: LoggedFramesDeps) {
    this.#deps = deps;
    this.#startedAt = deps.now();
  }

  /** As `Frames.claim`, with a digest that is one of the workspace's devices'. */
  async claim(
    { key, workspaceId }: ProductInfo,
    digest: string,
    { id, at }: { id: string; at: number },
  ): Promise<FrameClaim> {
    const { frames } = this.#deps;
    if (at < this.#startedAt + FRAME_WINDOW_MS) {
      let reading = this.#read.get(key);
      if (reading === undefined) this.#read.set(key, (reading = this.#readLog(key, workspaceId)));
      await reading;
    }
    return frames.claim(nameOf(workspaceId, digest), at, id);
  }

  async #readLog(productKey: number, workspaceId: string): Promise<void> {
    const { frames, store } = this.#deps;
    const [from, to] = [this.#startedAt - FRAME_WINDOW_MS, this.#startedAt];
    const query = { productKey, statuses: ['STORED' as const, 'PARTLY_STORED' as const], from, to, limit: MAX_READ };
    // Without the log nothing is known of before: no reason to refuse what comes now.
    const calls = await store.calls(query).catch((): CallRow[] => []);
    for (const call of calls) {
      const digest = digestOf(call);
      if (digest !== null) frames.note(nameOf(workspaceId, digest), call.receivedAt, call.id);
    }
  }
}

function digestOf(call: CallRow): string | null {
  const network = networkOfPath(call.path);
  if (network === null || call.bodyTruncated) return null;
  try {
    return frameDigest(readNetworkCall(network, requestOfCall(call)));
  } catch {
    return null;
  }
}

function nameOf(workspaceId: string, digest: string): string {
  return `${workspaceId}:${digest}`;
}
