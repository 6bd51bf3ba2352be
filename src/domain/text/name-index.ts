/** Longer names are nearest to none. */
const LONGEST = 64;

/** Finds the name that was meant by one that is not there. */
export class NameIndex {
  /** In small letters; null: several have these. */
  readonly #folded = new Map<string, string | null>();
  readonly #letters: [letters: string, name: string][] = [];

  constructor(names: Iterable<string>) {
    for (const name of names) {
      const folded = name.toLowerCase();
      this.#folded.set(folded, this.#folded.has(folded) ? null : name);
      this.#letters.push([lettersOf(name), name]);
    }
  }

  /** The only name that differs at most in capitals; null: there is none, or several. */
  inOtherCapitals(given: string): string | null {
    return this.#folded.get(given.toLowerCase()) ?? null;
  }

  /** A name of the same letters and digits, whatever stands between them, else one a single slip away; null: none. */
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

/** One character more, less or another, or two in the other order; short names are too alike for that. */
function isOneSlipAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || Math.min(a.length, b.length) < 4) return false;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from += 1;
  const rest = (text: string, skipped: number): string => text.slice(from + skipped);
  if (rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1) || rest(a, 1) === rest(b, 1)) return true;
  return a[from] === b[from + 1] && a[from + 1] === b[from] && rest(a, 2) === rest(b, 2);
}
