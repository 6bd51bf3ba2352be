import { type DecoderJob, MAX_LOOKED_UP_BYTES } from '../domain/decoders/decoder-engine.ts';
import { readJson } from './untrusted-json.ts';

const MAX_DEVICES = 1_000;
const MAX_ID_LENGTH = 200;

/** Values that one run has looked up so far: at most 1,000 devices and 4 MiB of JSON text. */
export class LookedUp {
  #senderId: string | null;
  #ids = new Set<string>();
  #parts: string[] = [];
  #bytes = 0;
  readonly #grow: (bytes: number) => void;

  /** `senderId`: device whose values are also shown without its id. `grow`: counts more bytes, and may throw. */
  constructor(senderId: string | null, grow: (bytes: number) => void) {
    this.#senderId = senderId;
    this.#grow = grow;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** JSON text of `[senderId, {device id: DeviceValues or null}]`; `''` before the first look-up. */
  get text(): string {
    return this.#parts.length === 0 ? '' : `[${JSON.stringify(this.#senderId)},{${this.#parts.join(',')}}]`;
  }

  /** Looks up the values of these devices. Returns the sentence that names a passed limit, or null. */
  async add(ids: readonly string[], lookUp: DecoderJob['lookUp']): Promise<string | null> {
    const wanted = [...new Set(ids)].filter((id) => !this.#ids.has(id));
    if (this.#ids.size + wanted.length > MAX_DEVICES) {
      return `The decoder asked for the values of more than ${MAX_DEVICES} devices in one run.`;
    }
    for await (const [id, text] of lookUp(wanted)) {
      this.#add(id, text);
      // Ends the loop, so nothing more is read.
      if (this.#bytes > MAX_LOOKED_UP_BYTES)
        return `The values that the decoder asked for have more than ${MAX_LOOKED_UP_BYTES >> 20} MiB.`;
    }
    for (const id of wanted) if (!this.#ids.has(id)) this.#add(id, null);
    return null;
  }

  #add(id: string, text: string | null): void {
    const part = `${JSON.stringify(id)}:${text}`;
    const bytes = Buffer.byteLength(part);
    this.#grow(bytes);
    this.#bytes += bytes;
    this.#ids.add(id);
    this.#parts.push(part);
  }
}

/** The device ids in a run's text that asks for more (`M`, see `realm/run-decoder.ts`); null for any other text. */
export function readAskedIds(text: string): string[] | null {
  const ids = text[0] === 'M' ? readJson(text.slice(1)) : undefined;
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > MAX_DEVICES + 1) return null;
  const fits = (id: unknown): boolean => typeof id === 'string' && id.length <= MAX_ID_LENGTH;
  return ids.every(fits) ? (ids as string[]) : null;
}
