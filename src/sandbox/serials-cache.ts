import type { DecoderJob } from '../domain/decoders/decoder-engine.ts';
import { must } from '../must.ts';

/** Serial numbers of one product at one version, ready for a decoder process. */
export interface SerialsText {
  version: string;
  /** JSON text of serial number → device id, in UTF-8. */
  pieces: readonly Buffer[];
  /** Bytes of all pieces. */
  bytes: number;
  /** Message if there are too many for a decoder, the pieces then being empty; else null. */
  tooLarge: string | null;
}

type Serials = DecoderJob['serials'];

interface SerialsEntry {
  version: string;
  loading: Promise<SerialsText>;
  /** null while loading. */
  size: number | null;
  /** Load that follows this one, of the newest version asked for meanwhile. */
  next: { serials: Serials; loading: Promise<SerialsText> } | null;
}

const MAX_KEPT_BYTES = 32_000_000;
const MAX_BYTES = 16 << 20;

/**
 * Serial numbers of the products used last, loaded once per version, in bounded memory. A product loads one version at
 * a time; callers that ask for newer ones meanwhile share the load after it.
 */
export class SerialsCache {
  #entries = new Map<string, SerialsEntry>();
  #size = 0;

  of(productId: string, serials: Serials): Promise<SerialsText> {
    const known = this.#entries.get(productId);
    if (known === undefined) return this.#load(productId, serials);
    if (known.version === serials.version) {
      this.#entries.delete(productId);
      this.#entries.set(productId, known);
      return known.loading;
    }
    if (known.size !== null) {
      this.#forget(productId, known);
      return this.#load(productId, serials);
    }
    if (known.next === null) {
      const begin = (): Promise<SerialsText> => this.of(productId, must(known.next).serials);
      known.next = { serials, loading: known.loading.then(begin, begin) };
    }
    known.next.serials = serials;
    return known.next.loading;
  }

  #load(productId: string, { version, load }: Serials): Promise<SerialsText> {
    const loading = load(MAX_BYTES).then((pieces) => serialsText(version, pieces));
    const entry: SerialsEntry = { version, size: null, next: null, loading };
    entry.loading = loading.then(
      (text) => {
        entry.size = text.bytes;
        this.#size += text.bytes;
        this.#shrink();
        return text;
      },
      (error: unknown) => {
        // Its callers get the error; the next call tries again.
        if (this.#entries.get(productId) === entry) this.#entries.delete(productId);
        throw error;
      },
    );
    this.#entries.set(productId, entry);
    return entry.loading;
  }

  #shrink(): void {
    for (const [productId, entry] of this.#entries) {
      if (this.#size <= MAX_KEPT_BYTES) return;
      if (entry.size !== null) this.#forget(productId, entry);
    }
  }

  #forget(productId: string, { size }: SerialsEntry): void {
    this.#entries.delete(productId);
    this.#size -= size ?? 0;
  }
}

function serialsText(version: string, pieces: readonly Buffer[] | null): SerialsText {
  if (pieces === null) {
    const tooLarge = `deviceSerialToId would have more than ${MAX_BYTES >> 20} MiB.`;
    return { version, pieces: [Buffer.from('{}')], bytes: 2, tooLarge };
  }
  return { version, pieces, bytes: pieces.reduce((sum, { length }) => sum + length, 0), tooLarge: null };
}
