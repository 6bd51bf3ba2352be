import { Tally } from '../../domain/tally.ts';
import type { CheckedDocument } from './checked-documents.ts';

/** What operations keep together in memory; a document of several counts once. */
export class Holding {
  readonly #documents = new Tally<CheckedDocument>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#documents.size === 0 && this.#bytes === 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How much there would be with one more. */
  with(document: CheckedDocument | null, bytes: number): number {
    return this.#bytes + bytes + (document === null || this.#documents.of(document) > 0 ? 0 : document.bytes);
  }

  add(document: CheckedDocument | null, bytes: number): void {
    this.#bytes = this.with(document, bytes);
    if (document !== null) this.#documents.add(document, 1);
  }

  remove(document: CheckedDocument | null, bytes: number): void {
    if (document !== null) this.#documents.add(document, -1);
    this.#bytes -= bytes + (document === null || this.#documents.of(document) > 0 ? 0 : document.bytes);
  }
}
