import { Alarm } from '../../scheduling/alarm.ts';

/** Time between two looks, less than half of a lease: looks renew leases, too. */
const LOOK_MS = 10_000;

/** Looks again and again, one look at a time, until it is stopped. */
export class RegularLook {
  readonly #look: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #alarm = new Alarm();
  #isStopped = false;
  #running: Promise<void> | null = null;

  constructor(look: () => Promise<void>, onError: (error: unknown) => void) {
    this.#look = look;
    this.#onError = onError;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Looks now. */
  wake(): void {
    this.#alarm.ring();
  }

  /** Resolves when the last look is over. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#alarm.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#look().catch(this.#onError);
      await this.#alarm.sleep(LOOK_MS);
    }
  }
}
