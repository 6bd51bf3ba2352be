import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import type { BulkChanges } from '../../domain/devices/bulk-changes.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { DateTime } from '../types/date-time.ts';
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
    @Arg('workspaceId', () => ID, { nullable: true, description: 'Only devices of this workspace.' })
    workspaceId?: string | null,
    @Arg('productId', () => ID, { nullable: true, description: 'Only devices of this product.' })
    productId?: string | null,
    @Arg('ids', () => [ID], { nullable: true, description: 'Only these devices, at most 1,000.' })
    ids?: string[] | null,
    @Arg('search', () => String, {
      nullable: true,
      description: 'Part of the name or serial number in any case, up to 200 characters.',
    })
    search?: string | null,
    @Arg('tags', () => [String], { nullable: true, description: 'Only devices with all of these tags.' })
    tags?: string[] | null,
    @Arg('anyTags', () => [String], { nullable: true, description: 'Only devices with at least one of these tags.' })
    anyTags?: string[] | null,
    @Arg('online', () => Boolean, {
      nullable: true,
      description: 'true: only those online; false: only those that are not.',
    })
    online?: boolean | null,
    @Arg('lastHeardBefore', () => DateTime, {
      nullable: true,
      description: 'Only devices last heard of before this time, or never.',
    })
    lastHeardBefore?: number | null,
    @Arg('lastHeardAfter', () => DateTime, {
      nullable: true,
      description: 'Only devices last heard of at this time or later.',
    })
    lastHeardAfter?: number | null,
    @Arg('dryRun', () => Boolean, { nullable: true, description: 'true: counts, and changes nothing.' })
    dryRun?: boolean | null,
    @Arg('confirm', () => Boolean, {
      nullable: true,
      description: 'true: also where the other plan takes history (see planChange); left out: false.',
    })
    confirm?: boolean | null,
  ): Promise<DevicesUpdate> {
    const filter = { workspaceId, productId, ids, search, tags, anyTags, online, lastHeardBefore, lastHeardAfter };
    const options = { dryRun: dryRun === true, isConfirmed: confirm === true, asker };
    return this.#changes.run(access, filter, input, options);
  }
}
