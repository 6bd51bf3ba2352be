import 'reflect-metadata';
import { ArgsType, Field, ID } from 'type-graphql';
import type { DeviceFilter } from '../../domain/devices/device-list.ts';
import { DateTime } from './date-time.ts';

/** Conditions on devices, all of which must hold: the same for a list and for a change of many. */
@ArgsType()
export class DeviceFilterArgs implements DeviceFilter {
  @Field(() => ID, { nullable: true, description: 'Only devices of this workspace.' })
  workspaceId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Only devices of this product.' })
  productId?: string | null;

  @Field(() => [ID], { nullable: true, description: 'Only these devices, at most 1,000.' })
  ids?: string[] | null;

  @Field(() => String, {
    nullable: true,
    description: 'Part of the name or serial number in any case, up to 200 characters.',
  })
  search?: string | null;

  @Field(() => [String], { nullable: true, description: 'Only devices with all of these tags.' })
  tags?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'Only devices with at least one of these tags.' })
  anyTags?: string[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'true: only those online; false: only those that are not.',
  })
  online?: boolean | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Only devices last heard of before this time, or never.',
  })
  lastHeardBefore?: number | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Only devices last heard of at this time or later.',
  })
  lastHeardAfter?: number | null;
}
