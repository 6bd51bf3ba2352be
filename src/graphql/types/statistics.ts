import 'reflect-metadata';
import { Field, Float, Int, ObjectType } from 'type-graphql';
import { DateTime } from './date-time.ts';
import { FieldObject } from './field.ts';
import { MeasurementObject } from './measurement.ts';

/** Parent: plain, as History gives it. */
@ObjectType('Falls', {
  simpleResolvers: true,
  description: 'What the falls of a range were taken for: how many of each.',
})
class FallsObject {
  @Field(() => Int, { description: 'Falls of less than a tenth.' })
  noise!: number;

  @Field(() => Int, {
    description: 'Single values below their neighbours, which DIFFERENCE passes over; of a COUNTER.',
  })
  gaps!: number;

  @Field(() => Int, { description: 'Begun again at overflowAt; of a COUNTER.' })
  overflows!: number;

  @Field(() => Int, { description: 'Begun again from 0.' })
  restarts!: number;
}

/** Parent: plain, as History gives it. */
@ObjectType('Statistics', {
  simpleResolvers: true,
  description: 'min to difference only for numbers and booleans; null where nothing was measured.',
})
export class StatisticsObject {
  @Field(() => FieldObject, { description: 'The field that was summed up.' })
  field!: FieldObject;

  @Field(() => Int, { description: 'How many values there are in the range.' })
  count!: number;

  @Field(() => Float, { nullable: true, description: 'The smallest value; of booleans 0 or 1, of an ANGLE null.' })
  min!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Of the first value that is the smallest.' })
  minAt!: number | null;

  @Field(() => Float, { nullable: true, description: 'The largest value; of booleans 0 or 1, of an ANGLE null.' })
  max!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Of the first value that is the largest.' })
  maxAt!: number | null;

  @Field(() => Float, {
    nullable: true,
    description:
      'The mean of the values, as the aggregation AVG: of booleans the share of true, of a STATE by time, of an ANGLE the ' +
      'mean direction. Of a STATE also where it only holds on from before.',
  })
  average!: number | null;

  @Field(() => Float, {
    nullable: true,
    description: 'The sum of the values, as the aggregation SUM; null also when it is beyond what a float can hold.',
  })
  sum!: number | null;

  @Field(() => MeasurementObject, { nullable: true, description: 'The earliest value of the range.' })
  first!: MeasurementObject | null;

  @Field(() => MeasurementObject, { nullable: true, description: 'The latest value of the range.' })
  last!: MeasurementObject | null;

  @Field(() => Float, {
    nullable: true,
    description: 'As the aggregation DIFFERENCE of the whole: from the last value before `from`, or from the first.',
  })
  difference!: number | null;

  @Field(() => FallsObject, {
    nullable: true,
    description: 'What falls were taken for; of a GAUGE or COUNTER with values in the range.',
  })
  falls!: FallsObject | null;
}
