import { Arg, Ctx, ID, Int, Query, Resolver } from 'type-graphql';
import type { AuditLog } from '../../domain/audit/audit-log.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { LANES } from '../../scheduling/lanes.ts';
import type { AuditEntry } from '../../domain/entities/audit-entry.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { AFTER, connectionWith, FIRST, type Paging, readAfter, readFirst } from '../paging/page.ts';
import { AuditEntryConnection, type AuditEntryObject } from '../types/audit-entry.ts';
import type { Connection } from '../types/connection.ts';
import { DateTime } from '../types/date-time.ts';

const ENTRIES: Paging<AuditEntry> = { kind: 'audit', shape: ['string'], keyOf: ({ id }) => [id] };

/** Audit entries: who changed what, when. */
@Resolver()
export class AuditResolver {
  readonly #auditLog: AuditLog;
  readonly #turns = new EventLoopQueue(LANES.auditEntries);

  constructor(auditLog: AuditLog) {
    this.#auditLog = auditLog;
  }

  @Query(() => AuditEntryConnection, {
    description:
      'The administrative mutations that were carried out, newest first: in a workspace for its ADMINs; without ' +
      'workspaceId those about users, workspaces and PERSONAL tokens, for operators. Kept for AUDIT_LOG_DAYS, at most ' +
      'the newest 20,000 of each.',
  })
  async auditLog(
    @Ctx() { access, budget }: GraphqlContext,
    @Arg('workspaceId', () => ID, {
      nullable: true,
      description: 'The workspace; left out: what is of no workspace.',
    })
    workspaceId?: string | null,
    @Arg('from', () => DateTime, { nullable: true, description: 'Start of the time, inclusive; left out: the first.' })
    from?: number | null,
    @Arg('to', () => DateTime, { nullable: true, description: 'End of the time, exclusive; left out: the last.' })
    to?: number | null,
    @Arg('userId', () => ID, { nullable: true, description: 'Only what this user did; left out: everybody.' })
    userId?: string | null,
    @Arg('operation', () => String, { nullable: true, description: 'Only this mutation; left out: all.' })
    operation?: string | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
  ): Promise<Connection<AuditEntryObject>> {
    const limit = readFirst(first);
    const last = (readAfter(ENTRIES, after)?.[0] as string | undefined) ?? null;
    const filter = { from, to, userId, operation };
    return this.#turns.run(async () => {
      // An ended operation takes no turn.
      budget.check();
      return connectionWith(
        ENTRIES,
        await this.#auditLog.list(access, workspaceId ?? null, filter, limit, last),
        (row) => ({
          ...row,
          subjects: JSON.parse(row.subjects) as string[],
          arguments: JSON.parse(row.arguments) as unknown,
        }),
        () =>
          this.#turns.run(async () => {
            budget.check();
            return this.#auditLog.count(access, workspaceId ?? null, filter);
          }),
      );
    });
  }
}
