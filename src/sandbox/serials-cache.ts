import type { DecoderJob } from '../domain/decoders/decoder-engine.ts';

/** Serial numbers of one product at one version, ready for a decoder process. */
export interface SerialsText {
  version: string;
  /** JSON text of serial number → device id. */
  text: string;
  /** What is wrong when there is more of it than a decoder may have; `text` then names none. */
  tooLarge: string | null;
}

interface SerialsEntry {
  version: string;
  loading: Promise<SerialsText>;
  size: number;
}

const MAX_CHARACTERS = 32_000_000;
const MAX_BYTES = 16 << 20;

/** The serial numbers of the latest products that asked for them, loaded once for each version, in bounded memory. */
export class SerialsCache {
  #entries = new Map<string, SerialsEntry>();
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
    const entry: SerialsEntry = {
      version,
      size: 0,
      loading: load(MAX_BYTES).then((text) => serialsText(version, text)),
    };
    this.#entries.set(productId, entry);
    void this.#measure(productId, entry);
    return entry.loading;
  }

  async #measure(productId: string, entry: SerialsEntry): Promise<void> {
    let size = -1;
    try {
      size = (await entry.loading).text.length;
    } catch {
      // Whoever waits for it is told; the next one tries again.
    }
    if (this.#entries.get(productId) !== entry) return;
    if (size < 0) this.#entries.delete(productId);
    else {
      entry.size = size;
      this.#size += size;
      this.#shrink();
    }
  }

  #shrink(): void {
    for (const [productId, { size }] of this.#entries) {
      if (this.#size <= MAX_CHARACTERS) return;
      this.#entries.delete(productId);
      this.#size -= size;
    }
  }
}

function serialsText(version: string, text: string | null): SerialsText {
  if (text !== null) return { version, text, tooLarge: null };
  return { version, text: '{}', tooLarge: `deviceSerialToId would have more than ${MAX_BYTES >> 20} MiB.` };
}
