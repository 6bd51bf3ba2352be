import 'reflect-metadata';
import { Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { Json } from './json.ts';

/** Parent: the Device entity. `product`, `plan`, `deviceType` and everything about measurements is in resolvers/objects. */
@ObjectType('Device', { simpleResolvers: true, description: 'One thing that measures; belongs to a product.' })
export class DeviceObject {
  @Field(() => ID, { description: 'The id of the device, a UUID.' })
  id!: string;

  @Field(() => String, { description: 'The name that people read, 1 to 200 characters.' })
  name!: string;

  @Field(() => String, {
    description: 'What the device is called by senders: up to 100 characters, unique in its product.',
  })
  serialNumber!: string;

  // Fifty values, read from JSON.
  @Field(() => [String], {
    complexity: 0.5,
    description: 'Words to find it by: at most 50, of up to 100 characters each.',
  })
  tags!: string[];

  @Field(() => String, { nullable: true, description: 'Where it is, in free text of up to 500 characters.' })
  location?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: "Its own limit in seconds: silent for longer it is not online; null: the product's.",
  })
  offlineAfterSeconds?: number | null;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: number;
}

/** A client that has sent for a device over MQTT; parent: the domain's ClientOfDevice. */
@ObjectType('MqttClient', {
  description: 'A client that has sent values of a device over MQTT, to this node of the server.',
})
export class MqttClientObject {
  @Field(() => ID, { description: 'Its client id; of a broker whose messages are taken: broker, and where it is.' })
  clientId!: string;

  @Field(() => Boolean, { description: 'Whether the connection is still there.' })
  connected!: boolean;

  @Field(() => DateTime, { description: 'When it connected.' })
  connectedAt!: number;

  @Field(() => String, { description: 'The topic of its last message for the device.' })
  lastTopic!: string;

  @Field(() => DateTime, { description: 'When that message came.' })
  lastMessageAt!: number;
}

/** A device went silent or is heard again. */
@ObjectType('DeviceStatus', { simpleResolvers: true, description: 'A device has gone silent or is heard of again.' })
export class DeviceStatus {
  @Field(() => DeviceObject, { description: 'The device.' })
  device!: DeviceObject;

  @Field(() => Boolean, { description: 'true: heard of again; false: silent for longer than its limit.' })
  online!: boolean;

  @Field(() => DateTime, { description: 'When the silence had lasted too long, or ended.' })
  at!: number;
}

/** Pages of devices, as lists give them. */
export const DeviceConnection = connectionOf('Device', () => DeviceObject);

@InputType({ description: 'A device to be.' })
export class DeviceInput {
  @Field(() => String, { description: 'The name that people read, 1 to 200 characters.' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What senders call it: up to 100 characters, unique in the product; left out: one is made.',
  })
  serialNumber?: string | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Words to find it by: at most 50 different ones of 1 to 100 characters.',
  })
  tags?: string[] | null;

  @Field(() => Json, { nullable: true, description: 'Any JSON to keep with it, up to 64 KiB.' })
  metadata?: unknown;

  @Field(() => String, { nullable: true, description: 'Where it is, in free text of up to 500 characters.' })
  location?: string | null;
}

@InputType({ description: 'Changes of many devices: what is left out stays.' })
export class UpdateDevicesInput {
  @Field(() => [String], {
    nullable: true,
    description: 'All their tags from now on: at most 50 of 1 to 100 characters; null: none.',
  })
  tags?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'Tags that each has from now on, beside its own.' })
  addTags?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'Tags that none has from now on.' })
  removeTags?: string[] | null;

  @Field(() => String, {
    nullable: true,
    description: 'Where they are, in free text of up to 500 characters; null clears.',
  })
  location?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The slug of another plan (see plans); PLAN_LIMIT when they are too many for it.',
  })
  plan?: string | null;

  @Field(() => Int, { nullable: true, description: "Seconds; null: the product's." })
  offlineAfterSeconds?: number | null;
}

/** Parent: plain, as BulkChanges gives it. */
@ObjectType('DevicesUpdate', { simpleResolvers: true, description: 'The outcome of a change of many devices.' })
export class DevicesUpdate {
  @Field(() => Int, { description: 'How many devices the filter fits.' })
  matched!: number;

  @Field(() => Int, { description: 'How many of them were changed, or would be; the others are so already.' })
  changed!: number;
}

@InputType({ description: 'How a field of a device goes on in another product.' })
export class FieldMoveInput {
  @Field(() => String, { description: 'The identifier of the field in the product that the device leaves.' })
  from!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The identifier of the field that gets its values, of the same type; null: its values go.',
  })
  to?: string | null;
}

@ObjectType('FieldMove', { simpleResolvers: true, description: 'How a field of a device goes on in another product.' })
class FieldMoveObject {
  @Field(() => String, { description: 'The identifier of the field in the product that the device leaves.' })
  from!: string;

  @Field(() => String, { description: 'The identifier of the field that gets its values.' })
  to!: string;
}

@ObjectType('DroppedField', { simpleResolvers: true, description: 'A field whose values go with a change of product.' })
class DroppedFieldObject {
  @Field(() => String, { description: 'The identifier of the field in the product that the device leaves.' })
  field!: string;

  @Field(() => Float, { description: 'So many values would go.' })
  measurements!: number;
}

/** Parent: the domain's ProductChange. */
@ObjectType('ProductChange', {
  simpleResolvers: true,
  description: "What another product would make of a device's history and configuration.",
})
export class ProductChangeObject {
  @Field(() => [FieldMoveObject], { description: 'The fields that go on with their values.' })
  fields!: FieldMoveObject[];

  @Field(() => [DroppedFieldObject], { description: 'The fields with values that would go.' })
  dropped!: DroppedFieldObject[];

  @Field(() => Float, { description: 'So many values would go, of all of them.' })
  measurements!: number;

  @Field(() => [String], { description: 'Configuration fields whose values of the device would go.' })
  configuration!: string[];
}

@InputType({ description: 'Changes of a device: what is left out stays.' })
export class UpdateDeviceInput {
  @Field(() => String, { nullable: true, description: 'The name that people read, 1 to 200 characters.' })
  name?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'What senders call it: up to 100 characters, unique in the product.',
  })
  serialNumber?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The slug of another plan (see plans); PLAN_LIMIT when it covers no more devices.',
  })
  plan?: string | null;

  @Field(() => [String], {
    nullable: true,
    description: 'All its tags from now on: at most 50 of 1 to 100 characters; null: none.',
  })
  tags?: string[] | null;

  @Field(() => Json, { nullable: true, description: 'Any JSON to keep with it, up to 64 KiB; null clears.' })
  metadata?: unknown;

  @Field(() => String, {
    nullable: true,
    description: 'Where it is, in free text of up to 500 characters; null clears.',
  })
  location?: string | null;

  @Field(() => Int, { nullable: true, description: "Seconds; null: the product's." })
  offlineAfterSeconds?: number | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Another product of the workspace that it moves to, with its history; needs both products as a whole.',
  })
  productId?: string | null;

  @Field(() => [FieldMoveInput], {
    nullable: true,
    description:
      'How its fields go on there; those left out go on as the field of the same identifier and type, else their values go.',
  })
  fields?: FieldMoveInput[] | null;
}
