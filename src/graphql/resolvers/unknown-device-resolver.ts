import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { UnknownDevices } from '../../domain/calls/unknown-devices.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { DeviceObject } from '../types/device.ts';
import { UnknownDeviceObject } from '../types/unknown-device.ts';

/** Identifiers that networks sent and no device has (CONTRACT 6). */
@Resolver()
export class UnknownDeviceResolver {
  readonly #unknownDevices: UnknownDevices;

  constructor(unknownDevices: UnknownDevices) {
    this.#unknownDevices = unknownDevices;
  }

  @Query(() => [UnknownDeviceObject], {
    description: 'Identifiers that networks sent and no device has, last seen first.',
  })
  unknownDevices(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { nullable: true }) workspaceId?: string | null,
  ): Promise<UnknownDeviceObject[]> {
    return this.#unknownDevices.list(access, workspaceId);
  }

  @Mutation(() => DeviceObject, {
    description: 'Makes a device of it and replays the calls that were kept. plan left out: free.',
  })
  adoptUnknownDevice(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID) id: string,
    @Arg('productId', () => ID) productId: string,
    @Arg('name', () => String, { nullable: true }) name?: string | null,
    @Arg('plan', () => String, { nullable: true }) plan?: string | null,
  ): Promise<DeviceObject> {
    return this.#unknownDevices.adopt(access, id, productId, { name, plan });
  }
}
