/** A line of two texts laid side by side: in both, only in the old one, or only in the new one. */
interface DifferentLine {
  kind: 'same' | 'gone' | 'new';
  text: string;
}

/** Maximum pairs of lines to compare; beyond, all of them are shown as replaced. */
const MAX_PAIRS = 4_000_000;

/** The smallest set of changed lines that turns `before` into `after`. */
export function lineDifference(before: string, after: string): DifferentLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const same = (text: string): DifferentLine => ({ kind: 'same', text });
  return [
    ...old.slice(0, head).map(same),
    ...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail).map(same),
  ];
}

function middle(old: readonly string[], now: readonly string[]): DifferentLine[] {
  if (old.length * now.length > MAX_PAIRS)
    return [
      ...old.map((text): DifferentLine => ({ kind: 'gone', text })),
      ...now.map((text): DifferentLine => ({ kind: 'new', text })),
    ];
  // common[i][j]: maximum number of common lines of the texts from i and from j on.
  const wide = now.length + 1;
  const common = new Uint32Array((old.length + 1) * wide);
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      common[i * wide + j] =
        old[i] === now[j]
          ? common[(i + 1) * wide + j + 1]! + 1
          : Math.max(common[(i + 1) * wide + j]!, common[i * wide + j + 1]!);
  const lines: DifferentLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ kind: 'same', text: old[i]! });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && common[(i + 1) * wide + j]! >= common[i * wide + j + 1]!)) {
      lines.push({ kind: 'gone', text: old[i]! });
      i += 1;
    } else {
      lines.push({ kind: 'new', text: now[j]! });
      j += 1;
    }
  }
  return lines;
}
