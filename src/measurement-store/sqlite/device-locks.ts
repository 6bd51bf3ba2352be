/** One at a time for each device, in the order of asking. */
export class DeviceLocks {
  readonly #last = new Map<number, Promise<unknown>>();

  async run<T>(deviceKey: number, work: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(deviceKey) ?? Promise.resolve()).then(work, work);
    this.#last.set(deviceKey, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(deviceKey) === mine) this.#last.delete(deviceKey);
    }
  }

  /** Locks all of these, in the order of their keys, so that no two wait for each other. */
  runAll<T>(deviceKeys: readonly number[], work: () => Promise<T>): Promise<T> {
    const [first, ...others] = deviceKeys.toSorted((a, b) => a - b);
    return first === undefined ? work() : this.run(first, () => this.runAll(others, work));
  }
}
