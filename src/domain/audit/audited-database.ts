import type { EntityManager } from '@mikro-orm/sql';
import { unauthenticated } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { type AuditTrail, currentTrail } from '../access/audit-trail.ts';
import { readAccess } from '../access/read-access.ts';
import { whoIs } from '../access/who-is.ts';
import type { Database, Dialect } from '../ports/database.ts';
import type { Caller } from '../../scheduling/caller.ts';
import type { SharedTime } from '../../scheduling/shared-time.ts';
import { AuditEntrySchema } from '../entities/audit-entry.ts';
import { uuidV7 } from '../text/uuid.ts';
import { AUDITED, toldArguments } from './audited-operations.ts';

const MAX_SUBJECTS = 20;

/** A mutation in progress: its token and change, and whether its entry is written or no longer may be. */
export class OperationTrail implements AuditTrail<Access> {
  readonly workspaceIds = new Set<string>();
  readonly granted = new Map<string, (present: Access) => void>();
  hasChanged = false;
  settled = false;
  /** Logs that have its entry: of workspaces; null: of the installation. */
  toldIn: readonly (string | null)[] = [];

  constructor(
    readonly operation: string,
    readonly args: Readonly<Record<string, unknown>>,
    readonly access: Access,
  ) {}
}

/**
 * The same database, whose first transaction of each audited operation also writes the operation's entry: both are
 * stored or neither. Later writes of the operation have no entry of their own. Before that transaction the operation
 * may have waited for its turn to write, or run a hundred examples of a decoder, so its rights are checked again there:
 * UNAUTHENTICATED when the token is gone, FORBIDDEN or NOT_FOUND when the right is.
 */
export class AuditedDatabase implements Database {
  readonly #bare: Database;
  readonly #now: () => number;

  constructor(bare: Database, now: () => number) {
    this.#bare = bare;
    this.#now = now;
  }

  get dialect(): Dialect {
    return this.#bare.dialect;
  }

  get time(): SharedTime {
    return this.#bare.time;
  }

  read(): EntityManager {
    return this.#bare.read();
  }

  async write<T>(work: (em: EntityManager) => Promise<T>, caller?: Caller): Promise<T> {
    const trail = currentTrail();
    if (!(trail instanceof OperationTrail)) return this.#bare.write(work, caller);
    if (trail.settled) return this.#bare.write(work, trail.access);
    return this.#settle(trail, async (em) => {
      // Check before the work, which may delete that very token.
      const present = await readAccess(em, { id: trail.access.tokenId }, this.#now());
      if (present === null) throw unauthenticated();
      const result = await work(em);
      if (trail.access.changedSince(present) !== null) for (const askAgain of trail.granted.values()) askAgain(present);
      return result;
    });
  }

  /**
   * Writes the entry alone, of an operation that changed nothing here: its work is done, whatever its token may do by
   * now.
   */
  async tell(trail: OperationTrail): Promise<void> {
    await this.#settle(trail, async () => {});
  }

  async #settle<T>(trail: OperationTrail, work: (em: EntityManager) => Promise<T>): Promise<T> {
    const { result, logs } = await this.#bare.write(async (em) => {
      const who = await whoIs(em, trail.access.tokenId);
      const given = await work(em);
      const told = await insertEntries(em, trail, { ...who, subjects: subjectsOf(given), at: this.#now() });
      return { result: given, logs: told };
    }, trail.access);
    trail.settled = true;
    trail.toldIn = logs;
    return result;
  }
}

interface Facts {
  tokenName: string | null;
  userEmail: string | null;
  subjects: string[];
  at: number;
}

/** Inserts the entry into each log and returns the logs. */
async function insertEntries(em: EntityManager, trail: OperationTrail, facts: Facts): Promise<(string | null)[]> {
  const { operation, access, workspaceIds } = trail;
  const ofInstallation = AUDITED[operation] === 'installation' || workspaceIds.size === 0;
  // A mutation that changed several workspaces is told to none of them in full: the rest belongs to others.
  const shared = !ofInstallation && workspaceIds.size > 1;
  const logs = ofInstallation ? [null] : [...workspaceIds];
  for (const workspaceId of logs)
    await em.insert(AuditEntrySchema, {
      id: uuidV7(facts.at),
      workspaceId,
      at: facts.at,
      operation,
      tokenId: access.tokenId,
      tokenName: facts.tokenName,
      userId: access.userId,
      userEmail: facts.userEmail,
      subjects: JSON.stringify(shared ? [] : facts.subjects),
      arguments: shared ? '"(in several workspaces at once)"' : toldArguments(trail.args),
    });
  return logs;
}

/** The ids of the work's result: an entity, or a list of them. */
function subjectsOf(result: unknown): string[] {
  const rows = Array.isArray(result) ? result.slice(0, MAX_SUBJECTS) : [result];
  return rows.map((row) => (row as { id?: unknown } | null | undefined)?.id).filter((id) => typeof id === 'string');
}
