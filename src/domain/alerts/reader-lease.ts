import { LockMode } from '@mikro-orm/core';
import { RuleReaderSchema } from '../entities/rule-reader.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { uuidV7 } from '../text/uuid.ts';

interface LeaseDeps {
  database: Database;
  cluster: Pick<Cluster, 'shared'>;
  now: () => number;
}

/** Time for which a node is the reader without a sign of life. */
const LEASE_MS = 10_000;
const FOR_UPDATE = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;

/** The right to judge: one node at a time has it, and every commit of what is judged renews it. */
export class ReaderLease {
  readonly node = uuidV7();
  readonly #deps: LeaseDeps;
  #until = 0;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
  }

  /** Whether it goes on for some time without a look at the database. */
  get isFresh(): boolean {
    return this.#deps.now() < this.#until - LEASE_MS / 2;
  }

  /** The time until which it goes on when it is renewed now, for the row. */
  get next(): number {
    return this.#deps.now() + LEASE_MS;
  }

  /** Takes or renews it; null: another node has it. */
  async take(): Promise<{ position: string | null } | null> {
    const { database, cluster, now } = this.#deps;
    const isAlone = database.dialect === 'sqlite' || !cluster.shared;
    const taken = await database.write(async (em) => {
      const reader = await em.findOneOrFail(RuleReaderSchema, { share: 0 }, FOR_UPDATE);
      if (reader.node !== this.node && reader.until >= now() && !isAlone) return null;
      Object.assign(reader, { node: this.node, until: this.next });
      return { position: reader.position ?? null };
    });
    if (taken !== null) this.renewed();
    return taken;
  }

  /** A commit has renewed it. */
  renewed(): void {
    this.#until = this.next;
  }

  /** It is to be looked up before its next use. */
  doubt(): void {
    this.#until = 0;
  }

  /** Lets another node have it at once. */
  async release(): Promise<void> {
    this.doubt();
    await this.#deps.database.write((em) =>
      em.nativeUpdate(RuleReaderSchema, { share: 0, node: this.node }, { until: 0 }),
    );
  }
}
