import { AsyncLocalStorage } from 'node:async_hooks';

/** Asks for a right again, of what the token may do by then; throws what it threw if it had not been granted. */
type AskAgain<Rights> = (present: Rights) => void;

/** One administrative operation while it runs, and what is known of it so far (see `domain/audit`). */
export interface AuditTrail<Rights = never> {
  /** The workspaces in which it asked for CONFIGURE or ADMIN: those it is about. */
  readonly workspaceIds: Set<string>;
  /** Each such right by what it is for, in the order in which they were granted. */
  readonly granted: Map<string, AskAgain<Rights>>;
  /** Whether it has changed something that is not in the catalogue, such as measurements. */
  hasChanged: boolean;
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

/** Access was granted to change something of the workspace; `what` tells this right from others. */
export function noteChangeOf<Rights>(workspaceId: string, what: string, askAgain: AskAgain<Rights>): void {
  const trail = trails.getStore() as AuditTrail<Rights> | undefined;
  trail?.workspaceIds.add(workspaceId);
  trail?.granted.set(what, askAgain);
}

/** What is not in the catalogue is being changed: that is told of, whatever becomes of the rest of the operation. */
export function noteChange(): void {
  const trail = trails.getStore();
  if (trail !== undefined) trail.hasChanged = true;
}
