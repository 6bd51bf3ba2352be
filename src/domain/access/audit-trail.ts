import { AsyncLocalStorage } from 'node:async_hooks';

/** One administrative operation while it runs, and what is known of it so far (see `domain/audit`). */
export interface AuditTrail {
  /** The workspaces in which it asked for CONFIGURE or ADMIN: those it is about. */
  readonly workspaceIds: Set<string>;
}

const trails = new AsyncLocalStorage<AuditTrail>();

/** Runs `work`; whatever it awaits finds `trail` as its own. */
export function underAudit<T>(trail: AuditTrail, work: () => T): T {
  return trails.run(trail, work);
}

/** The trail of the operation that is being carried out here; undefined: none is. */
export function currentTrail(): AuditTrail | undefined {
  return trails.getStore();
}

/** Access was granted to change something of the workspace. */
export function noteChangeOf(workspaceId: string): void {
  trails.getStore()?.workspaceIds.add(workspaceId);
}
