/** Sums by name; a name whose sum is 0 is not kept. */
export class Tally<Name = string> {
  readonly #amounts = new Map<Name, number>();

  /** Number of names with a sum. */
  get size(): number {
    return this.#amounts.size;
  }

  /** The name with the largest sum; null: there is none. */
  get largest(): Name | null {
    let largest: Name | null = null;
    for (const [name, amount] of this.#amounts) if (largest === null || amount > this.of(largest)) largest = name;
    return largest;
  }

  of(name: Name): number {
    return this.#amounts.get(name) ?? 0;
  }

  /** Adds the amount, which may be negative. */
  add(name: Name, amount: number): void {
    const left = this.of(name) + amount;
    if (left > 0) this.#amounts.set(name, left);
    else this.#amounts.delete(name);
  }

  clear(): void {
    this.#amounts.clear();
  }
}
