const DECIMAL = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/** The finite number that a text writes as a decimal, blanks around it allowed; null: it is none, or too large. */
export function readDecimal(text: string): number | null {
  const number = DECIMAL.test(text) ? Number(text) : Infinity;
  return Number.isFinite(number) ? number : null;
}
