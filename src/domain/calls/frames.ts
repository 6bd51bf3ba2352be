import { lruCache } from '../../scheduling/lru-cache.ts';

/** Within this time the same frame is a copy, in ms. */
export const FRAME_WINDOW_MS = 600_000;
/** In memory of a node: some 200 bytes each. Beyond 160 frames a second a copy is known for less than ten minutes. */
const MAX_FRAMES = 100_000;

/** What a call may do with its frame: store it and say how that went, or nothing, as another call has stored it. */
export type FrameClaim = { storedBy: string } | { settle: (isStored: boolean) => void };

/** Which frames were stored within the last ten minutes, and by which call (CONTRACT 6). */
export interface Frames {
  /**
   * The frame is this call's until that settles it, unless another has stored it. Waits for another that is about to.
   * `at`: when the call was received, in ms UTC.
   */
  claim(frame: string, at: number, callId: string): Promise<FrameClaim>;
  /** Takes a frame in that the log says was stored. */
  note(frame: string, at: number, callId: string): void;
}

interface Known {
  at: number;
  callId: string;
  /** Resolves when its call has settled it; null: it is stored. */
  underWay: Promise<void> | null;
}

/** Of one node, in memory. */
export class LocalFrames implements Frames {
  readonly #known = lruCache<string, Known>(MAX_FRAMES);

  async claim(frame: string, at: number, callId: string): Promise<FrameClaim> {
    for (;;) {
      const known = this.#known.get(frame);
      // Done again it is the same call: an adoption that was cut off goes on.
      if (known === undefined || known.callId === callId || Math.abs(at - known.at) > FRAME_WINDOW_MS)
        return this.#begin(frame, at, callId);
      if (known.underWay === null) return { storedBy: known.callId };
      await known.underWay;
    }
  }

  note(frame: string, at: number, callId: string): void {
    if (this.#known.get(frame) === undefined) this.#known.set(frame, { at, callId, underWay: null });
  }

  #begin(frame: string, at: number, callId: string): FrameClaim {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own: Known = { at, callId, underWay: promise };
    this.#known.set(frame, own);
    return {
      settle: (isStored) => {
        own.underWay = null;
        if (!isStored && this.#known.get(frame) === own) this.#known.delete(frame);
        resolve();
      },
    };
  }
}
