const DAY_MS = 86_400_000;

/** How long a device's history is kept, and by which plan. */
export interface Keeps {
  plan: string;
  days: number;
}

/** How long devices of the plan with this slug keep their history; null: for ever. */
export type KeepsOf = (plan: string) => Keeps | null;

/** What was measured before then, in ms UTC, is no longer kept. */
export function keptFrom({ days }: Pick<Keeps, 'days'>, now: number): number {
  return now - days * DAY_MS;
}
