import 'reflect-metadata';
import { ArgsType, Field, ID, InputType } from 'type-graphql';
import type { DeviceFilter } from '../../domain/devices/device-filter.ts';
import type { ValueCondition } from '../../domain/devices/value-look.ts';
import type { FieldRole } from '../../domain/entities/field.ts';
import { DateTime } from './date-time.ts';
import { ConditionOperatorEnum, FieldRoleEnum } from './enums.ts';
import { MeasurementValue } from './measurement-value.ts';

/** A comparison of the newest value of a field. */
@InputType({
  description:
    'A comparison with the newest value of a field, given by its identifier or its role; a device without one does ' +
    'not meet it.',
})
class ValueConditionInput implements ValueCondition {
  @Field(() => String, { nullable: true, description: 'The identifier of the field, in whatever product.' })
  field?: string | null;

  @Field(() => FieldRoleEnum, { nullable: true, description: 'In place of field: the role of the field.' })
  role?: FieldRole | null;

  @Field(() => ConditionOperatorEnum, {
    description: 'Numbers: GT GTE LT LTE EQ NEQ; texts: EQ NEQ CONTAINS; booleans: EQ NEQ.',
  })
  operator!: ValueCondition['operator'];

  @Field(() => MeasurementValue, { description: 'The value to compare with.' })
  value!: number | boolean | string;
}

/** Conditions on devices, all of which must hold: the same for a list and for a change of many. */
@ArgsType()
export class DeviceFilterArgs implements DeviceFilter {
  @Field(() => ID, { nullable: true, description: 'Only devices of this workspace.' })
  workspaceId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Only devices of other workspaces than this one.' })
  exceptWorkspaceId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Only devices of this product.' })
  productId?: string | null;

  @Field(() => [ID], { nullable: true, description: 'Only these devices, at most 1,000.' })
  ids?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description:
      'Only devices with one of these serial numbers, at most 1,000: exact, hexadecimal EUIs however they are written.',
  })
  serialNumbers?: string[] | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Part of name, serial number, location, a tag or metadata (as "key: value") in any case, up to 200 characters.',
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

  @Field(() => [ValueConditionInput], {
    nullable: true,
    description:
      'Only devices whose newest values meet all of these, at most 10. Looks through at most 10,000 devices: more are ' +
      'BAD_USER_INPUT.',
  })
  values?: ValueConditionInput[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'true: only devices whose battery (the field with the role BATTERY) is below the low of its display, else below 20 %; false: only others. ' +
      'Looks through at most 10,000 devices, as values does.',
  })
  lowBattery?: boolean | null;
}
