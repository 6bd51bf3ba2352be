import 'reflect-metadata';
import { Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { FieldType } from '../../domain/entities/field.ts';
import { DateTime } from './date-time.ts';
import { FieldTypeEnum } from './enums.ts';
import { Json } from './json.ts';

/** Parent: the DecoderVersion entity. `source` (guarded) and `active` are in resolvers/objects. */
@ObjectType('DecoderVersion', { simpleResolvers: true, description: "One saved source of a product's decoder." })
export class DecoderVersionObject {
  @Field(() => Int, { description: 'The number of the version; the first of a product is 1.' })
  version!: number;

  @Field(() => String, { nullable: true, description: 'What its author wrote about it, up to 10,000 characters.' })
  note?: string | null;

  @Field(() => DateTime, { description: 'When it was saved.' })
  createdAt!: number;
}

@ObjectType('DecoderError', { simpleResolvers: true, description: 'Why a run of a decoder failed.' })
export class DecoderError {
  @Field(() => String, {
    description:
      'SYNTAX, NO_DECODER_FUNCTION, THREW, TIMEOUT, OUT_OF_MEMORY, BAD_OUTPUT, or BODY_TRUNCATED (a logged call whose body was cut is not run again).',
  })
  kind!: string;

  @Field(() => String, { description: 'What happened, in words.' })
  message!: string;

  @Field(() => Int, { nullable: true, description: "The line in the decoder's own source, from 1; null: unknown." })
  line!: number | null;

  @Field(() => Int, { nullable: true, description: 'The column in that line, from 1; null: unknown.' })
  column!: number | null;
}

/** The arguments of `addField` for the field that an entry would have. */
@ObjectType('EntryField', { simpleResolvers: true, description: 'The field that would take the entry: see addField.' })
class EntryFieldObject {
  @Field(() => String, { description: 'The identifier to give to addField.' })
  identifier!: string;

  @Field(() => FieldTypeEnum, { description: 'A type that takes the value.' })
  type!: FieldType;

  @Field(() => String, { nullable: true, description: 'The name that came beside the value, if any.' })
  name!: string | null;

  @Field(() => String, { nullable: true, description: 'The unit that came beside the value, if any.' })
  unit!: string | null;
}

/** Parent: plain, as the domain's EntryOutcome. `matchedDevice` and `matchedField` are in resolvers/objects. */
@ObjectType('EntryOutcome', {
  simpleResolvers: true,
  description: 'code null: stored, or it would be. device and field are as the decoder wrote them.',
})
export class EntryOutcomeObject {
  @Field(() => Int, { description: 'The position of the entry in what was handed in, from 0.' })
  index!: number;

  @Field(() => String, {
    nullable: true,
    description: 'The serial number or device id that the decoder named, as text; null: none.',
  })
  device!: string | null;

  @Field(() => String, { nullable: true, description: 'The field identifier of the entry, as text; null: none.' })
  field!: string | null;

  @Field(() => Json, { nullable: true, description: 'The value of the entry, as it was given.' })
  value!: unknown;

  @Field(() => DateTime, {
    nullable: true,
    description: 'The time under which it is stored, or would be; null where no time could be read.',
  })
  timestamp!: number | null;

  @Field(() => String, {
    nullable: true,
    description:
      'null: accepted; else INVALID_ENTRY, UNKNOWN_FIELD, MISSING_VALUE, INVALID_VALUE, INVALID_TIMESTAMP, TIMESTAMP_IN_FUTURE, BEYOND_RETENTION, DUPLICATE_IN_REQUEST, RATE_LIMITED, MISSING_DEVICE or UNKNOWN_DEVICE.',
  })
  code!: string | null;

  @Field(() => String, { nullable: true, description: 'Why it was refused, in a sentence; null: accepted.' })
  message!: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Of an accepted entry: how its time was read, where it names no zone or lies ahead of now; null: neither.',
  })
  notice?: string;

  @Field(() => EntryFieldObject, {
    nullable: true,
    description: 'Where the product has no such field: the one that would take the entry.',
  })
  suggestedField?: EntryFieldObject;

  /** Not shown: `matchedDevice` and `matchedField` are loaded by them. */
  matchedDeviceId!: string | null;
  matchedFieldKey!: number | null;
}

