import type { EntityManager } from '@mikro-orm/sql';
import type { Target } from './delivery-exchange.ts';

/** How long an endpoint may do nothing but fail before it is switched off. */
const FAILING_MS = 5 * 86_400_000;

/** What the tries of an endpoint came to. */
export interface Health {
  hasSucceeded: boolean;
  hasFailed: boolean;
  /** It answered 410: there is nobody any more. */
  isGone: boolean;
}

/** An endpoint that was switched off. */
export interface SwitchedOff {
  target: Target;
  reason: string;
}

/**
 * Writes down whether the endpoint fails, and switches it off when it is gone or has only failed for five days; returns
 * it then.
 */
export async function noteHealth(
  em: EntityManager,
  target: Target,
  { hasSucceeded, hasFailed, isGone }: Health,
  now: number,
): Promise<SwitchedOff | null> {
  if (isGone) return switchOff(em, target, 'It answered 410 Gone: the receiver wants nothing any more.');
  if (hasSucceeded) {
    if (target.failingSince !== null)
      await em.execute('update endpoint set failing_since = null where "key" = ?', [target.key], 'run');
    return null;
  }
  if (!hasFailed) return null;
  if (target.failingSince === null)
    await em.execute(
      'update endpoint set failing_since = ? where "key" = ? and failing_since is null',
      [now, target.key],
      'run',
    );
  else if (now - target.failingSince >= FAILING_MS)
    return switchOff(em, target, 'Every try of the last five days failed. What waits is kept; switch it on again.');
  return null;
}

async function switchOff(em: EntityManager, target: Target, reason: string): Promise<SwitchedOff | null> {
  if (!target.enabled) return null;
  await em.execute(
    'update endpoint set enabled = false, disabled_reason = ? where "key" = ?',
    [reason, target.key],
    'run',
  );
  return { target, reason };
}
