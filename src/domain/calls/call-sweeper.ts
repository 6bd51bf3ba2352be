import type { MeasurementStore } from '../measurements/store.ts';
import type { UnknownDevices } from './unknown-devices.ts';

const DAY_MS = 86_400_000;
const EVERY_MS = 600_000;

interface CallSweeperDeps {
  store: MeasurementStore;
  unknownDevices: Pick<UnknownDevices, 'forgetBefore'>;
  products: { finishDeletions: () => Promise<void> };
  /** CALL_LOG_DAYS */
  days: number;
  now: () => number;
  /** A sweep that failed is tried again with the next one. */
  onError: (error: unknown) => void;
}

/**
 * Forgets calls of the log, and unknown devices, that are too old (CONTRACT 2), and what is left of products whose
 * deletion was interrupted: at start, then every ten minutes, in small chunks.
 */
export class CallSweeper {
  readonly #deps: CallSweeperDeps;
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | null = null;

  constructor(deps: CallSweeperDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.sweep(), EVERY_MS);
    this.#timer.unref();
    void this.sweep();
  }

  /** Resolves when no call is left that was too old when it began; never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#run().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /** Waits for a sweep under way. Stop before the store. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  async #run(): Promise<void> {
    const { store, unknownDevices, products, days, now, onError } = this.#deps;
    const before = now() - days * DAY_MS;
    try {
      await products.finishDeletions();
      await store.removeCalls(before);
      await unknownDevices.forgetBefore(before);
    } catch (error) {
      onError(error);
    }
  }
}
