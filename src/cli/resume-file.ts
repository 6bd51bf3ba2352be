import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Position of long work, in a file beside it, so that an interrupted command can continue. */
export class ResumeFile<Place> {
  readonly #path: string;
  readonly #of: string;

  /** `of`: work that the position belongs to; the position of other work is an error. */
  constructor(path: string, of: unknown) {
    this.#path = path;
    this.#of = JSON.stringify(of);
  }

  /** The position; null at the beginning. Throws when the file belongs to other work. */
  read(): Place | null {
    if (!existsSync(this.#path)) return null;
    const { of, place } = this.#parsed();
    if (of === this.#of) return place;
    throw new Error(`${this.#path} is of something else that was not finished; finish that, or delete the file`);
  }

  #parsed(): { of: string; place: Place } {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as { of: string; place: Place };
    } catch (error) {
      throw new Error(`${this.#path} cannot be read; delete it to begin anew`, { cause: error });
    }
  }

  /** Writes the position atomically. */
  write(place: Place): void {
    writeFileSync(`${this.#path}.new`, JSON.stringify({ of: this.#of, place }), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}
