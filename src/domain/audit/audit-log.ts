import type { EntityManager } from '@mikro-orm/sql';
import { lruCache } from '../../scheduling/lru-cache.ts';
import type { Access } from '../access/access.ts';
import { underAudit } from '../access/audit-trail.ts';
import type { Database } from '../ports/database.ts';
import { deleteInSlices } from '../sql/delete-in-slices.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { type AuditEntry, AuditEntrySchema } from '../entities/audit-entry.ts';
import { type Page, pageOf } from '../sql/page.ts';
import { type Caller, SERVER } from '../../scheduling/caller.ts';
import type { SweptHistory } from '../plans/sweep-retention.ts';
import { uuidV7 } from '../text/uuid.ts';
import { AUDITED } from './audited-operations.ts';
import { AuditedDatabase, OperationTrail } from './audited-database.ts';

/** Maximum entries per workspace, and for the installation; the oldest are deleted. */
export const MAX_AUDIT_ENTRIES = 20_000;
const NEXT_LOG = 'select min(workspace_id) as log from audit_entry where workspace_id > ?';
const ENTRIES = { table: 'audit_entry', key: 'id', atOnce: 1_000 };
/** Number of new entries after which the oldest are checked for deletion. */
const ROOM_FOR = 100;
/** Maximum entries visited per piece of work, for filters that match few. */
const LOOKED_AT_ONCE = 2_000;
/** Token id of entries that the server makes itself. */
const NOBODY = '00000000-0000-0000-0000-000000000000';
const NEWEST_FIRST = { id: 'desc' } as const;
const MAX_COUNTED = 10_000;
/** Maximum length of an operation in a filter: longer than any mutation's name, and compared letter by letter. */
const LONGER_THAN_ANY = 100;

/** A filter of a log's entries; absent conditions do not narrow. Times in ms UTC, start inclusive, end exclusive. */
interface AuditFilter {
  from?: number | null | undefined;
  to?: number | null | undefined;
  userId?: string | null | undefined;
  operation?: string | null | undefined;
}

/** A range of ids. */
interface Stretch {
  $lt?: string;
  $gte: string;
}

/** Something that the server did itself. `by`: in place of a token's name. */
interface OwnDeed {
  operation: string;
  by: string;
  workspaceId: string;
  subjects: readonly string[];
  facts: Readonly<Record<string, unknown>>;
}

interface AuditLogDeps {
  database: Database;
  now: () => number;
}

/** The log of who changed what, when: every administrative mutation that succeeded (see `audited-operations`). */
export class AuditLog {
  /** The database for services of administration: see `AuditedDatabase`. */
  readonly database: AuditedDatabase;
  readonly #bare: Database;
  readonly #now: () => number;
  /** Number of entries per log ('': the installation's) since its last check. */
  readonly #added = lruCache<string, number>(MAX_COUNTED);

  constructor({ database, now }: AuditLogDeps) {
    this.#bare = database;
    this.#now = now;
    this.database = new AuditedDatabase(database, now);
  }

  /**
   * Runs a mutation and writes its entry, in the transaction of its first change. A mutation without changes to the
   * catalogue (`deleteMeasurements`, `replayCalls`) gets its entry before the answer, also when it ends early: its
   * changes so far stay.
   */
  async run<T>(
    operation: string,
    args: Readonly<Record<string, unknown>>,
    access: Access | null,
    work: () => Promise<T> | T,
  ): Promise<T> {
    if (access === null || AUDITED[operation] === null || args['dryRun'] === true) return work();
    const trail = new OperationTrail(operation, args, access);
    return underAudit(trail, async () => {
      try {
        const result = await work();
        if (!trail.settled) await this.database.tell(trail);
        return result;
      } catch (error) {
        // Report the error that ended the mutation, not one of the log.
        if (trail.hasChanged && !trail.settled) await this.database.tell(trail).catch(() => {});
        throw error;
      } finally {
        // Work left running by a rejected mutation must not bring an entry along.
        trail.settled = true;
        for (const log of trail.toldIn) await this.#makeRoom(log, access);
      }
    });
  }

