/** Long work in pieces, each at its caller's turn. */
export interface Turns {
  /** Resolves when the next piece may start. */
  next: () => Promise<void>;
  /** Charges milliseconds of processor time. */
  spend: (milliseconds: number) => void;
}

/** Long work in the background, such as files. */
export interface BackgroundTurns extends Turns {
  /**
   * Runs a piece of it in the database at the caller's turn: one per caller and, unless it is slow, one overall while
   * others are active. Throws OVERLOADED when too many pieces of the caller wait.
   */
  piece: <T>(work: () => Promise<T>) => Promise<T>;
}
