import type pg from 'pg';
import { AppError } from '../../errors.ts';
import { programFile } from '../../program-file.ts';
import type { StoreLog } from '../store-options.ts';
import { Threads } from '../threads.ts';
import { openPool } from './postgres-connection.ts';
import type { PostgresReaderQuestion } from './reader-messages.ts';
import {
  isOnlyBehind,
  LOOK_AT_REPLICA,
  type PrimaryLook,
  type ReplicaLook,
  type ReplicaNeed,
} from './replica-guard.ts';
import { must } from '../../must.ts';

/** Reader threads per replica: the first gets none of these reads and is never started. */
const READERS = 3;
/** Maximum milliseconds for an answer; beyond it the replica counts as away, and what it was asked is asked elsewhere. */
const LOOK_MS = 2_000;
/** A replica that is less behind than this is asked for the newest as well: it says itself whether it has it. */
const NEARLY_SECONDS = 1;

/** How a replica is: `used` while it may answer; how far it is behind is known while it is there. */
export interface ReplicaFigures {
  name: string;
  used: boolean;
  lag: { bytes: number; seconds: number } | null;
}

/** A replica: who asks it, and whether it may be asked. */
export class Replica {
  /** Host and port. */
  readonly name: string;
  readonly #readers: Threads<PostgresReaderQuestion>;
  readonly #pool: pg.Pool;
  readonly #log: StoreLog | undefined;
  /** What was asked and is not answered: each can be given up. */
  readonly #asked = new Set<(error: Error) => void>();
  #position = 0;
  #lag: ReplicaFigures['lag'] = null;
  /** Why it is not used; null: it is. */
  #reason: string | null = 'it was not looked at yet';

  constructor(url: string, log: StoreLog | undefined) {
    const { host } = new URL(url);
    this.name = host;
    this.#log = log;
    this.#pool = openPool(url, 1, undefined);
    const file = programFile('measurement-store/postgres/reader.worker');
    this.#readers = new Threads(READERS, { name: `reader of ${host}`, file, workerData: { url }, log });
  }

  /** Whether it may be asked for what ends before the position. */
  mayHave(position: number): boolean {
    if (this.#reason !== null || position === Infinity) return false;
    return position <= this.#position || (this.#lag !== null && this.#lag.seconds < NEARLY_SECONDS);
  }

  /** Number of questions under way. */
  get asked(): number {
    return this.#asked.size;
  }

  get figures(): ReplicaFigures {
    return { name: this.name, used: this.#reason === null, lag: this.#lag };
  }

  /** Rejects with an AppError that is the answer, or with anything else: then it is to be asked elsewhere. */
  async ask<T>(question: PostgresReaderQuestion & { replica: ReplicaNeed }, limitMs: number): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#asked.add(reject);
    this.#readers.ask<T>(question, limitMs).then(resolve, reject);
    try {
      return await promise;
    } catch (error) {
      if (!(error instanceof AppError) && !isOnlyBehind(error) && this.#reason === null) this.#leave(error);
      throw error;
    } finally {
      this.#asked.delete(reject);
    }
  }

  /** Looks how it is; `primary`: how that one was just before, null if it is away. Never rejects. */
  async look(primary: PrimaryLook | null): Promise<void> {
    try {
      const found = await withinTime(this.#pool.query<ReplicaLook>(LOOK_AT_REPLICA));
      const replica = must(found.rows[0]);
      // While the primary is away nothing tells them apart: what it was before still holds.
      if (primary !== null) this.#judge(replica, primary);
    } catch (error) {
      this.#leave(error);
      // Whoever waits for one that has fallen silent is answered elsewhere.
      for (const giveUp of this.#asked) giveUp(new Error('the replica does not answer', { cause: error }));
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#readers.terminate(), this.#pool.end()]);
  }

  #judge({ identity, isReplica, position, timeline, ageSeconds }: ReplicaLook, primary: PrimaryLook): void {
    if (identity !== primary.identity) return this.#leave(new Error('it belongs to another database'));
    if (!isReplica || position === null) return this.#leave(new Error('it is no replica: perhaps it was promoted'));
    if (timeline !== primary.timeline)
      return this.#leave(new Error('it has not followed the primary since the last failover'));
    this.#position = position;
    const bytes = Math.max(0, primary.position - position);
    this.#lag = { bytes, seconds: bytes === 0 ? 0 : Math.max(0, ageSeconds ?? 0) };
    if (this.#reason === null) return;
    this.#reason = null;
    this.#log?.warn({ replica: this.name }, `the replica ${this.name} answers reads of history`);
  }

  #leave(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const isNews = this.#reason !== reason;
    this.#reason = reason;
    this.#lag = null;
    if (isNews)
      this.#log?.warn({ replica: this.name, reason }, `the replica ${this.name} is not used: the primary answers`);
  }
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${LOOK_MS / 1_000} seconds`)), LOOK_MS);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
