/** Long work that goes on piece by piece, each in its caller's turn. */
export interface Turns {
  /** Resolves when the next piece may be worked on. */
  next: () => Promise<void>;
  /** So many ms of the processor were used. */
  spend: (milliseconds: number) => void;
}

/** Long work in the background, as that of files. */
export interface BackgroundTurns extends Turns {
  /**
   * What the database has to do for it, in its caller's turn: beside others one piece of each caller, and of all callers
   * one piece at a time unless it takes long, which wait for each other and not the others for them. Throws OVERLOADED
   * when too many of the caller wait.
   */
  piece: <T>(work: () => Promise<T>) => Promise<T>;
}
