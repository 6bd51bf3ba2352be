import type { Access } from '../access/access.ts';
import { underAudit } from '../access/audit-trail.ts';
import type { Database } from '../ports/database.ts';
import { deleteInSlices } from '../sql/delete-in-slices.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { type AuditEntry, AuditEntrySchema } from '../entities/audit-entry.ts';
import { LruMap } from '../../scheduling/lru-map.ts';
import { type Page, pageOf } from '../sql/page.ts';
import { type Caller, SERVER } from '../../scheduling/caller.ts';
import type { SweptHistory } from '../plans/sweep-retention.ts';
import { uuidV7 } from '../text/uuid.ts';
import { AUDITED } from './audited-operations.ts';
import { AuditedDatabase, OperationTrail } from './audited-database.ts';

/** Of each workspace, and of the installation; the oldest make room. */
export const MAX_AUDIT_ENTRIES = 20_000;
const NEXT_LOG = 'select min(workspace_id) as log from audit_entry where workspace_id > ?';
const ENTRIES = { table: 'audit_entry', key: 'id', atOnce: 1_000 };
/** So many new entries later it is looked whether the oldest have to make room. */
const ROOM_FOR = 100;
/** Where few of them are looked for, so many entries are gone through in one piece. */
const LOOKED_AT_ONCE = 2_000;
/** The token of what the server does by itself. */
const NOBODY = '00000000-0000-0000-0000-000000000000';
const NEWEST_FIRST = { id: 'desc' } as const;
const MAX_COUNTED = 10_000;
/** No mutation has such a long name, and what looks for one goes through it letter by letter. */
const LONGER_THAN_ANY = 100;

/** Which entries of a log; what is left out does not narrow. Times in ms UTC, start inclusive, end exclusive. */
interface AuditFilter {
  from?: number | null | undefined;
  to?: number | null | undefined;
  userId?: string | null | undefined;
  operation?: string | null | undefined;
}

/** Of ids. */
interface Stretch {
  $lt?: string;
  $gte: string;
}

interface AuditLogDeps {
  database: Database;
  now: () => number;
}

/** Who changed what, when: the administrative mutations that were done (see `audited-operations`). */
export class AuditLog {
  /** For the services of administration: see `AuditedDatabase`. */
  readonly database: AuditedDatabase;
  readonly #bare: Database;
  readonly #now: () => number;
  /** How many entries each log ('': the installation's) got since that was looked at. */
  readonly #added = new LruMap<string, number>({ most: MAX_COUNTED });

  constructor({ database, now }: AuditLogDeps) {
    this.#bare = database;
    this.#now = now;
    this.database = new AuditedDatabase(database, now);
  }

  /**
   * Carries out a mutation; when it succeeds it has its entry, in the transaction of its first change. One that changes
   * nothing of the catalogue (`deleteMeasurements`, `replayCalls`) gets it before the answer, also when it could not go on
   * to its end: what it has changed by then stays.
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
        // Why it could not go on is what matters to who asked.
        if (trail.hasChanged && !trail.settled) await this.database.tell(trail).catch(() => {});
        throw error;
      } finally {
        // What it left running must not bring along an entry of something that was refused.
        trail.settled = true;
        for (const log of trail.toldIn) await this.#makeRoom(log, access);
      }
    });
  }

  /** What a sweep has deleted; nobody asked for it but the operator's setting. */
  async tellSwept({ workspaceId, deviceIds, ...facts }: SweptHistory): Promise<void> {
    const at = this.#now();
    await this.#bare.write(async (em) => {
      await em.insert(AuditEntrySchema, {
        id: uuidV7(at),
        workspaceId,
        at,
        operation: 'retention',
        tokenId: NOBODY,
        tokenName: 'PLAN_RETENTION_DAYS',
        userId: null,
        userEmail: null,
        subjects: JSON.stringify(deviceIds),
        arguments: JSON.stringify({ ...facts, before: new Date(facts.before).toISOString() }),
      });
    });
    await this.#makeRoom(workspaceId, SERVER);
  }

  /** Newest first, after the id `after`. `workspaceId` for its ADMINs; null: the installation's, for operators. */
  async list(
    access: Access,
    workspaceId: string | null,
    filter: AuditFilter,
    limit: number,
    after: string | null,
  ): Promise<Page<AuditEntry>> {
    const where = readable(access, workspaceId, filter);
    const found: AuditEntry[] = [];
    // Where nothing narrows, the page is what comes first: no slice has to be looked for.
    const isAll = Object.keys(where).every((name) => name === 'workspaceId');
    for await (const id of isAll ? [behind(after)] : this.#slices(workspaceId, after)) {
      const options = { orderBy: NEWEST_FIRST, limit: limit + 1 - found.length };
      found.push(...(await this.#bare.read().find(AuditEntrySchema, { ...where, id }, options)));
      if (found.length > limit) break;
    }
    return pageOf(found, limit);
  }

  /** How many entries all pages together hold. */
  async count(access: Access, workspaceId: string | null, filter: AuditFilter): Promise<number> {
    const where = readable(access, workspaceId, filter);
    let count = 0;
    for await (const id of this.#slices(workspaceId, null))
      count += await this.#bare.read().count(AuditEntrySchema, { ...where, id });
    return count;
  }

  /** The ids of a log, newest first, behind one of them, slice by slice: on SQLite all of them were one piece. */
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

  /** Forgets what is older than `before` (ms UTC), and the oldest of those that are too many; in small transactions. */
  async forgetBefore(before: number, isStopping: () => boolean): Promise<void> {
    await deleteInSlices(this.#bare, { ...ENTRIES, where: 'at < ?', of: [before] });
    await this.#forgetOldest(null);
    // One log after the other: to count all at once is one piece on SQLite.
    for (let log = ''; ;) {
      const [next] = await this.#bare.read().execute<{ log: string | null }[]>(NEXT_LOG, [log]);
      if (next?.log == null || isStopping()) return;
      log = next.log;
      await this.#forgetOldest(log);
      await yieldToEventLoop();
    }
  }

  /** Who writes very many waits for it: until the next sweep there may come millions, which every list goes through. */
  async #makeRoom(log: string | null, party: Caller): Promise<void> {
    const added = (this.#added.get(log ?? '') ?? 0) + 1;
    this.#added.set(log ?? '', added % ROOM_FOR);
    if (added < ROOM_FOR) return;
    // The mutation is done; the sweep does what fails here.
    await this.#forgetOldest(log, party).catch(() => {});
  }

  async #forgetOldest(log: string | null, party?: Caller): Promise<void> {
    const options = { orderBy: { id: 'desc' }, offset: MAX_AUDIT_ENTRIES - 1, limit: 1, fields: ['id'] } as const;
    const [oldest] = await this.#bare.read().find(AuditEntrySchema, { workspaceId: log }, options);
    if (oldest === undefined) return;
    const where = log === null ? 'workspace_id is null and id < ?' : 'workspace_id = ? and id < ?';
    const of = log === null ? [oldest.id] : [log, oldest.id];
    await deleteInSlices(this.#bare, { ...ENTRIES, where, of }, { party });
  }
}

/** Ids that come after one, newest first; null: all. */
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
