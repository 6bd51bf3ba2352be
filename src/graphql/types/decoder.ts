import 'reflect-metadata';
import { Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { FieldType } from '../../domain/entities/field.ts';
import { DateTime } from './date-time.ts';
import { FieldTypeEnum } from './enums.ts';
import { Json } from './json.ts';

/** Parent: the DecoderVersion entity. `source` (guarded) and `active` are in resolvers/objects. */
@ObjectType('DecoderVersion', { simpleResolvers: true })
export class DecoderVersionObject {
  @Field(() => Int)
  version!: number;

  @Field(() => String, { nullable: true })
  note?: string | null;

  @Field(() => DateTime)
  createdAt!: number;
}

@ObjectType('DecoderError', { simpleResolvers: true })
export class DecoderError {
  @Field(() => String)
  kind!: string;

  @Field(() => String)
  message!: string;

  @Field(() => Int, { nullable: true })
  line!: number | null;

  @Field(() => Int, { nullable: true })
  column!: number | null;
}

/** What `addField` needs for the field that an entry would have. */
@ObjectType('EntryField', { simpleResolvers: true, description: 'The field that would take the entry: see addField.' })
export class EntryFieldObject {
  @Field(() => String)
  identifier!: string;

  @Field(() => FieldTypeEnum)
  type!: FieldType;

  @Field(() => String, { nullable: true })
  name!: string | null;

  @Field(() => String, { nullable: true })
  unit!: string | null;
}

/** Parent: plain, as the domain's EntryOutcome. `matchedDevice` and `matchedField` are in resolvers/objects. */
@ObjectType('EntryOutcome', {
  simpleResolvers: true,
  description: 'code null: stored, or it would be. device and field are as the decoder wrote them.',
})
export class EntryOutcomeObject {
  @Field(() => Int)
  index!: number;

  @Field(() => String, { nullable: true })
  device!: string | null;

  @Field(() => String, { nullable: true })
  field!: string | null;

  @Field(() => Json, { nullable: true })
  value!: unknown;

  @Field(() => DateTime, { nullable: true })
  timestamp!: number | null;

  @Field(() => String, { nullable: true })
  code!: string | null;

  @Field(() => String, { nullable: true })
  message!: string | null;

  @Field(() => EntryFieldObject, { nullable: true, description: 'Of an UNKNOWN_FIELD.' })
  suggestedField?: EntryFieldObject;

  /** Not shown: `matchedDevice` and `matchedField` are loaded by them. */
  matchedDeviceId!: string | null;
  matchedFieldKey!: number | null;
}

@ObjectType('DecoderRun', { simpleResolvers: true })
export class DecoderRun {
  @Field(() => Boolean)
  ok!: boolean;

  @Field(() => Json, { nullable: true, description: 'What Decoder returned, as JSON.' })
  output!: unknown;

  @Field(() => [String])
  console!: string[];

  @Field(() => DecoderError, { nullable: true })
  error!: DecoderError | null;

  @Field(() => Float)
  durationMs!: number;

  @Field(() => [EntryOutcomeObject])
  entries!: EntryOutcomeObject[];

  @Field(() => Boolean, { description: 'Output or entries were too long for the call log and are cut there.' })
  truncated!: boolean;
}

@ObjectType('RecordResult', { simpleResolvers: true })
export class RecordResult {
  @Field(() => Int)
  stored!: number;

  @Field(() => [EntryOutcomeObject])
  rejected!: EntryOutcomeObject[];
}

@ObjectType('DecoderExample', { simpleResolvers: true })
export class DecoderExampleObject {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => Json)
  request!: unknown;

  @Field(() => Json, { description: 'The entries expected.' })
  expected!: unknown;

  @Field(() => DateTime)
  createdAt!: number;
}

@ObjectType('DecoderStatistics', {
  simpleResolvers: true,
  description: 'Runs of the decoder on this node since it started.',
})
export class DecoderStatisticsObject {
  @Field(() => Int)
  runs!: number;

  @Field(() => Json, { description: 'Failures by kind.' })
  failures!: unknown;

  @Field(() => Float, { nullable: true })
  p50Ms!: number | null;

  @Field(() => Float, { nullable: true })
  p99Ms!: number | null;
}

/** A LoRaWAN payload to try a decoder on. */
@InputType({ description: "A LoRaWAN payload. deviceId left out: the product's oldest device." })
export class UplinkInput {
  @Field(() => String, { description: 'Hexadecimal or base64.' })
  bytes!: string;

  @Field(() => Int, { nullable: true, description: '1 if left out.' })
  port?: number | null;

  @Field(() => DateTime, { nullable: true })
  recvTime?: number | null;

  @Field(() => Json, { nullable: true, description: "In place of the device's configuration." })
  variables?: unknown;

  @Field(() => ID, { nullable: true })
  deviceId?: string | null;
}

@InputType()
export class DecoderRequestInput {
  @Field(() => String, { nullable: true })
  method?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Sub-path after the webhook id, with the query string, for example data/?unit=C.',
  })
  path?: string | null;

  @Field(() => Json, { nullable: true })
  headers?: unknown;

  @Field(() => String, { nullable: true })
  body?: string | null;
}
