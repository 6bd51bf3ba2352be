interface SweeperOptions {
  /** From one sweep to the next. */
  everyMs: number;
  /** One sweep; ends early when it is told to. */
  sweep: (isStopping: () => boolean) => Promise<void>;
  /** A sweep that failed is tried again soon. */
  onError: (error: unknown) => void;
}

/** After a sweep that failed: the database may just have been away. */
const RETRY_MS = 10_000;

/** Forgets what is old: at start, then every so often, one sweep at a time. */
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

  /** Resolves when a sweep, perhaps one that was under way, is done; never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#run().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /** Waits for a sweep under way, which ends early. Stop before the store. */
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
