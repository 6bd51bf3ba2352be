const DAY_MS = 86_400_000;

/** Retention of a device's history, and the plan it comes from. */
export interface Keeps {
  plan: string;
  days: number;
}

/** Retention by the slug of a plan; null: for ever. */
export type KeepsOf = (plan: string) => Keeps | null;

/** Start of the kept history, in ms UTC; older values are deleted. */
export function keptFrom({ days }: Pick<Keeps, 'days'>, now: number): number {
  return now - days * DAY_MS;
}
