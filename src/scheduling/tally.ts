/** How much there is by name: what comes is added, what goes is taken away; of what has nothing left nothing is kept. */
export class Tally<Name = string> {
  readonly #amounts = new Map<Name, number>();

  /** Names that have something. */
  get size(): number {
    return this.#amounts.size;
  }

  /** The name that has most; null: none has anything. */
  get largest(): Name | null {
    let largest: Name | null = null;
    for (const [name, amount] of this.#amounts) if (largest === null || amount > this.of(largest)) largest = name;
    return largest;
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
