import type { Database } from '../database.ts';
import { DeviceSchema } from '../entities/device.ts';
import type { MeasurementStore } from '../measurements/store.ts';
import { PLANS } from './plans.ts';

const DAY_MS = 86_400_000;
const EVERY_MS = 6 * 3_600_000;
const DEVICES_A_PAGE = 500;

interface RetentionSweeperDeps {
  database: Database;
  store: Pick<MeasurementStore, 'dropOlderThan'>;
  /** ms UTC. */
  now: () => number;
  /** A sweep that failed is tried again with the next one. */
  onError: (error: unknown) => void;
}

/**
 * Forgets measurements that are older than the plan of their device keeps them (CONTRACT 1): at start, then every six
 * hours, plan by plan, in the store's small slices. The newest value of each field stays.
 */
export class RetentionSweeper {
  readonly #deps: RetentionSweeperDeps;
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | null = null;
  #stopped = false;

  constructor(deps: RetentionSweeperDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.sweep(), EVERY_MS);
    this.#timer.unref();
    void this.sweep();
  }

  /** Resolves when every device has been looked at; never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#run().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /** Waits for the devices under way. Stop before the store. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  async #run(): Promise<void> {
    try {
      for (const { slug, retentionDays } of PLANS)
        if (retentionDays !== null) await this.#sweepPlan(slug, this.#deps.now() - retentionDays * DAY_MS);
    } catch (error) {
      this.#deps.onError(error);
    }
  }

  async #sweepPlan(plan: string, before: number): Promise<void> {
    const { database, store } = this.#deps;
    for (let after = 0; !this.#stopped;) {
      const page = await database
        .read()
        .find(DeviceSchema, { plan, key: { $gt: after } }, { fields: ['key'], orderBy: { key: 'asc' }, limit: DEVICES_A_PAGE }); // prettier-ignore
      for (const { key } of page) if (!this.#stopped) await store.dropOlderThan([key], before);
      if (page.length < DEVICES_A_PAGE) return;
      after = page.at(-1)!.key;
    }
  }
}
