import { Tally } from './tally.ts';

/** Counts the bytes that several holders have in memory; what they share counts once. */
export class SharedBytes<Shared> {
  /** null until something is shared: of most holders nothing is. */
  #shares: Tally<Shared> | null = null;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Total with one more holder, of `sharedBytes` in `shared` and `ownBytes` of its own. */
  with(shared: Shared | null, sharedBytes: number, ownBytes: number): number {
    return this.#bytes + ownBytes + this.#unsharedBytes(shared, sharedBytes);
  }

  add(shared: Shared | null, sharedBytes: number, ownBytes: number): void {
    this.#bytes = this.with(shared, sharedBytes, ownBytes);
    if (shared !== null) (this.#shares ??= new Tally()).add(shared, 1);
  }

  /** A holder has that many bytes more of its own, or less. */
  grow(ownBytes: number): void {
    this.#bytes += ownBytes;
  }

  remove(shared: Shared | null, sharedBytes: number, ownBytes: number): void {
    if (shared !== null) this.#shares?.add(shared, -1);
    this.#bytes -= ownBytes + this.#unsharedBytes(shared, sharedBytes);
  }

  /** Bytes of it that no other holder has. */
  #unsharedBytes(shared: Shared | null, bytes: number): number {
    return shared === null || (this.#shares?.of(shared) ?? 0) > 0 ? 0 : bytes;
  }
}
