import { AppError, badInput } from '../../errors.ts';

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
export const PLANS: readonly Plan[] = [
  { slug: 'free', name: 'Free', deviceAllowance: 2, retentionDays: 90 },
  { slug: 'standard', name: 'Standard', deviceAllowance: 1000, retentionDays: 730 },
  { slug: 'unlimited', name: 'Unlimited', deviceAllowance: null, retentionDays: null },
];

/** The slug of the plan of devices for which none was chosen. */
export const DEFAULT_PLAN = 'free';

/** BAD_USER_INPUT listing the slugs when there is no such plan. */
export function planBySlug(slug: string, path: string): Plan {
  const plan = PLANS.find((candidate) => candidate.slug === slug);
  if (plan === undefined)
    throw badInput(
      `${path}: unknown plan "${slug.slice(0, 50)}"; choose one of ${PLANS.map((p) => p.slug).join(', ')}.`,
    );
  return plan;
}

/**
 * PLAN_LIMIT, naming a plan that would do, when `wanted` devices in all are more than the plan covers. How many the
 * workspace has is said to tokens that cover all of it (`wholeWorkspace`), and to no others.
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
  const choice = PLANS.find((other) => other.deviceAllowance === null || other.deviceAllowance >= wanted);
  throw new AppError(
    'PLAN_LIMIT',
    `The plan "${slug}" covers ${deviceAllowance} devices of a workspace, this would make ${wanted}. ` +
      `Choose the plan "${choice?.slug}" for these devices.`,
    { details: { plan: slug, deviceAllowance, wanted, choose: choice?.slug } },
  );
}
