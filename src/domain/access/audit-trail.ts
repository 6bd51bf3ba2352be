import { AsyncLocalStorage } from 'node:async_hooks';

/** Checks a right again with the rights of the present; throws as if it had not been granted. */
type AskAgain<Rights> = (present: Rights) => void;

/** One administrative operation in progress, and what it did so far (see `domain/audit`). */
export interface AuditTrail<Rights = never> {
  /** Workspaces in which it needed CONFIGURE or ADMIN: the subject of its entry. */
  readonly workspaceIds: Set<string>;
  /** The check of each such right by its purpose, in the order in which they were granted. */
  readonly granted: Map<string, AskAgain<Rights>>;
  /** True when it changed something outside the catalogue, such as measurements. */
  hasChanged: boolean;
}

const trails = new AsyncLocalStorage<AuditTrail>();

/** Runs `work` with `trail` as the current trail, also across awaits. */
export function underAudit<T>(trail: AuditTrail, work: () => T): T {
  return trails.run(trail, work);
}

/** The trail of the current operation; undefined: none. */
export function currentTrail(): AuditTrail | undefined {
  return trails.getStore();
}

/** Notes that a right to change something of the workspace was granted; `what` identifies the right. */
export function noteChangeOf<Rights>(workspaceId: string, what: string, askAgain: AskAgain<Rights>): void {
  const trail = trails.getStore() as AuditTrail<Rights> | undefined;
  trail?.workspaceIds.add(workspaceId);
  trail?.granted.set(what, askAgain);
}

/** Notes a change outside the catalogue: its entry is written even if the rest of the operation fails. */
export function noteChange(): void {
  const trail = trails.getStore();
  if (trail !== undefined) trail.hasChanged = true;
}
