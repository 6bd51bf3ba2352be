import 'reflect-metadata';
import { Field, Float, Int, ObjectType } from 'type-graphql';
import { DateTime } from './date-time.ts';
import { FieldObject } from './field.ts';
import { MeasurementObject } from './measurement.ts';

/** Parent: plain, as History gives it. */
@ObjectType('Statistics', {
  simpleResolvers: true,
  description: 'min to difference only for numbers and booleans; null where nothing was measured.',
})
export class StatisticsObject {
  @Field(() => FieldObject)
  field!: FieldObject;

  @Field(() => Int)
  count!: number;

  @Field(() => Float, { nullable: true })
  min!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Of the first value that is the smallest.' })
  minAt!: number | null;

  @Field(() => Float, { nullable: true })
  max!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Of the first value that is the largest.' })
  maxAt!: number | null;

  @Field(() => Float, { nullable: true })
  average!: number | null;

  @Field(() => Float, { nullable: true })
  sum!: number | null;

  @Field(() => MeasurementObject, { nullable: true })
  first!: MeasurementObject | null;

  @Field(() => MeasurementObject, { nullable: true })
  last!: MeasurementObject | null;

  @Field(() => Float, {
    nullable: true,
    description: 'As the aggregation DIFFERENCE of the whole: from the last value before `from`, or from the first.',
  })
  difference!: number | null;
}
