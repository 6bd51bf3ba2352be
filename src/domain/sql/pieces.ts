/** Values per statement. */
const AT_ONCE = 500;

/** The values in pieces for one statement each. */
export function piecesOf<Value>(values: readonly Value[]): Value[][] {
  const pieces: Value[][] = [];
  for (let at = 0; at < values.length; at += AT_ONCE) pieces.push(values.slice(at, at + AT_ONCE));
  return pieces;
}
