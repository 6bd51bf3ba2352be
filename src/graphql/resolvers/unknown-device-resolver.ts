import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { UnknownDevices } from '../../domain/receiving/unknown-devices.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { Promised } from '../context/promised.ts';
import { priceOfEach, priceOfList } from '../operation/operation-cost.ts';
import { DeviceObject } from '../types/device.ts';
import { UnknownDeviceObject } from '../types/unknown-device.ts';

/** Price of making one a device, beside what is asked of that. */
const ADOPTION_PRICE = 0.5;
/** Unknown devices that are priced where no number is wished for. */
const USUAL_UNKNOWN = 200;

/** Identifiers that networks sent and no device has (CONTRACT 6). */
@Resolver()
export class UnknownDeviceResolver {
  readonly #unknownDevices: UnknownDevices;

  constructor(unknownDevices: UnknownDevices) {
    this.#unknownDevices = unknownDevices;
  }

  @Query(() => [UnknownDeviceObject], {
    complexity: ({ args, childComplexity }) => priceOfList(args['first'], USUAL_UNKNOWN, 1 + childComplexity),
    description:
      'Identifiers that networks sent and no device has, or several, and names that entries on webhooks have and no device of the product, last seen first. What was sent is kept for adoptUnknownDevice; a device that is created by hand gets none of it.',
  })
  unknownDevices(
    @Ctx() { access, loaders }: GraphqlContext,
    @Arg('workspaceId', () => ID, {
      nullable: true,
      description: 'Only those of this workspace; left out: of every workspace where the token may READ.',
    })
    workspaceId?: string | null,
    @Arg('first', () => Int, { nullable: true, description: 'At most so many: 1 to 2,000; left out: all.' })
    first?: number | null,
  ): Promised<UnknownDeviceObject[]> {
    const read = () => this.#unknownDevices.list(access, workspaceId, first);
    return loaders.list(`unknown devices of ${workspaceId ?? ''}, ${first ?? 'all'}`, read);
  }

  @Mutation(() => DeviceObject, {
    description:
      'Makes a device of it, or takes the one of the product that was created by hand meanwhile, and replays the calls that were kept. plan left out: free.',
  })
  adoptUnknownDevice(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the unknown device.' }) id: string,
    @Arg('productId', () => ID, { description: 'The product it is to belong to.' }) productId: string,
    @Arg('name', () => String, {
      nullable: true,
      description: 'The name of the device, 1 to 200 characters; left out: its identifier.',
    })
    name?: string | null,
    @Arg('plan', () => String, { nullable: true, description: 'The slug of the plan that is to cover it (see plans).' })
    plan?: string | null,
  ): Promise<DeviceObject> {
    return this.#unknownDevices.adopt(access, id, productId, { name, plan });
  }

  @Mutation(() => [DeviceObject], {
    complexity: ({ args, childComplexity }) => priceOfEach(args['ids'], ADOPTION_PRICE + childComplexity),
    description:
      'adoptUnknownDevice for several at once, each called as its identifier: first those of the product’s webhook, all or none, then those of networks. In the order given.',
  })
  adoptUnknownDevices(
    @Ctx() { access }: GraphqlContext,
    @Arg('ids', () => [ID], { description: 'The ids of the unknown devices, at most 1,000.' }) ids: string[],
    @Arg('productId', () => ID, { description: 'The product they are to belong to.' }) productId: string,
    @Arg('plan', () => String, { nullable: true, description: 'The slug of the plan that is to cover them.' })
    plan?: string | null,
  ): Promise<DeviceObject[]> {
    return this.#unknownDevices.adoptMany(access, ids, productId, plan);
  }
}
