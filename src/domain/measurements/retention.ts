import { type Keeps, keptFrom } from '../ingest-cache/keeps.ts';
import { type Accepted, isRejection, type Rejection, reject } from './entry.ts';

/** Refuses what the next sweep would take: nothing is acknowledged that goes at once (CONTRACT 1). `keeps` null: for ever. */
export function withinRetention(
  keeps: Keeps | null,
  outcome: Accepted | Rejection,
  index: number,
  now: number,
): Accepted | Rejection {
  if (keeps === null || isRejection(outcome) || outcome.timestamp >= keptFrom(keeps, now)) return outcome;
  const { field, timestamp } = outcome;
  const { plan, days } = keeps;
  return reject(
    index,
    field.identifier,
    'BEYOND_RETENTION',
    `${new Date(timestamp).toISOString()} is further back than the device's plan "${plan}" keeps history ` +
      `(${days} ${days === 1 ? 'day' : 'days'}); choose a plan that keeps it longer to store it.`,
  );
}
