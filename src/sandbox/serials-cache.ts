import type { DecoderJob } from '../domain/decoders/decoder-engine.ts';

export interface SerialsText {
  version: string;
  /** JSON text of serial number → device id. */
  text: string;
}

const MAX_CHARACTERS = 32_000_000;

/** The serial numbers of the latest products that asked for them, loaded once for each version, in bounded memory. */
export class SerialsCache {
  #entries = new Map<string, { version: string; loading: Promise<SerialsText>; size: number }>();
  #size = 0;

  of(productId: string, { version, load }: DecoderJob['serials']): Promise<SerialsText> {
    const known = this.#entries.get(productId);
    if (known !== undefined) {
      this.#entries.delete(productId);
      if (known.version === version) {
        this.#entries.set(productId, known);
        return known.loading;
      }
      this.#size -= known.size;
    }
    const entry = { version, size: 0, loading: load().then((serials) => ({ version, text: JSON.stringify(serials) })) };
    this.#entries.set(productId, entry);
    entry.loading.then(
      ({ text }) => {
        if (this.#entries.get(productId) !== entry) return;
        entry.size = text.length;
        this.#size += text.length;
        this.#shrink();
      },
      () => {
        if (this.#entries.get(productId) === entry) this.#entries.delete(productId);
      },
    );
    return entry.loading;
  }

  #shrink(): void {
    for (const [productId, { size }] of this.#entries) {
      if (this.#size <= MAX_CHARACTERS) return;
      this.#entries.delete(productId);
      this.#size -= size;
    }
  }
}
