/** Maximum length of names compared by similarity. */
const LONGEST = 64;

/** Finds the existing name that an unknown one was probably meant to be. */
export class NameIndex {
  /** Names by their lower case; null: several share it. */
  readonly #folded = new Map<string, string | null>();
  readonly #letters: [letters: string, name: string][] = [];

  constructor(names: Iterable<string>) {
    for (const name of names) {
      const folded = name.toLowerCase();
      this.#folded.set(folded, this.#folded.has(folded) ? null : name);
      this.#letters.push([lettersOf(name), name]);
    }
  }

  /** The only name that differs in case alone; null when there is none, or several. */
  inOtherCapitals(given: string): string | null {
    return this.#folded.get(given.toLowerCase()) ?? null;
  }

  /** A name of the same letters and digits, or else a single slip away; null when there is none. */
  nearest(given: string): string | null {
    if (given.length > LONGEST) return null;
    const wanted = lettersOf(given);
    if (wanted === '') return null;
    let near: string | null = null;
    for (const [letters, name] of this.#letters) {
      if (letters === wanted) return name;
      if (near === null && isOneSlipAway(letters, wanted)) near = name;
    }
    return near;
  }
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** True for one character more, less or different, or two swapped; false for short names, which are too alike. */
function isOneSlipAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || Math.min(a.length, b.length) < 4) return false;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from += 1;
  const rest = (text: string, skipped: number): string => text.slice(from + skipped);
  if (rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1) || rest(a, 1) === rest(b, 1)) return true;
  return a[from] === b[from + 1] && a[from + 1] === b[from] && rest(a, 2) === rest(b, 2);
}
