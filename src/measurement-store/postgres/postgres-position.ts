import { must } from '../../must.ts';

/** Short enough to be one of ours: as many transactions in progress as a server has connections. */
const FORM = /^\d{1,19}:\d{1,19}:(?:\d{1,19}(?:,\d{1,19}){0,199})?$/;
const HISTORY = /^[\w.]{1,100}$/;

/**
 * A place in the order of commits: the ended transactions, a `pg_snapshot` as text, and the history of the database
 * (`HISTORY` in `recorded-select.ts`). null: a version that named none gave it (`first-history.ts`).
 */
interface PostgresPosition {
  snapshot: string;
  history: string | null;
}

/** null for text that is no position: a query with an invalid snapshot would fail. */
export function readPosition(text: string): PostgresPosition | null {
  const [snapshot = '', history = null, ...more] = text.split('@');
  if (more.length > 0 || !isSnapshot(snapshot) || (history !== null && !HISTORY.test(history))) return null;
  return { snapshot, history };
}

/** The text that `readPosition` reads. */
export function writePosition(snapshot: string, history: string): string {
  return `${snapshot}@${history}`;
}

function isSnapshot(text: string): boolean {
  if (!FORM.test(text)) return false;
  const [xmin, xmax, ...inProgress] = text.split(/[:,]/).filter(Boolean).map(BigInt) as [bigint, bigint, ...bigint[]];
  // The first that is in progress may be the oldest of all; none is named before a smaller one.
  const inOrder = [xmin, ...inProgress].every((id, at, all) => at === 0 || id >= must(all[at - 1]));
  return xmin > 0n && xmin <= xmax && inOrder && inProgress.every((id) => id < xmax);
}
