interface SweeperOptions {
  /** Time between two sweeps. */
  everyMs: number;
  /** Sweeps once; ends early if `isStopping` returns true. */
  sweep: (isStopping: () => boolean) => Promise<void>;
  /** Called with the error of a failed sweep, which is retried after `RETRY_MS`. */
  onError: (error: unknown) => void;
}

/** Delay after a failed sweep: the database may be away. */
const RETRY_MS = 10_000;

/** Deletes old rows at start and then periodically, one sweep at a time. */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #timer: NodeJS.Timeout;
  #retry: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | null = null;
  #stopped = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.sweep(), options.everyMs);
    this.#timer.unref();
    void this.sweep();
  }

  /** Resolves when a sweep, perhaps one already running, is done; never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#run().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /** Waits for a running sweep, which ends early. Stop the sweeper before the store. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
    await this.#sweeping;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#retry);
    try {
      await this.#options.sweep(() => this.#stopped);
    } catch (error) {
      this.#options.onError(error);
      if (!this.#stopped) this.#retry = setTimeout(() => void this.sweep(), RETRY_MS).unref();
    }
  }
}
