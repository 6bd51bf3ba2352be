import type { Seq } from './snapshot.ts';

/**
 * Whether what was committed as `seq` was before the position (`Snapshot.position`): SQLite's is the number of a flush,
 * PostgreSQL's a snapshot `xmin:xmax:xip,…`.
 */
export function isCommittedBy(position: string, seq: Seq): boolean {
  const [first, end, inProgress] = position.split(':');
  if (end === undefined) return Number(seq) <= Number(first);
  return Number(seq) < Number(end) && !inProgress!.split(',').includes(String(seq));
}
