import { encodeFrame, FRAME, frameHead } from './frames.ts';
import type { PoolJob } from './pool-job.ts';

/** Maximum memory kept per process, in about bytes of UTF-8. */
const KNOWN_SOURCE_BYTES = 16 << 20;
const KNOWN_SERIAL_BYTES = 32 << 20;
const NOTHING: readonly Buffer[] = [];

/** Sources and serial numbers that one decoder process was sent and still keeps, oldest first. */
export class ProcessKnowledge {
  readonly #sources = new Map<number, number>();
  #sourceBytes = 0;
  #newest = -1;
  readonly #serials = new Map<number, { version: string; size: number }>();
  #serialBytes = 0;

  /** Frames that send the process what it lacks for the job, and what to forget; some are in pieces. */
  missing({ source, product, serials }: PoolJob): readonly Buffer[] {
    // Usually it is the same source as before.
    if (source.no === this.#newest && serials === null) return NOTHING;
    this.#newest = source.no;
    const frames: Buffer[] = [];
    const known = this.#sources.get(source.no);
    if (known === undefined) {
      this.#sourceBytes += source.text.length;
      frames.push(encodeFrame(FRAME.SOURCE, [source.no], source.text));
    }
    this.#sources.delete(source.no);
    this.#sources.set(source.no, source.text.length);
    for (const [no, size] of this.#sources) {
      if (this.#sourceBytes <= KNOWN_SOURCE_BYTES) break;
      this.#sources.delete(no);
      this.#sourceBytes -= size;
      frames.push(encodeFrame(FRAME.DROP_SOURCE, [no], ''));
    }
    if (serials === null) return frames;
    const before = this.#serials.get(product.no);
    if (before?.version === serials.version) return frames;
    const { version, pieces, bytes } = serials;
    frames.push(frameHead(FRAME.SERIALS, [product.no], bytes), ...pieces);
    this.#serialBytes += bytes - (before?.size ?? 0);
    this.#serials.delete(product.no);
    this.#serials.set(product.no, { version, size: bytes });
    for (const [no, { size }] of this.#serials) {
      if (this.#serialBytes <= KNOWN_SERIAL_BYTES) break;
      this.#serials.delete(no);
      this.#serialBytes -= size;
      frames.push(encodeFrame(FRAME.SERIALS, [no], ''));
    }
    return frames;
  }
}
