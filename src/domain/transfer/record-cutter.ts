/** Maximum parts of an unfinished record that are kept apart: pieces may be single characters. */
const MAX_PARTS = 1_000;

/** Cuts a text that arrives in pieces into records. However small the pieces, no character is visited twice. */
export class RecordCutter {
  readonly #endsIn: (piece: string) => number[];
  #parts: string[] = [];
  #length = 0;

  /** `endsIn`: gives the line breaks of the next piece that end a record. */
  constructor(endsIn: (piece: string) => number[]) {
    this.#endsIn = endsIn;
  }

  /** Length of the unfinished record. */
  get unfinished(): number {
    return this.#length;
  }

  /** Records that end in this piece, without the line breaks that end them. */
  cut(piece: string): string[] {
    const records: string[] = [];
    let at = 0;
    for (const end of this.#endsIn(piece)) {
      const text = piece.slice(at, end);
      records.push(this.#length === 0 ? text : this.rest() + text);
      at = end + 1;
    }
    this.#keep(at === 0 ? piece : piece.slice(at));
    return records;
  }

  /** Takes the unfinished record. */
  rest(): string {
    const text = this.#parts.join('');
    this.#parts = [];
    this.#length = 0;
    return text;
  }

  #keep(part: string): void {
    if (part === '') return;
    if (this.#parts.length === MAX_PARTS) this.#parts = [this.#parts.join('')];
    this.#parts.push(part);
    this.#length += part.length;
  }
}

/** Positions of the line breaks, each of which ends a record. */
export function lineEndsIn(piece: string): number[] {
  const ends: number[] = [];
  for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', at + 1)) ends.push(at);
  return ends;
}
