import type { Change } from '../ports/cluster.ts';

/** Products and devices together that are remembered between two looks; each takes some 100 bytes. */
const MAX_UNREAD = 100_000;

/** Products and devices that changed since somebody looked at them: each once, however often it changed. */
export class UnreadChanges {
  #products = new Set<string>();
  /** By id, with its product. */
  #devices = new Map<string, string>();

  get size(): number {
    return this.#products.size + this.#devices.size;
  }

  /** False when there are too many: then none is remembered. */
  add(changes: readonly Change[]): boolean {
    for (const change of changes) {
      if (change.kind === 'product') this.#products.add(change.id);
      else if (change.kind === 'devices') for (const id of change.ids) this.#devices.set(id, change.productId);
    }
    if (this.size <= MAX_UNREAD) return true;
    this.take();
    return false;
  }

  take(): { products: Set<string>; devices: Map<string, string> } {
    const taken = { products: this.#products, devices: this.#devices };
    this.#products = new Set();
    this.#devices = new Map();
    return taken;
  }
}
