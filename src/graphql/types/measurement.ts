import 'reflect-metadata';
import { Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { DeviceObject } from './device.ts';
import { FieldObject } from './field.ts';
import { MeasurementValue } from './measurement-value.ts';

/** Parent: plain, as History gives it. */
@ObjectType('Measurement', { simpleResolvers: true })
export class MeasurementObject {
  @Field(() => FieldObject)
  field!: FieldObject;

  @Field(() => DateTime)
  timestamp!: number;

  @Field(() => MeasurementValue)
  value!: number | boolean | string;
}

export const MeasurementConnection = connectionOf('Measurement', () => MeasurementObject);

/** Parent: plain, as History gives it. */
@ObjectType('Series', { simpleResolvers: true })
export class SeriesObject {
  @Field(() => FieldObject)
  field!: FieldObject;

  @Field(() => String, { nullable: true, description: 'Bucket width as given or chosen; null for raw values.' })
  resolution!: string | null;

  @Field(() => [Float], { description: 'Unix seconds.' })
  timestamps!: number[];

  @Field(() => [MeasurementValue], { nullable: 'items' })
  values!: (number | boolean | string | null)[];

  @Field(() => MeasurementObject, { nullable: true, description: 'The last value before `from`.' })
  before!: MeasurementObject | null;

  @Field(() => Boolean, { description: 'A limit cut off what is later.' })
  truncated!: boolean;
}

/** Parent: plain, as History gives it. */
@ObjectType('DeviceHistory', { simpleResolvers: true })
export class DeviceHistoryObject {
  @Field(() => DeviceObject)
  device!: DeviceObject;

  @Field(() => [SeriesObject])
  series!: SeriesObject[];
}

@ObjectType('RecordedBatch', { simpleResolvers: true })
export class RecordedBatch {
  @Field(() => String)
  cursor!: string;

  @Field(() => DeviceObject)
  device!: DeviceObject;

  @Field(() => DateTime)
  receivedAt!: number;

  @Field(() => [MeasurementObject])
  measurements!: MeasurementObject[];
}

@ObjectType('DeleteResult', { simpleResolvers: true })
export class DeleteResult {
  @Field(() => Int)
  measurements!: number;
}

@InputType()
export class EntryInput {
  @Field(() => String)
  field!: string;

  @Field(() => MeasurementValue)
  value!: number | boolean | string;

  @Field(() => DateTime, { nullable: true })
  timestamp?: number | null;
}
