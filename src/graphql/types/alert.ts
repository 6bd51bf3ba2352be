import 'reflect-metadata';
import { Field, ID, ObjectType } from 'type-graphql';
import type { TraceEntry } from '../../domain/alerts/alert-changes.ts';
import type { Severity } from '../../domain/rules/definition.ts';
import type { AlertState } from '../../domain/rules/judge-state.ts';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { AlertStateEnum, SeverityEnum } from './enums.ts';
import { Json } from './json.ts';

@ObjectType('AlertTrace', { simpleResolvers: true, description: 'One change of an alert.' })
export class AlertTraceObject {
  @Field(() => DateTime, { description: 'When it changed: a measured time, or the time of what somebody did.' })
  at!: number;

  @Field(() => AlertStateEnum, { description: 'The state from then on.' })
  state!: AlertState;

  @Field(() => SeverityEnum, { description: 'The severity from then on.' })
  severity!: Severity;

  @Field(() => Json, { description: 'The values that it was judged by, by the identifiers of their fields.' })
  values!: Record<string, unknown>;

  @Field(() => String, {
    description:
      'VALUE: by a value. DURATION: for long enough. SILENT: nothing came. HEARD: something came again. SAVED: the rule or ' +
      'the device was changed or removed. ACKNOWLEDGED, SNOOZED: by somebody.',
  })
  reason!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What was said when it was acknowledged, or how many episodes before it were left out.',
  })
  note!: string | null;
}

/** Parent: an AlertRow. `rule`, `device` and `trace` are in alert-object-resolver. */
@ObjectType('Alert', {
  simpleResolvers: true,
  description: 'One episode of a rule and a device. startedAt and endedAt are measured times.',
})
export class AlertObject {
  /** Not shown. */
  ruleKey!: number;
  deviceKey!: number;
  /** By keys of fields. */
  trace!: TraceEntry[];

  @Field(() => ID, { description: 'The id of the alert.' })
  id!: string;

  @Field(() => AlertStateEnum, { description: 'How it stands.' })
  state!: AlertState;

  @Field(() => SeverityEnum, { description: 'The level that counts now, or did at its end.' })
  severity!: Severity;

  @Field(() => DateTime, { description: 'Time of the first value that met the rule.' })
  startedAt!: number;

  @Field(() => DateTime, { nullable: true, description: 'When it had been met for long enough; null: it is pending.' })
  firedAt!: number | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time of the first value that did not meet it any more; null: it is not over.',
  })
  endedAt!: number | null;

  @Field(() => Boolean, { description: 'Whether it began and ended within one batch of values.' })
  late!: boolean;

  @Field(() => String, { nullable: true, description: 'Who has seen it: an address, or the name of a token.' })
  acknowledgedBy!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When that was.' })
  acknowledgedAt!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Until then nothing is told of it.' })
  snoozedUntil!: number | null;
}

@ObjectType('AlertEvent', { simpleResolvers: true, description: 'A change of an alert, in the order of commits.' })
export class AlertEventObject {
  @Field(() => String, { description: 'For `after` of the next subscription: nothing is missed then.' })
  cursor!: string;

  @Field(() => AlertObject, { description: 'The alert as it was after the change.' })
  alert!: AlertObject;
}

/** A page of alerts. */
export const AlertConnection = connectionOf('Alert', () => AlertObject);
