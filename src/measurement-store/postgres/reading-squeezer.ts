import { setTimeout as sleep } from 'node:timers/promises';
import type { PipelinedConnection } from './postgres-connection.ts';
import { squeezeReading } from './squeeze-reading.ts';

/** What finds no room is told of again when it is written to again. */
const MAX_WAITING = 1_000;
const LONGEST_REST_MS = 1_000;

/**
 * Squeezes readings that grew by being written again, at once or in turn: one after the other, each followed by a pause as
 * long as it took.
 */
export class ReadingSqueezer {
  readonly #connection: PipelinedConnection;
  readonly #waiting = new Map<string, [deviceKey: number, timestamp: number]>();
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(connection: PipelinedConnection) {
    this.#connection = connection;
  }

  /** It has its turn, if there is room. */
  add(deviceKey: number, timestamp: number): void {
    if (this.#stopped || this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(`${deviceKey} ${timestamp}`, [deviceKey, timestamp]);
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  /** At once. */
  squeeze(deviceKey: number, timestamp: number): Promise<void> {
    return squeezeReading((query) => this.#connection.query(query), deviceKey, timestamp);
  }

  /** Resolves after the one under way: what waits stays as long as it is. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const [key, [deviceKey, timestamp]] of this.#waiting) {
      this.#waiting.delete(key);
      const from = performance.now();
      // If it cannot be done now, it is told of again.
      await this.squeeze(deviceKey, timestamp).catch(() => {});
      if (!this.#stopped) await sleep(Math.min(performance.now() - from, LONGEST_REST_MS));
    }
  }
}
