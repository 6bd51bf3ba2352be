import 'reflect-metadata';
import { Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { DeviceObject } from './device.ts';
import { FieldObject } from './field.ts';
import { MeasurementValue } from './measurement-value.ts';

/** Parent: plain, as History gives it. */
@ObjectType('Measurement', { simpleResolvers: true, description: 'The value of one field of one device at one time.' })
export class MeasurementObject {
  @Field(() => FieldObject, { description: 'The field that was measured.' })
  field!: FieldObject;

  @Field(() => DateTime, { description: 'When it was measured, with milliseconds.' })
  timestamp!: number;

  @Field(() => MeasurementValue, { description: 'What was measured.' })
  value!: number | boolean | string;
}

/** Pages of measurements, as lists give them. */
export const MeasurementConnection = connectionOf('Measurement', () => MeasurementObject);

/** Parent: plain, as History gives it. */
@ObjectType('Series', {
  simpleResolvers: true,
  description: 'The values of one field of one device in a range, as columns in time order.',
})
export class SeriesObject {
  @Field(() => FieldObject, { description: 'The field.' })
  field!: FieldObject;

  @Field(() => String, { nullable: true, description: 'Bucket width as given or chosen; null for raw values.' })
  resolution!: string | null;

  @Field(() => [Float], { description: 'Unix seconds.' })
  timestamps!: number[];

  @Field(() => [MeasurementValue], {
    nullable: 'items',
    description:
      "One value for each timestamp; null: an empty bucket, or a value that does not fit the field's present type.",
  })
  values!: (number | boolean | string | null)[];

  @Field(() => MeasurementObject, { nullable: true, description: 'The last value before `from`.' })
  before!: MeasurementObject | null;

  @Field(() => Boolean, { description: 'A limit cut off what is later.' })
  truncated!: boolean;
}

/** Parent: plain, as History gives it. */
@ObjectType('DeviceHistory', { simpleResolvers: true, description: 'The series of one device.' })
export class DeviceHistoryObject {
  @Field(() => DeviceObject, { description: 'The device.' })
  device!: DeviceObject;

  @Field(() => [SeriesObject], { description: 'One series for each field asked for that its product has.' })
  series!: SeriesObject[];
}

@ObjectType('RecordedBatch', {
  simpleResolvers: true,
  description:
    'What one commit stored of one device, or several within a tenth of a second, in pieces of at most about 2,000 values.',
})
export class RecordedBatch {
  @Field(() => String, {
    description: 'The place behind this event: subscribing with it as `after` goes on from here.',
  })
  cursor!: string;

  @Field(() => DeviceObject, { description: 'The device that was recorded for.' })
  device!: DeviceObject;

  @Field(() => DateTime, { description: 'When the server received it.' })
  receivedAt!: number;

  @Field(() => [MeasurementObject], { description: 'The values stored, of the fields asked for.' })
  measurements!: MeasurementObject[];
}

@ObjectType('DeleteResult', { simpleResolvers: true, description: 'What deleteMeasurements deleted, or would.' })
export class DeleteResult {
  @Field(() => Int, { description: 'How many values.' })
  measurements!: number;
}

@InputType({ description: 'One value to record.' })
export class EntryInput {
  @Field(() => String, { description: 'The identifier of the field.' })
  field!: string;

  @Field(() => MeasurementValue, { description: "The value, converted to the field's type as on the record endpoint." })
  value!: number | boolean | string;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it was measured; left out: the receipt time, the same for all entries of the request.',
  })
  timestamp?: number | null;
}
