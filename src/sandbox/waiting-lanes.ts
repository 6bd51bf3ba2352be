import { isBarred, isDoubtful, isSlow, standingOf } from './penalties.ts';
import type { PoolProduct, PoolWorkspace, WaitingLanes } from './pool-job.ts';

/** Added to a standing that `standingOf` returns, all of which are whole numbers. */
const HEAVY = 0.5;

/**
 * Lanes in which the workspace's products wait now. They are asked for with each job, so all products are looked at
 * only after the workspace's conduct, or time, may have moved them. `isHeavy`: none of them is served in the fast lane.
 */
export function lanesOf(workspace: PoolWorkspace, now: number, isHeavy: boolean): WaitingLanes {
  const { waiting } = workspace;
  const standing = standingOf(workspace, now) + (isHeavy ? HEAVY : 0);
  if (standing !== waiting.standing || now >= waiting.until) {
    waiting.standing = standing;
    waiting.until = Infinity;
    for (const product of workspace.products) place(product, now);
  } else if (waiting.doubted.length > 0) for (const product of waiting.doubted) place(product, now);
  else return waiting;
  waiting.doubted.length = 0;
  return waiting;
}

/** Takes the product out of its lane. */
export function leaveLane({ line, workspace: { waiting } }: PoolProduct): void {
  if (line.lane !== null) waiting.counts[line.lane] -= 1;
  if (line.isSuspect) waiting.suspects -= 1;
  line.lane = null;
  line.isSuspect = false;
}

/** Puts the product into the lane of its first job. */
function place(product: PoolProduct, now: number): void {
  leaveLane(product);
  const { line, workspace, heldUntil, quarantinedUntil } = product;
  const { waiting } = workspace;
  const first = line.jobs[line.head];
  // Taken since it was marked.
  if (first === undefined) return;
  if (first.isSuspect) {
    line.isSuspect = true;
    waiting.suspects += 1;
  } else if (now < heldUntil) {
    waiting.until = Math.min(waiting.until, heldUntil);
    return;
  } else if (now < quarantinedUntil) waiting.until = Math.min(waiting.until, quarantinedUntil);
  if (line.isSuspect || isBarred(product, now)) line.lane = 'barred';
  else if (isSlow(product, now) || isDoubtful(product, now)) line.lane = 'slow';
  else line.lane = waiting.standing % 1 === HEAVY ? 'slow' : 'fast';
  waiting.counts[line.lane] += 1;
}
