import type { Access } from '../access/access.ts';
import type { Turns, WorkShares } from '../work-shares.ts';

/**
 * Files go on piece by piece, each when it is the turn of whoever asked for it (CONTRACT 7, shares): alone as fast as
 * they can, beside ingest or others with what is left. A token's files are a caller of their own: its queries do not
 * wait for them.
 */
export function fileTurns(shares: WorkShares, { tokenId }: Access): Turns {
  return shares.turnsOf(`files of ${tokenId}`, { dear: true, patient: true });
}
