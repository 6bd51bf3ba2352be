/** Short enough to be one of ours: as many transactions in progress as a server has connections. */
const FORM = /^\d{1,19}:\d{1,19}:(?:\d{1,19}(?:,\d{1,19}){0,199})?$/;

/** Whether PostgreSQL takes the text for a `pg_snapshot`; for any other the query would fail. */
export function isSnapshot(text: string): boolean {
  if (!FORM.test(text)) return false;
  const [xmin, xmax, ...inProgress] = text.split(/[:,]/).filter(Boolean).map(BigInt) as [bigint, bigint, ...bigint[]];
  // The first that is in progress may be the oldest of all; none is named before a smaller one.
  const inOrder = [xmin, ...inProgress].every((id, at, all) => at === 0 || id >= all[at - 1]!);
  return xmin > 0n && xmin <= xmax && inOrder && inProgress.every((id) => id < xmax);
}
