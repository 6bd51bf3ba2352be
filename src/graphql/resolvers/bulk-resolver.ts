import { Arg, Args, Ctx, Mutation, Resolver } from 'type-graphql';
import type { BulkChanges } from '../../domain/devices/bulk-changes.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { DeviceFilterArgs } from '../types/device-filter-args.ts';
import { DevicesUpdate, UpdateDevicesInput } from '../types/device.ts';

/** Changes of many devices at once. */
@Resolver()
export class BulkResolver {
  readonly #changes: BulkChanges;

  constructor(changes: BulkChanges) {
    this.#changes = changes;
  }

  @Mutation(() => DevicesUpdate, {
    complexity: 1000,
    description:
      'Changes all devices that fit, at most 10,000, all or none. All conditions given must hold, as in devices; at ' +
      'least one is needed.',
  })
  updateDevices(
    @Ctx() { access, asker }: GraphqlContext,
    @Arg('input', () => UpdateDevicesInput, { description: 'What is to change.' }) input: UpdateDevicesInput,
    @Args(() => DeviceFilterArgs) filter: DeviceFilterArgs,
    @Arg('dryRun', () => Boolean, { nullable: true, description: 'true: counts, and changes nothing.' })
    dryRun?: boolean | null,
    @Arg('confirm', () => Boolean, {
      nullable: true,
      description: 'true: also where the other plan takes history (see planChange); left out: false.',
    })
    confirm?: boolean | null,
  ): Promise<DevicesUpdate> {
    const options = { dryRun: dryRun === true, isConfirmed: confirm === true, asker };
    return this.#changes.run(access, filter, input, options);
  }
}
