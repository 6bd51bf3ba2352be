import type { Caller } from '../../scheduling/caller.ts';
import { AppError } from '../../errors.ts';
import type { StoreLog } from '../store-options.ts';
import { CommitPositions } from './commit-positions.ts';
import type { PostgresReaderJob } from './reader-messages.ts';
import { Replica, type ReplicaFigures } from './replica.ts';
import type { PrimaryLook } from './replica-guard.ts';

/** Time between two looks at the primary and the replicas. */
const LOOK_EVERY_MS = 1_000;

interface ReplicasOptions {
  urls: readonly string[];
  /** Asks the primary how it is. */
  primary: () => Promise<PrimaryLook>;
  log: StoreLog | undefined;
}

/** A read, and the devices that it is about. */
interface Read {
  job: PostgresReaderJob;
  party: Caller;
  deviceKeys: readonly number[];
  limitMs: number;
}

/**
 * Replicas that answer reads, as far as they have replayed what this node has acknowledged of the devices that are read.
 * One that is away, behind or no replica any more costs nobody an error: the primary answers.
 */
export class Replicas {
  readonly #options: ReplicasOptions;
  readonly #replicas: readonly Replica[];
  readonly #positions = new CommitPositions();
  readonly #reads = { primary: 0, replica: 0 };
  #identity: string | null = null;
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: ReplicasOptions) {
    this.#options = options;
    this.#replicas = options.urls.map((url) => new Replica(url, options.log));
    this.#lookSoon(0);
  }

  /** Number of reads, by who has answered. */
  get reads(): Readonly<Record<'primary' | 'replica', number>> {
    return this.#reads;
  }

  /** How each of them is. */
  get figures(): ReplicaFigures[] {
    return this.#replicas.map(({ figures }) => figures);
  }

  /** Notes a commit before it is acknowledged; `position`: of the log behind it, null: unknown. */
  note(deviceKeys: Iterable<number>, position: number | null): void {
    if (position === null) this.#positions.lose();
    else this.#positions.note(deviceKeys, position);
  }

  /** The answer of a replica that has what is needed, else of the primary. */
  async read<T>({ job, party, deviceKeys, limitMs }: Read, atPrimary: () => Promise<T>): Promise<T> {
    const position = this.#positions.neededFor(deviceKeys);
    const replica = this.#replicas
      .filter((one) => one.mayHave(position))
      .reduce<Replica | null>((least, one) => (least === null || one.asked < least.asked ? one : least), null);
    if (replica !== null && this.#identity !== null)
      try {
        const need = { identity: this.#identity, position };
        const answer = await replica.ask<T>({ job, party, replica: need }, limitMs);
        this.#reads.replica += 1;
        return answer;
      } catch (error) {
        if (error instanceof AppError) throw error;
      }
    this.#reads.primary += 1;
    return atPrimary();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#replicas.map((replica) => replica.stop()));
  }

  #lookSoon(ms: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => this.#lookSoon(LOOK_EVERY_MS));
    }, ms);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { losses } = this.#positions;
    const primary = await this.#options.primary().catch(() => null);
    if (primary !== null) {
      this.#identity = primary.identity;
      this.#positions.find(primary.position, losses);
    }
    await Promise.all(this.#replicas.map((replica) => replica.look(primary)));
  }
}
