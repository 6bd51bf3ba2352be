import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import type { DeviceService } from '../../domain/devices/device-service.ts';
import type { Plans } from '../../domain/plans/plans.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { PlanChangeObject, PlanObject } from '../types/plan.ts';

/** The plans to choose from, and what a change of plan takes away. */
@Resolver()
export class PlanResolver {
  readonly #plans: Plans;
  readonly #devices: DeviceService;
  readonly #shares: FairScheduler;

  constructor(plans: Plans, devices: DeviceService, shares: FairScheduler) {
    this.#plans = plans;
    this.#devices = devices;
    this.#shares = shares;
  }

  @Query(() => [PlanObject], {
    complexity: ({ childComplexity }) => 1 + 5 * childComplexity,
    description: 'Every plan, the smallest first.',
  })
  plans(@Ctx() context: GraphqlContext): readonly PlanObject[] {
    // Throws without a token.
    void context.access;
    return this.#plans.all;
  }

  @Query(() => PlanChangeObject, {
    complexity: 100,
    description: "What a change of the device's plan would take of its history: to be asked before updateDevice.",
  })
  planChange(
    @Ctx() { access }: GraphqlContext,
    @Arg('deviceId', () => ID, { description: 'The device.' }) deviceId: string,
    @Arg('plan', () => String, { description: 'The slug of the other plan (see plans).' }) plan: string,
  ): Promise<PlanChangeObject> {
    return this.#devices.planChange(access, deviceId, plan, this.#shares.backgroundOf(access).piece);
  }
}
