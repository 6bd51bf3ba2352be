interface Waiting {
  start: () => void;
  giveUp: () => void;
}

/**
 * A bounded line in which callers take turns: whoever has many waiting gets no more turns than others, and makes room
 * for one who has fewer when the line is full.
 */
export class RoundRobinQueue {
  readonly #most: number;
  /** In the order of their turns; nobody is here with nothing waiting. */
  readonly #byCaller = new Map<string, Waiting[]>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether one more of the caller may wait; another one's last may have to go for it. */
  hasRoom(caller: string): boolean {
    return this.#size < this.#most || this.#crowder(caller) !== null;
  }

  /** Resolves when it is the caller's turn; false: there was no room, or it was needed for somebody else. */
  wait(caller: string): Promise<boolean> {
    if (this.#size >= this.#most) {
      const crowder = this.#crowder(caller);
      if (crowder === null) return Promise.resolve(false);
      // Never its only one: it has two more than the caller.
      this.#byCaller.get(crowder)?.pop()?.giveUp();
      this.#size -= 1;
    }
    return new Promise((resolve) => {
      const line = this.#byCaller.get(caller) ?? [];
      line.push({ start: () => resolve(true), giveUp: () => resolve(false) });
      this.#byCaller.set(caller, line);
      this.#size += 1;
    });
  }

  /** Lets the next one go on; the others of its caller come after everybody else's. */
  next(): void {
    const [first] = this.#byCaller;
    if (first === undefined) return;
    const [caller, line] = first;
    this.#byCaller.delete(caller);
    this.#size -= 1;
    const { start } = line.shift()!;
    if (line.length > 0) this.#byCaller.set(caller, line);
    start();
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Who has the most waiting, if that is at least two more than the caller has. */
  #crowder(caller: string): string | null {
    let most = (this.#byCaller.get(caller)?.length ?? 0) + 1;
    let crowder: string | null = null;
    for (const [other, line] of this.#byCaller)
      if (line.length > most) {
        most = line.length;
        crowder = other;
      }
    return crowder;
  }
}
