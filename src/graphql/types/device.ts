import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { Json } from './json.ts';

/** Parent: the Device entity. `product`, `plan`, `deviceType` and everything about measurements is in resolvers/objects. */
@ObjectType('Device', { simpleResolvers: true })
export class DeviceObject {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String)
  serialNumber!: string;

  @Field(() => [String])
  tags!: string[];

  @Field(() => Json, { nullable: true })
  metadata?: unknown;

  @Field(() => String, { nullable: true })
  location?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: "Its own limit in seconds: silent for longer it is not online; null: the product's.",
  })
  offlineAfterSeconds?: number | null;

  @Field(() => DateTime)
  createdAt!: number;
}

/** A device went silent or is heard again. */
@ObjectType('DeviceStatus', { simpleResolvers: true })
export class DeviceStatus {
  @Field(() => DeviceObject)
  device!: DeviceObject;

  @Field(() => Boolean)
  online!: boolean;

  @Field(() => DateTime, { description: 'When the silence had lasted too long, or ended.' })
  at!: number;
}

export const DeviceConnection = connectionOf('Device', () => DeviceObject);

@InputType()
export class DeviceInput {
  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  serialNumber?: string | null;

  @Field(() => [String], { nullable: true })
  tags?: string[] | null;

  @Field(() => Json, { nullable: true })
  metadata?: unknown;

  @Field(() => String, { nullable: true })
  location?: string | null;
}

@InputType()
export class UpdateDeviceInput {
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => String, { nullable: true })
  serialNumber?: string | null;

  @Field(() => String, { nullable: true })
  plan?: string | null;

  @Field(() => [String], { nullable: true })
  tags?: string[] | null;

  @Field(() => Json, { nullable: true })
  metadata?: unknown;

  @Field(() => String, { nullable: true })
  location?: string | null;

  @Field(() => Int, { nullable: true, description: "Seconds; null: the product's." })
  offlineAfterSeconds?: number | null;
}