/** Parent: the domain's DecoderRun. Parts that may be long are in resolvers/objects. */
@ObjectType('DecoderRun', {
  simpleResolvers: true,
  description: 'One run of a decoder, or the reading of what a network has decoded.',
})
export class DecoderRun {
  @Field(() => Boolean, { description: 'Whether it ran to its end; single entries may still have been refused.' })
  ok!: boolean;
}

/** Parent: plain, as the domain's Ahead. */
@ObjectType('AheadOfClock', {
  simpleResolvers: true,
  description: "Stored values whose times lie more than a few seconds ahead of the server's clock.",
})
class AheadOfClock {
  @Field(() => Int, { description: 'How many values.' })
  values!: number;

  @Field(() => Float, { description: 'By how many seconds the latest of them is ahead.' })
  seconds!: number;

  @Field(() => String, { description: 'What that means, in a sentence.' })
  message!: string;
}

@ObjectType('RecordResult', { simpleResolvers: true, description: 'What recordMeasurements stored and refused.' })
export class RecordResult {
  @Field(() => Int, { description: 'How many entries were stored.' })
  stored!: number;

  @Field(() => [EntryOutcomeObject], { description: 'The entries that were refused, each with its reason.' })
  rejected!: EntryOutcomeObject[];

  @Field(() => AheadOfClock, { nullable: true, description: "What lies ahead of the server's clock; null: nothing." })
  ahead?: AheadOfClock | null;
}

/** Parent: the DecoderExample entity. `request` and `expected` are in resolvers/objects. */
@ObjectType('DecoderExample', {
  simpleResolvers: true,
  description: 'A stored call and the entries that the decoder must make of it; runs whenever a decoder is saved.',
})
export class DecoderExampleObject {
  @Field(() => ID, { description: 'The id of the example.' })
  id!: string;

  @Field(() => String, { description: 'Its name, unique in the product.' })
  name!: string;

  @Field(() => DateTime, { description: 'When it was added.' })
  createdAt!: number;
}

@ObjectType('DecoderStatistics', {
  simpleResolvers: true,
  description: 'Runs of the decoder on this node since it started.',
})
export class DecoderStatisticsObject {
  @Field(() => Int, { description: 'How many runs there were.' })
  runs!: number;

  @Field(() => Json, { description: 'Failures by kind.' })
  failures!: unknown;

  @Field(() => Float, {
    nullable: true,
    description: 'Half of the latest runs took at most so many milliseconds; null: no run yet.',
  })
  p50Ms!: number | null;

  @Field(() => Float, {
    nullable: true,
    description: '99 of 100 of the latest runs took at most so many milliseconds; null: no run yet.',
  })
  p99Ms!: number | null;
}

/** A LoRaWAN payload to try a decoder on. */
@InputType({ description: "A LoRaWAN payload. deviceId left out: the product's oldest device." })
export class UplinkInput {
  @Field(() => String, { description: 'Hexadecimal or base64.' })
  bytes!: string;

  @Field(() => Int, { nullable: true, description: '1 if left out.' })
  port?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When the network received it; left out: now.' })
  recvTime?: number | null;

  @Field(() => Json, { nullable: true, description: "In place of the device's configuration." })
  variables?: unknown;

  @Field(() => ID, { nullable: true, description: 'The device that is to have sent it; must be one of the product.' })
  deviceId?: string | null;
}

@InputType({ description: 'A webhook call to try a decoder on.' })
export class DecoderRequestInput {
  @Field(() => String, { nullable: true, description: 'The HTTP method; left out: GET without a body, else POST.' })
  method?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Sub-path after the webhook id, with the query string, for example data/?unit=C.',
  })
  path?: string | null;

  @Field(() => Json, { nullable: true, description: 'An object of header names to texts; names in any case.' })
  headers?: unknown;

  @Field(() => String, { nullable: true, description: 'The raw body, up to 1,048,576 characters; left out: empty.' })
  body?: string | null;
}
