import 'reflect-metadata';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { CallStatus } from '../../domain/measurements/store.ts';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { DecoderRun } from './decoder.ts';
import { CallStatusEnum } from './enums.ts';
import { Json } from './json.ts';

@ObjectType('WebhookCall', { simpleResolvers: true })
export class WebhookCallObject {
  @Field(() => ID)
  id!: string;

  @Field(() => DateTime)
  receivedAt!: number;

  @Field(() => String)
  method!: string;

  @Field(() => String)
  path!: string;

  @Field(() => Json)
  query!: unknown;

  @Field(() => Json)
  headers!: unknown;

  @Field(() => String)
  body!: string;

  @Field(() => Boolean)
  bodyTruncated!: boolean;

  @Field(() => CallStatusEnum)
  status!: CallStatus;

  @Field(() => Int)
  httpStatus!: number;

  @Field(() => Int, { nullable: true })
  decoderVersion!: number | null;

  @Field(() => DecoderRun, { nullable: true })
  run!: DecoderRun | null;
}

export const WebhookCallConnection = connectionOf('WebhookCall', () => WebhookCallObject);

@ObjectType('ReplayedCall', { simpleResolvers: true })
export class ReplayedCall {
  @Field(() => WebhookCallObject)
  call!: WebhookCallObject;

  @Field(() => DecoderRun)
  run!: DecoderRun;
}

@ObjectType('ReplayResult', { simpleResolvers: true })
export class ReplayResult {
  @Field(() => Int)
  calls!: number;

  @Field(() => Int)
  stored!: number;

  @Field(() => Int)
  rejected!: number;

  @Field(() => Int)
  failed!: number;

  @Field(() => [ReplayedCall])
  results!: ReplayedCall[];
}

@ObjectType('ReplayProgress', { simpleResolvers: true, description: 'A replay that is running now.' })
export class ReplayProgressObject {
  @Field(() => DateTime)
  startedAt!: number;

  @Field(() => Boolean)
  dryRun!: boolean;

  @Field(() => Int)
  calls!: number;

  @Field(() => Int)
  stored!: number;

  @Field(() => Int)
  rejected!: number;

  @Field(() => Int)
  failed!: number;
}
