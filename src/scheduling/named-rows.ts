/** What gives each name counts of its own in this process: all that have the name count together. */
export function countsByName<Counts>(make: () => Counts): (name: string) => Counts {
  const known = new Map<string, Counts>();
  return (name) => {
    let counts = known.get(name);
    if (counts === undefined) known.set(name, (counts = make()));
    return counts;
  };
}

/** A lane, of work of one kind that is queued for one scarce thing, or a pool, of memory that is shared. */
type Row = { runs: string } | { holds: string };

/** Gives each row of a table its name. */
export function namedRows<T extends Record<string, Row>>(
  rows: T,
): { readonly [K in keyof T]: Readonly<T[K]> & { readonly name: string } } {
  const entries = Object.entries(rows).map(([name, row]) => [name, { ...row, name }]);
  return Object.fromEntries(entries) as { [K in keyof T]: T[K] & { name: string } };
}
