import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { lastOfEach } from '../readings/reading-values.ts';
import type { PipelinedConnection } from './postgres-connection.ts';

/** What finds no room is told of again when it is written to again. */
const MAX_WAITING = 1_000;
/** Of so many it is known how long their values are. */
const MAX_KNOWN = 1_000;
const LONGEST_REST_MS = 1_000;
/** Only if nobody has written it again since. */
const SQUEEZE = 'UPDATE reading SET packed = $4 WHERE device_key = $1 AND ts = $2 AND packed = $3';

/**
 * A moment that is written again and again would grow for ever: leaves the last value of each field in it, at once or in
 * its turn: one after the other, and as long as one took the database is left to others.
 */
export class ReadingSqueezer {
  readonly #connection: PipelinedConnection;
  readonly #waiting = new Map<string, [deviceKey: number, timestamp: number]>();
  /** Bytes that squeezing left of a moment. */
  readonly #left = new LRUCache<string, number>({ max: MAX_KNOWN });
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(connection: PipelinedConnection) {
    this.#connection = connection;
  }

  /** It has its turn, if there is room. */
  add(deviceKey: number, timestamp: number): void {
    if (this.#stopped || this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(keyOf(deviceKey, timestamp), [deviceKey, timestamp]);
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  /** Whether it may be half as long as this, as far as is known: a moment can hold megabytes of values. */
  mayHalve(deviceKey: number, timestamp: number, bytes: number): boolean {
    return bytes > 2 * (this.#left.get(keyOf(deviceKey, timestamp)) ?? 0);
  }

  /** At once. */
  async squeeze(deviceKey: number, timestamp: number): Promise<void> {
    const text = 'SELECT packed FROM reading WHERE device_key = $1 AND ts = $2';
    const [row] = await this.#connection.query<[Buffer]>({ text, values: [deviceKey, timestamp], rowMode: 'array' });
    if (!row) return;
    const squeezed = lastOfEach(row[0], () => true);
    this.#left.set(keyOf(deviceKey, timestamp), squeezed.length);
    if (squeezed.length < row[0].length)
      await this.#connection.query({ text: SQUEEZE, values: [deviceKey, timestamp, row[0], squeezed] });
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

function keyOf(deviceKey: number, timestamp: number): string {
  return `${deviceKey} ${timestamp}`;
}
