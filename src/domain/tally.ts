/** How much there is by name: what comes is added, what goes is taken away; of what has nothing left nothing is kept. */
export class Tally<Name = string> {
  readonly #amounts = new Map<Name, number>();

  /** Names that have something. */
  get size(): number {
    return this.#amounts.size;
  }

  of(name: Name): number {
    return this.#amounts.get(name) ?? 0;
  }

  /** So much more; with a negative one less. */
  add(name: Name, amount: number): void {
    const left = this.of(name) + amount;
    if (left > 0) this.#amounts.set(name, left);
    else this.#amounts.delete(name);
  }

  clear(): void {
    this.#amounts.clear();
  }
}