  /** Writes the entry of a sweep, which the operator's setting started. */
  async tellSwept({ workspaceId, deviceIds, ...facts }: SweptHistory): Promise<void> {
    await this.#bare.write((em) =>
      this.tellOwn(em, {
        operation: 'retention',
        by: 'PLAN_RETENTION_DAYS',
        workspaceId,
        subjects: deviceIds,
        facts: { ...facts, before: new Date(facts.before).toISOString() },
      }),
    );
    await this.#makeRoom(workspaceId, SERVER);
  }

  /** Writes the entry of something that the server does itself, in the transaction of the change. */
  async tellOwn(em: EntityManager, { operation, by, workspaceId, subjects, facts }: OwnDeed): Promise<void> {
    const at = this.#now();
    await em.insert(AuditEntrySchema, {
      id: uuidV7(at),
      workspaceId,
      at,
      operation,
      tokenId: NOBODY,
      tokenName: by,
      userId: null,
      userEmail: null,
      subjects: JSON.stringify(subjects),
      arguments: JSON.stringify(facts),
    });
  }

  /**
   * Entries newest first, after the id `after`. `workspaceId` for its ADMINs; null: the installation's, for operators.
   */
  async list(
    access: Access,
    workspaceId: string | null,
    filter: AuditFilter,
    limit: number,
    after: string | null,
  ): Promise<Page<AuditEntry>> {
    const where = readable(access, workspaceId, filter);
    const found: AuditEntry[] = [];
    // Without conditions the first entries are the page: no slices needed.
    const isAll = Object.keys(where).every((name) => name === 'workspaceId');
    for await (const id of isAll ? [behind(after)] : this.#slices(workspaceId, after)) {
      const options = { orderBy: NEWEST_FIRST, limit: limit + 1 - found.length };
      found.push(...(await this.#bare.read().find(AuditEntrySchema, { ...where, id }, options)));
      if (found.length > limit) break;
    }
    return pageOf(found, limit);
  }

  /** Number of entries on all pages together. */
  async count(access: Access, workspaceId: string | null, filter: AuditFilter): Promise<number> {
    const where = readable(access, workspaceId, filter);
    let count = 0;
    for await (const id of this.#slices(workspaceId, null))
      count += await this.#bare.read().count(AuditEntrySchema, { ...where, id });
    return count;
  }

  /** Ranges of a log's ids, newest first, behind `after`: on SQLite one query over all would block the event loop. */
  async *#slices(workspaceId: string | null, after: string | null): AsyncGenerator<Stretch> {
    const options = { orderBy: NEWEST_FIRST, offset: LOOKED_AT_ONCE - 1, limit: 1, fields: ['id'] } as const;
    for (let rest = behind(after); ;) {
      const [last] = await this.#bare.read().find(AuditEntrySchema, { workspaceId, id: rest }, options);
      yield last === undefined ? rest : { ...rest, $gte: last.id };
      if (last === undefined) return;
      rest = behind(last.id);
      await yieldToEventLoop();
    }
  }

  /** Deletes entries older than `before` (ms UTC), and the oldest beyond the maximum; in small transactions. */
  async forgetBefore(before: number, isStopping: () => boolean): Promise<void> {
    await deleteInSlices(this.#bare, { ...ENTRIES, where: 'at < ?', of: [before] });
    await this.#forgetOldest(null);
    // Count one log at a time: counting all at once would block the event loop on SQLite.
    for (let log = ''; ;) {
      const [next] = await this.#bare.read().execute<{ log: string | null }[]>(NEXT_LOG, [log]);
      if (next?.log == null || isStopping()) return;
      log = next.log;
      await this.#forgetOldest(log);
      await yieldToEventLoop();
    }
  }

  /**
   * Deletes the oldest entries now and then, at the writer's expense: before the next sweep millions could come, which
   * every list would go through.
   */
  async #makeRoom(log: string | null, caller: Caller): Promise<void> {
    const added = (this.#added.get(log ?? '') ?? 0) + 1;
    this.#added.set(log ?? '', added % ROOM_FOR);
    if (added < ROOM_FOR) return;
    // The mutation is done; the sweep catches up on a failure here.
    await this.#forgetOldest(log, caller).catch(() => {});
  }

  async #forgetOldest(log: string | null, caller?: Caller): Promise<void> {
    const options = { orderBy: { id: 'desc' }, offset: MAX_AUDIT_ENTRIES - 1, limit: 1, fields: ['id'] } as const;
    const [oldest] = await this.#bare.read().find(AuditEntrySchema, { workspaceId: log }, options);
    if (oldest === undefined) return;
    const where = log === null ? 'workspace_id is null and id < ?' : 'workspace_id = ? and id < ?';
    const of = log === null ? [oldest.id] : [log, oldest.id];
    await deleteInSlices(this.#bare, { ...ENTRIES, where, of }, { caller });
  }
}

/** The range of ids after one, newest first; null: all. */
function behind(id: string | null): Stretch {
  return { ...(id === null ? {} : { $lt: id }), $gte: '' };
}

function readable(access: Access, workspaceId: string | null, { from, to, userId, operation }: AuditFilter) {
  if (workspaceId === null) access.requireOperator();
  else access.requireWorkspace(workspaceId, 'ADMIN');
  return {
    workspaceId,
    ...(from == null && to == null
      ? {}
      : { at: { ...(from == null ? {} : { $gte: from }), ...(to == null ? {} : { $lt: to }) } }),
    ...(userId == null ? {} : { userId: userId.replaceAll('\0', '') }),
    ...(operation == null ? {} : { operation: operation.slice(0, LONGER_THAN_ANY).replaceAll('\0', '') }),
  };
}
