import type { Seq } from './snapshot.ts';
import { must } from '../../must.ts';

/**
 * Tells of each `seq` whether what was committed as that was before the position (`Snapshot.position`): SQLite's is the
 * number of a flush, PostgreSQL's a snapshot `xmin:xmax:xip,…` (and `@` its history).
 */
export function committedBy(position: string): (seq: Seq) => boolean {
  const [first, end, inProgress] = position.split(':');
  if (end === undefined) return (seq) => Number(seq) <= Number(first);
  const later = new Set(must(must(inProgress).split('@')[0]).split(','));
  return (seq) => Number(seq) < Number(end) && !later.has(String(seq));
}
