import { AppError, badInput } from '../../errors.ts';
import type { Keeps } from '../ingest-cache/keeps.ts';

/**
 * CONTRACT 1. `deviceAllowance`: devices of one workspace, null: any number. `retentionDays` null: history is kept for
 * ever.
 */
export interface Plan {
  slug: string;
  name: string;
  deviceAllowance: number | null;
  retentionDays: number | null;
}

/** From the smallest to the largest; the last one covers any number of devices. */
export const PLAN_SLUGS = ['free', 'standard', 'unlimited'] as const;

/** The slug of a plan. */
type PlanSlug = (typeof PLAN_SLUGS)[number];

/** The days for which plans keep history (`PLAN_RETENTION_DAYS`); a plan that is not there keeps it for ever. */
export type RetentionDays = Partial<Record<PlanSlug, number>>;

const ALLOWANCES: Record<PlanSlug, { name: string; deviceAllowance: number | null }> = {
  free: { name: 'Free', deviceAllowance: 2 },
  standard: { name: 'Standard', deviceAllowance: 1000 },
  unlimited: { name: 'Unlimited', deviceAllowance: null },
};

/** The slug of the plan of devices for which none was chosen. */
export const DEFAULT_PLAN = 'free';

/** The plans of this installation, with the retention that its operator has set. */
export class Plans {
  /** All plans in the order of `PLAN_SLUGS`. */
  readonly all: readonly Plan[];

  constructor(retentionDays: RetentionDays) {
    this.all = PLAN_SLUGS.map((slug) => ({
      slug,
      ...ALLOWANCES[slug],
      retentionDays: retentionDays[slug] ?? null,
    }));
  }

  /** BAD_USER_INPUT listing the slugs when there is no such plan. */
  bySlug(slug: string, path: string): Plan {
    const plan = this.all.find((candidate) => candidate.slug === slug);
    if (plan === undefined)
      throw badInput(`${path}: unknown plan "${slug.slice(0, 50)}"; choose one of ${PLAN_SLUGS.join(', ')}.`);
    return plan;
  }

  /** Retention of the plan's devices; null: for ever. */
  keeps(slug: string): Keeps | null {
    const days = this.all.find((plan) => plan.slug === slug)?.retentionDays ?? null;
    return days === null ? null : { plan: slug, days };
  }
}

/**
 * PLAN_LIMIT, naming a plan that would do, when `wanted` devices in all are more than the plan covers. The number the
 * workspace has is told only to tokens that cover all of it (`wholeWorkspace`).
 */
export function requireAllowance(plan: Plan, wanted: number, wholeWorkspace: boolean): void {
  const { slug, deviceAllowance } = plan;
  if (deviceAllowance === null || wanted <= deviceAllowance) return;
  if (!wholeWorkspace)
    throw new AppError(
      'PLAN_LIMIT',
      `The plan "${slug}" covers ${deviceAllowance} devices of a workspace, and this would be more. ` +
        'Choose a larger plan for these devices.',
      { details: { plan: slug, deviceAllowance } },
    );
  const choice = PLAN_SLUGS.find((slug) => (ALLOWANCES[slug].deviceAllowance ?? Infinity) >= wanted);
  throw new AppError(
    'PLAN_LIMIT',
    `The plan "${slug}" covers ${deviceAllowance} devices of a workspace, this would make ${wanted}. ` +
      `Choose the plan "${choice}" for these devices.`,
    { details: { plan: slug, deviceAllowance, wanted, choose: choice } },
  );
}
