import { AppError } from '../errors.ts';

/** All together: connections are many, memory is not. */
const MAX_BYTES = 128 << 20;

interface Coming {
  bytes: number;
  giveUp: (error: AppError) => void;
}

/**
 * What requests may keep in memory, all together, from the first piece of a body until the answer. When there is too
 * much, those give way that have been coming in for longest: who means well is done in a moment.
 */
export class BodyMemory {
  /** Oldest first. */
  readonly #coming = new Map<object, Coming>();
  readonly #complete = new Map<object, number>();
  #bytes = 0;

  /** What has come of somebody's body so far; `giveUp` lets go of it. */
  hold(owner: object, bytes: number, giveUp: (error: AppError) => void): void {
    const known = this.#coming.get(owner);
    this.#bytes += bytes - (known?.bytes ?? 0);
    if (known === undefined) this.#coming.set(owner, { bytes, giveUp });
    else known.bytes = bytes;
    this.#makeRoom();
  }

  /** It has come in full, and takes so much. Throws OVERLOADED. */
  keep(owner: object, bytes: number): void {
    this.release(owner);
    this.#complete.set(owner, bytes);
    this.#bytes += bytes;
    this.#makeRoom();
    if (this.#bytes <= MAX_BYTES) return;
    this.release(owner);
    throw tooMuch();
  }

  /** It is done with, if there was any. */
  release(owner: object): void {
    if (this.#bytes === 0) return;
    this.#bytes -= (this.#coming.get(owner)?.bytes ?? 0) + (this.#complete.get(owner) ?? 0);
    this.#coming.delete(owner);
    this.#complete.delete(owner);
  }

  #makeRoom(): void {
    for (const [owner, { giveUp }] of this.#coming) {
      if (this.#bytes <= MAX_BYTES) return;
      this.release(owner);
      giveUp(tooMuch());
    }
  }
}

function tooMuch(): AppError {
  return new AppError('OVERLOADED', 'Too much is being sent to this server at once; send it again in a moment.');
}
