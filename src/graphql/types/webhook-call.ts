import 'reflect-metadata';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { CallStatus } from '../../domain/ports/store.ts';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { DecoderRun } from './decoder.ts';
import { CallStatusEnum } from './enums.ts';
import { LONG_TEXT } from './long-text.ts';

/** Parent: a LoggedCall. `query` and `headers` are in resolvers/objects. */
@ObjectType('WebhookCall', {
  simpleResolvers: true,
  description: 'One logged call of a webhook or a network, with its outcome.',
})
export class WebhookCallObject {
  @Field(() => ID, { description: 'The id of the call, a UUID.' })
  id!: string;

  @Field(() => DateTime, { description: 'When it was received.' })
  receivedAt!: number;

  @Field(() => String, { description: 'GET or POST.' })
  method!: string;

  @Field(() => String, {
    description: 'The path as it was sent, without the query; the webhook id is hidden without scope CONFIGURE.',
  })
  path!: string;

  @Field(() => String, { complexity: LONG_TEXT, description: 'The body as text, cut after CALL_LOG_BODY_BYTES.' })
  body!: string;

  @Field(() => Boolean, {
    description: 'Whether the body was longer than the log keeps; such a call cannot be replayed.',
  })
  bodyTruncated!: boolean;

  @Field(() => CallStatusEnum, { description: 'What became of it.' })
  status!: CallStatus;

  @Field(() => Int, { description: 'The status of the answer.' })
  httpStatus!: number;

  @Field(() => Int, { nullable: true, description: 'The version of the decoder that ran; null: none did.' })
  decoderVersion!: number | null;

  @Field(() => DecoderRun, { nullable: true, description: 'What the decoder did; null: nothing ran.' })
  run!: DecoderRun | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Why nothing was run or stored: no decoder, an event that no decodeEvent asks for, or the same frame again, with the call that stored it; null: the run tells.',
  })
  reason!: string | null;
}

/** Pages of logged calls. */
export const WebhookCallConnection = connectionOf('WebhookCall', () => WebhookCallObject);

@ObjectType('CallSearch', {
  simpleResolvers: true,
  description: 'What one look through the call log found, and how far it came.',
})
export class CallSearchObject {
  @Field(() => [WebhookCallObject], { description: 'The calls that fit, newest first.' })
  calls!: WebhookCallObject[];

  @Field(() => Int, { description: 'How many calls were looked through.' })
  lookedThrough!: number;

  @Field(() => DateTime, { nullable: true, description: 'When the last of them was received; null: there was none.' })
  reachedAt!: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'For `after` of the next search, which goes on behind them; null: the log has been looked through.',
  })
  next!: string | null;
}

@ObjectType('ReplayedCall', { simpleResolvers: true, description: 'One call that was run again.' })
class ReplayedCall {
  @Field(() => WebhookCallObject, { description: 'The logged call.' })
  call!: WebhookCallObject;

  @Field(() => DecoderRun, { description: 'What the active decoder made of it.' })
  run!: DecoderRun;
}

@ObjectType()
abstract class ReplayedValueCounts {
  @Field(() => Int, { description: 'How many values came that were not there, or would.' })
  added!: number;

  @Field(() => Int, { description: 'How many values were replaced by others, or would be.' })
  changed!: number;

  @Field(() => Int, { description: 'How many values are what they were.' })
  unchanged!: number;

  @Field(() => Int, {
    description:
      'How many values were removed, or would be: the earlier run stored them, the new one does not say them.',
  })
  removed!: number;

  @Field(() => Int, {
    description:
      'How many values of the earlier run were left: another door has written them since, or the new entry of their field was refused.',
  })
  kept!: number;

  @Field(() => Int, {
    description: 'How many calls were logged by an older version: what they stored is not known and was left.',
  })
  unknown!: number;
}

@ObjectType('ReplayResult', { simpleResolvers: true, description: 'What a replay did.' })
export class ReplayResult extends ReplayedValueCounts {
  @Field(() => Int, { description: 'How many calls were run again.' })
  calls!: number;

  @Field(() => Int, { description: 'How many entries were stored, or would be.' })
  stored!: number;

  @Field(() => Int, { description: 'How many entries were refused.' })
  rejected!: number;

  @Field(() => Int, { description: 'How many calls the decoder failed on.' })
  failed!: number;

  @Field(() => [ReplayedCall], {
    description: 'The first calls one by one: at most 1,000, and less when they are long.',
  })
  results!: ReplayedCall[];
}

@ObjectType('ReplayProgress', {
  simpleResolvers: true,
  description: 'A replay that is running now, or the last one if it ended early.',
})
export class ReplayProgressObject extends ReplayedValueCounts {
  @Field(() => DateTime, { description: 'When it began.' })
  startedAt!: number;

  @Field(() => Boolean, { description: 'true: it only reports and stores nothing.' })
  dryRun!: boolean;

  @Field(() => Int, { description: 'How many calls were run again so far.' })
  calls!: number;

  @Field(() => Int, { description: 'How many entries were stored so far, or would be.' })
  stored!: number;

  @Field(() => Int, { description: 'How many entries were refused so far.' })
  rejected!: number;

  @Field(() => Int, { description: 'How many calls the decoder failed on so far.' })
  failed!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Why it ended before all calls were run, such as that its token was revoked; null: it is running.',
  })
  endedBecause!: string | null;
}
