import 'reflect-metadata';
import { Field, Float, ID, InputType, Int } from 'type-graphql';
import type { ConditionOperator, Severity } from '../../domain/rules/definition.ts';
import type { Aggregation } from '../../domain/ports/series-request.ts';
import { AggregationEnum, ConditionOperatorEnum, SeverityEnum } from './enums.ts';
import { MeasurementValue } from './measurement-value.ts';

type Value = number | boolean | string;

@InputType({ description: 'What stands for the values of some time, in place of the newest value.' })
class ConditionWindowInput {
  @Field(() => AggregationEnum, { description: 'What stands for the values, as in `history`.' })
  aggregation!: Aggregation;

  @Field(() => Float, { description: 'How long before each value, which is the last of the window; up to 31 days.' })
  seconds!: number;
}

@InputType({ description: 'A circle on the ground.' })
class CircleInput {
  @Field(() => String, { description: 'Its center, (lat,lon).' })
  center!: string;

  @Field(() => Float, { description: 'Its radius, up to 20,000,000.' })
  meters!: number;
}

@InputType({
  description:
    'One of: threshold (field, operator, and one of value, otherField and configurationField), absent (absentSeconds, ' +
    'perhaps field), place (field, INSIDE or OUTSIDE, circle or polygon), changed (field, from, to).',
})
class ConditionInput {
  @Field(() => String, { nullable: true, description: 'The identifier of the field that is watched.' })
  field?: string | null;

  @Field(() => ConditionOperatorEnum, {
    nullable: true,
    description: 'Numbers: GT GTE LT LTE EQ NEQ; texts: EQ NEQ CONTAINS; booleans: EQ NEQ; places: INSIDE OUTSIDE.',
  })
  operator?: ConditionOperator | null;

  @Field(() => MeasurementValue, { nullable: true, description: 'A fixed value to compare with.' })
  value?: Value | null;

  @Field(() => String, { nullable: true, description: 'The field of the same device to compare with.' })
  otherField?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The configuration field to compare with: each device has its own value.',
  })
  configurationField?: string | null;

  @Field(() => MeasurementValue, {
    nullable: true,
    description: 'What it is compared with once it is met (hysteresis): with GT 30 and clear 28 it ends at 28.',
  })
  clear?: Value | null;

  @Field(() => ConditionWindowInput, { nullable: true, description: 'Left out: the newest value.' })
  window?: ConditionWindowInput | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Met when no value of the field, or nothing at all of the device, has come for so long; 1 to 31 days.',
  })
  absentSeconds?: number | null;

  @Field(() => CircleInput, { nullable: true, description: 'The area of INSIDE or OUTSIDE.' })
  circle?: CircleInput | null;

  @Field(() => [String], { nullable: true, description: 'The corners of the area, each (lat,lon), 3 to 100.' })
  polygon?: string[] | null;

  @Field(() => MeasurementValue, { nullable: true, description: 'The value it turned from; left out: any other.' })
  from?: Value | null;

  @Field(() => MeasurementValue, { nullable: true, description: 'The value it turned to; left out: any other.' })
  to?: Value | null;
}

@InputType({
  description: 'One severity of a rule, and when it is met: give either all or any, of 1 to 10 conditions.',
})
class RuleLevelInput {
  @Field(() => SeverityEnum, { description: 'How bad that is; each at most once in a rule.' })
  severity!: Severity;

  @Field(() => [ConditionInput], { nullable: true, description: 'Met when every one is.' })
  all?: ConditionInput[] | null;

  @Field(() => [ConditionInput], { nullable: true, description: 'Met when at least one is.' })
  any?: ConditionInput[] | null;
}

@InputType({ description: 'When something is told. Outside of it nothing is.' })
class ScheduleInput {
  @Field(() => [String], { nullable: true, description: 'MON to SUN; left out: every day.' })
  days?: string[] | null;

  @Field(() => String, {
    nullable: true,
    description: 'Such as 08:00-18:00, or over midnight 22:00-06:00; left out: the whole day.',
  })
  hours?: string | null;

  @Field(() => String, { description: 'The IANA zone of days and hours, such as Europe/Berlin.' })
  timeZone!: string;
}

@InputType({
  description:
    'Who is told of the alerts of a rule, and how often. Without endpoints: every one of the workspace that wants alerts.',
})
class RuleNotifyInput {
  @Field(() => [ID], {
    nullable: true,
    description: 'These endpoints alone; naming them needs a token of the whole workspace.',
  })
  endpointIds?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'The same by their keys, at most 20 of both together.' })
  endpointKeys?: string[] | null;

  @Field(() => String, {
    nullable: true,
    description: 'PRODUCT: alerts of many devices at one moment are one message, with the count and the first fifty.',
  })
  groupBy?: string | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Tell again so often until it is over or acknowledged; from 1 second to 31 days, left out: never.',
  })
  remindEverySeconds?: number | null;

  @Field(() => Int, { nullable: true, description: 'At most so many reminders of one alert, 1 to 1000.' })
  maxReminders?: number | null;
}

/** A rule to be, or its changes. */
@InputType({
  description: 'A rule to be; a product has at most 50. In updateRule what is left out stays, and null is the default.',
})
export class RuleInput {
  @Field(() => String, {
    nullable: true,
    description: 'A key of your choice, unique in the workspace: 1 to 64 characters of a-z 0-9 -.',
  })
  key?: string | null;

  @Field(() => String, { description: 'What people call it, 1 to 200 characters.' })
  name!: string;

  @Field(() => Boolean, { nullable: true, description: 'Left out: true.' })
  enabled?: boolean | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Watch devices that have all of these; left out: all devices.',
  })
  tags?: string[] | null;

  @Field(() => [RuleLevelInput], { description: '1 to 3 levels. The highest that is met counts.' })
  levels!: RuleLevelInput[];

  @Field(() => Float, {
    nullable: true,
    description: 'How long it must be met before it fires, by measured times; up to 31 days, left out: 0.',
  })
  forSeconds?: number | null;

  @Field(() => Float, {
    nullable: true,
    description: 'How long it must not be met before it is over; up to 31 days, left out: 0.',
  })
  clearForSeconds?: number | null;

  @Field(() => Boolean, { nullable: true, description: 'true: it is over only once it is acknowledged, too.' })
  latched?: boolean | null;

  @Field(() => ScheduleInput, { nullable: true, description: 'When it is told; left out: always.' })
  schedule?: ScheduleInput | null;

  @Field(() => RuleNotifyInput, {
    nullable: true,
    description: 'Who is told; left out: every endpoint of the workspace that wants alerts, once.',
  })
  notify?: RuleNotifyInput | null;
}
