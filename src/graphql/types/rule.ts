import 'reflect-metadata';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { ConditionOperator, RuleDefinition, Severity } from '../../domain/rules/definition.ts';
import type { Aggregation } from '../../domain/ports/series-request.ts';
import type { Notify } from '../../domain/rules/notify.ts';
import { DateTime } from './date-time.ts';
import { DeviceObject } from './device.ts';
import { AggregationEnum, ConditionOperatorEnum, SeverityEnum } from './enums.ts';
import { Json } from './json.ts';
import { MeasurementValue } from './measurement-value.ts';

type Value = number | boolean | string;

@ObjectType('ConditionWindow', { simpleResolvers: true, description: 'What stands for the values of some time.' })
class ConditionWindow {
  @Field(() => AggregationEnum, { description: 'What stands for the values, as in `history`.' })
  aggregation!: Aggregation;

  @Field(() => Float, { description: 'How long before each value, which is the last of the window.' })
  seconds!: number;
}

@ObjectType('Circle', { simpleResolvers: true, description: 'A circle on the ground.' })
class Circle {
  @Field(() => String, { description: 'Its center, (lat,lon).' })
  center!: string;

  @Field(() => Float, { description: 'Its radius.' })
  meters!: number;
}

/** Shown by `shownCondition`. */
@ObjectType('Condition', {
  simpleResolvers: true,
  description:
    'One of: threshold (field, operator, operand), absent, place (field, INSIDE or OUTSIDE, circle or polygon), changed ' +
    '(field, from, to).',
})
class ConditionObject {
  @Field(() => String, { nullable: true, description: 'The field that is watched; null: the device as a whole.' })
  field?: string;

  @Field(() => ConditionOperatorEnum, { nullable: true, description: 'How it is compared; null: absent or changed.' })
  operator?: ConditionOperator;

  @Field(() => MeasurementValue, { nullable: true, description: 'A fixed value to compare with.' })
  value?: Value;

  @Field(() => String, { nullable: true, description: 'The field of the same device to compare with.' })
  otherField?: string;

  @Field(() => String, {
    nullable: true,
    description: 'The configuration field to compare with: each device has its own value.',
  })
  configurationField?: string;

  @Field(() => MeasurementValue, {
    nullable: true,
    description: 'What it is compared with once it is met (hysteresis); null: the same.',
  })
  clear?: Value;

  @Field(() => ConditionWindow, { nullable: true, description: 'What stands for the newest value; null: itself.' })
  window?: ConditionWindow;

  @Field(() => Float, { nullable: true, description: 'Met when nothing has come for so long.' })
  absentSeconds?: number;

  @Field(() => Circle, { nullable: true, description: 'The area of INSIDE or OUTSIDE.' })
  circle?: Circle;

  @Field(() => [String], { nullable: true, description: 'The corners of the area, each (lat,lon).' })
  polygon?: string[];

  @Field(() => MeasurementValue, { nullable: true, description: 'The value it turned from; null: from any other.' })
  from?: Value;

  @Field(() => MeasurementValue, { nullable: true, description: 'The value it turned to; null: to any other.' })
  to?: Value;
}

@ObjectType('RuleLevel', { simpleResolvers: true, description: 'One severity of a rule, and when it is met.' })
export class RuleLevelObject {
  @Field(() => SeverityEnum, { description: 'How bad that is.' })
  severity!: Severity;

  @Field(() => [ConditionObject], { nullable: true, description: 'Met when every one is; null: see `any`.' })
  all!: ConditionObject[] | null;

  @Field(() => [ConditionObject], { nullable: true, description: 'Met when at least one is; null: see `all`.' })
  any!: ConditionObject[] | null;
}

@ObjectType('Schedule', { simpleResolvers: true, description: 'When something is told. Outside of it nothing is.' })
export class ScheduleObject {
  @Field(() => [String], { nullable: true, description: 'MON to SUN; null: every day.' })
  days!: string[] | null;

  @Field(() => String, { nullable: true, description: 'Such as 08:00-18:00 or 22:00-06:00; null: the whole day.' })
  hours!: string | null;

  @Field(() => String, { description: 'The IANA zone of days and hours.' })
  timeZone!: string;
}

/** Parent: a RuleRow. What its definition says is in rule-object-resolver. */
/** Parent: a Notify of the domain, with the workspace of its rule. `endpoints` is in rule-object-resolver. */
@ObjectType('RuleNotify', { simpleResolvers: true, description: 'Who is told of the alerts of a rule, and how often.' })
export class RuleNotifyObject {
  /** Not shown. */
  endpointIds!: string[] | null;
  workspaceId!: string;

  @Field(() => String, {
    nullable: true,
    description: 'PRODUCT: alerts of many devices at one moment are one message; null: each is one.',
  })
  groupBy!: string | null;

  @Field(() => Float, { nullable: true, description: 'Tells again so often while it lasts; null: never.' })
  remindEverySeconds!: number | null;

  @Field(() => Int, { nullable: true, description: 'Reminders of one alert at most; null: any number.' })
  maxReminders!: number | null;
}

@ObjectType('Rule', {
  simpleResolvers: true,
  description: 'Watches each device of a product, or those with all of its tags, on its own.',
})
export class RuleObject {
  /** Not shown. */
  key!: number;
  productKey!: number;
  authorKey!: string | null;
  definition!: RuleDefinition;
  notify!: Notify;
  workspaceId!: string;

  @Field(() => ID, { description: 'The id of the rule.' })
  id!: string;

  @Field(() => String, { description: 'What people call it, 1 to 200 characters.' })
  name!: string;

  @Field(() => Boolean, { description: 'false: it watches nothing, and what it had told is over.' })
  enabled!: boolean;

  @Field(() => [String], { description: 'It watches devices that have all of these; empty: all devices.' })
  tags!: string[];
}

/** Parent: an Episode of the domain. */
@ObjectType('Episode', {
  simpleResolvers: true,
  description: 'An alert that a rule would have made of stored history.',
})
export class EpisodeObject {
  @Field(() => DeviceObject, { description: 'The device.' })
  device!: DeviceObject;

  @Field(() => SeverityEnum, { description: 'The highest that it reached.' })
  severity!: Severity;

  @Field(() => DateTime, { description: 'Time of the first value that met it.' })
  startedAt!: number;

  @Field(() => DateTime, { nullable: true, description: 'When it had been met for long enough.' })
  firedAt!: number | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time of the first value that did not meet it any more; null: it is still on.',
  })
  endedAt!: number | null;

  @Field(() => Json, { description: 'The values by which it fired, by the identifiers of their fields.' })
  values!: Record<string, unknown>;
}
