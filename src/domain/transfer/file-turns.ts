import type { Access } from '../access/access.ts';
import type { WorkShares } from '../work-shares.ts';

/**
 * Files go on piece by piece, each when it is the turn of whoever asked for it (CONTRACT 7, shares): alone as fast as
 * they can, beside ingest or others with what is left. A token's files are a caller of their own: its queries do not
 * wait for them.
 */
export class FileTurns {
  readonly #shares: WorkShares;

  constructor(shares: WorkShares) {
    this.#shares = shares;
  }

  /** Resolves when the next piece may be worked on. */
  next(access: Access): Promise<void> {
    return this.#shares.begin(callerOf(access), { dear: true, patient: true });
  }

  /** Holds what the piece took against its caller, in ms. */
  spend(access: Access, milliseconds: number): void {
    this.#shares.spend(callerOf(access), milliseconds);
  }
}

function callerOf({ tokenId }: Access): string {
  return `files of ${tokenId}`;
}
