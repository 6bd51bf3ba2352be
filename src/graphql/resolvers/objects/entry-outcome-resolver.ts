import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { EntryOutcomeObject } from '../../types/decoder.ts';
import { DeviceObject } from '../../types/device.ts';
import { FieldObject } from '../../types/field.ts';

/** null where nothing was matched, or the match is gone by now. */
@Resolver(() => EntryOutcomeObject)
export class EntryOutcomeResolver {
  @FieldResolver(() => DeviceObject, {
    nullable: true,
    description: 'The device that the entry was matched to; null: none, or it is gone by now.',
  })
  matchedDevice(
    @Root() { matchedDeviceId }: EntryOutcomeObject,
    @Ctx() { access, loaders }: GraphqlContext,
  ): Promised<DeviceObject | null> {
    if (matchedDeviceId === null) return null;
    return whenKnown(loaders.device.load(matchedDeviceId), (device) => {
      if (device === null) return null;
      const { id, product, workspace } = device;
      return access.coversDevice({ id, productId: product.id, workspaceId: workspace.id }) ? device : null;
    });
  }

  @FieldResolver(() => FieldObject, {
    nullable: true,
    description: 'The field that the entry was matched to; null: none, or it is gone by now.',
  })
  matchedField(
    @Root() { matchedFieldKey }: EntryOutcomeObject,
    @Ctx() { loaders }: GraphqlContext,
  ): Promised<FieldObject | null> {
    return matchedFieldKey === null ? null : loaders.field.load(matchedFieldKey);
  }
}
