import { Tally } from './tally.ts';

/** What some have in memory together: what several of them share counts once, as long as one has it. */
export class SharedBytes<Shared> {
  readonly #shares = new Tally<Shared>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#shares.size === 0 && this.#bytes === 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How much there would be with one more; `shared` takes `ofShared` bytes, `own` are its alone. */
  with(shared: Shared | null, ofShared: number, own: number): number {
    return this.#bytes + own + this.#onlyHere(shared, ofShared);
  }

  add(shared: Shared | null, ofShared: number, own: number): void {
    this.#bytes = this.with(shared, ofShared, own);
    if (shared !== null) this.#shares.add(shared, 1);
  }

  remove(shared: Shared | null, ofShared: number, own: number): void {
    if (shared !== null) this.#shares.add(shared, -1);
    this.#bytes -= own + this.#onlyHere(shared, ofShared);
  }

  /** What of it nobody else here has. */
  #onlyHere(shared: Shared | null, bytes: number): number {
    return shared === null || this.#shares.of(shared) > 0 ? 0 : bytes;
  }
}
