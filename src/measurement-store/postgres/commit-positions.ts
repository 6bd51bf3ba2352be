/** Maximum devices whose last commit is known one by one; the ones heard longest ago have theirs in common. */
const MAX_DEVICES = 50_000;

/**
 * Positions in the log of the database behind the last commit that this node has acknowledged, by device: a replica
 * shows what was acknowledged here once it has replayed that far. Devices that are not written to need no more than
 * those that were heard long ago, so that a node that always writes does not keep every reader at the primary.
 */
export class CommitPositions {
  readonly #ofDevices = new Map<number, number>();
  /** Of everything; Infinity: unknown, as something was committed whose position was not told. */
  #ofOthers = Infinity;
  #losses = 0;

  /** Notes a commit of these devices that ended before `position`. */
  note(deviceKeys: Iterable<number>, position: number): void {
    for (const key of deviceKeys) {
      const before = this.#ofDevices.get(key) ?? 0;
      // Behind the others: the map is in the order of the last commits.
      this.#ofDevices.delete(key);
      this.#ofDevices.set(key, Math.max(before, position));
    }
    for (const [key, oldest] of this.#ofDevices) {
      if (this.#ofDevices.size <= MAX_DEVICES) return;
      this.#ofDevices.delete(key);
      this.#ofOthers = Math.max(this.#ofOthers, oldest);
    }
  }

  /** Position that a replica must have replayed for these devices; Infinity: no replica will do. */
  neededFor(deviceKeys: Iterable<number>): number {
    let needed = this.#ofOthers;
    for (const key of deviceKeys) needed = Math.max(needed, this.#ofDevices.get(key) ?? 0);
    return needed;
  }

  /** Notes a commit whose position is unknown. */
  lose(): void {
    this.#losses += 1;
    this.#ofOthers = Infinity;
  }

  /** Number of lost positions, to be given back to `find`. */
  get losses(): number {
    return this.#losses;
  }

  /** Takes a position that was asked for when there were `losses`: everything committed before then ends before it. */
  find(position: number, losses: number): void {
    if (this.#ofOthers === Infinity && losses === this.#losses) this.#ofOthers = position;
  }
}
