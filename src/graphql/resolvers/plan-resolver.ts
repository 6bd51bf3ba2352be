import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import type { DeviceService } from '../../domain/devices/device-service.ts';
import type { Plans } from '../../domain/plans/plans.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { FieldMoveInput, ProductChangeObject } from '../types/device.ts';
import { PlanChangeObject, PlanObject } from '../types/plan.ts';

/** The plans to choose from, and what a change of plan or product takes away. */
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

  @Query(() => ProductChangeObject, {
    complexity: 100,
    description:
      "What a move to another product would make of the device's history and configuration: to be asked before updateDevice.",
  })
  productChange(
    @Ctx() { access }: GraphqlContext,
    @Arg('deviceId', () => ID, { description: 'The device.' }) deviceId: string,
    @Arg('productId', () => ID, { description: 'The other product, of the same workspace.' }) productId: string,
    @Arg('fields', () => [FieldMoveInput], { nullable: true, description: 'As in UpdateDeviceInput.' })
    fields?: FieldMoveInput[] | null,
  ): Promise<ProductChangeObject> {
    const { piece } = this.#shares.backgroundOf(access);
    return this.#devices.productChange(access, deviceId, { productId, fields: fields ?? [], path: '' }, piece);
  }
}
