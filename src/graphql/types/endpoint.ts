import 'reflect-metadata';
import { Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { DeliveryStatus } from '../../domain/outgoing/delivery-rows.ts';
import type { EndpointKind } from '../../domain/entities/endpoint.ts';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { DeliveryStatusEnum, EndpointKindEnum } from './enums.ts';

const KEY = 'A name for scripts, unique in the workspace: 1 to 64 characters of a-z 0-9 -';

/** Parent: the Endpoint entity. `key`, `products` and `deliveries` are in resolvers/objects. */
@ObjectType('Endpoint', { simpleResolvers: true, description: 'A receiver of events: a webhook, mail, Alertmanager.' })
export class EndpointObject {
  @Field(() => ID, { description: 'The id of the endpoint, a UUID.' })
  id!: string;

  @Field(() => String, { description: 'The name that people read, 1 to 200 characters.' })
  name!: string;

  @Field(() => EndpointKindEnum, { description: 'How it is told; never changes.' })
  kind!: EndpointKind;

  @Field(() => String, {
    nullable: true,
    description: 'Where calls go, perhaps with a secret in it; needs CONFIGURE. null: EMAIL.',
  })
  url?: string | null;

  @Field(() => [String], { nullable: true, description: 'Where mails go; needs CONFIGURE. null: not EMAIL.' })
  addresses?: string[] | null;

  @Field(() => [String], { description: 'The events that it wants; none: only rules that name it send to it.' })
  events!: string[];

  @Field(() => [String], {
    nullable: true,
    description: 'Only events of devices that have all of these tags; none: of any.',
  })
  tags!: string[];

  @Field(() => Boolean, { description: 'false: nothing is sent, and what waits is kept.' })
  enabled!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'Why the server switched it off: it answered 410, or failed for five days. null: it did not.',
  })
  disabledReason?: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Since when every try has failed; null: the last one did not, or there was none.',
  })
  failingSince?: number | null;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: number;
}

@ObjectType('CreatedEndpoint', { simpleResolvers: true, description: 'secret is shown this once.' })
export class CreatedEndpoint {
  @Field(() => EndpointObject, { description: 'The endpoint as it is listed from now on.' })
  endpoint!: EndpointObject;

  @Field(() => String, {
    nullable: true,
    description:
      'What calls of a WEBHOOK are signed with (Standard Webhooks 1.0, `whsec_…`). null: the kind has none, or the ' +
      'endpoint with this key was there already.',
  })
  secret?: string | null;
}

/** Parent: the domain's Delivery. Its long parts and its endpoint are in resolvers/objects. */
@ObjectType('Delivery', { simpleResolvers: true, description: 'An event on its way to one endpoint.' })
export class DeliveryObject {
  @Field(() => ID, { description: 'The id of the delivery, a UUID.' })
  id!: string;

  @Field(() => String, { description: 'The type of the event, such as alert.fired.' })
  type!: string;

  @Field(() => DeliveryStatusEnum, { description: 'What became of it.' })
  status!: DeliveryStatus;

  @Field(() => DateTime, { description: 'When it was queued.' })
  createdAt!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it is tried next, or given up as not answered; null: never, or once another is done.',
  })
  nextAttemptAt?: number | null;
}

/** Parent: the domain's DeliveryAttempt. */
@ObjectType('DeliveryAttempt', { simpleResolvers: true, description: 'One try of a delivery.' })
export class DeliveryAttemptObject {
  @Field(() => DateTime, { description: 'When it began.' })
  at!: number;

  @Field(() => Int, {
    nullable: true,
    description: 'The status of the answer; null: there was none, or it was a mail.',
  })
  httpStatus?: number | null;

  @Field(() => String, { nullable: true, description: 'Why it failed, where the status does not say it.' })
  error?: string | null;

  @Field(() => Float, { description: 'How long it took, in milliseconds.' })
  durationMs!: number;

  @Field(() => String, { nullable: true, description: 'The first 4 kB of the answer; null: there was none.' })
  answer?: string | null;
}

/** Pages of deliveries. */
export const DeliveryConnection = connectionOf('Delivery', () => DeliveryObject);

@InputType({ description: 'An endpoint to be, or its changes: then what may be left out stays as it is.' })
export class EndpointInput {
  @Field(() => String, { nullable: true, description: `${KEY}; null: none.` })
  key?: string | null;

  @Field(() => String, { description: 'The name that people read, 1 to 200 characters.' })
  name!: string;

  @Field(() => EndpointKindEnum, { description: 'How it is told; of one that exists the same.' })
  kind!: EndpointKind;

  @Field(() => String, {
    nullable: true,
    description:
      'Of a WEBHOOK where calls are posted to, of an ALERTMANAGER its address (/api/v2/alerts is added): http or ' +
      'https, up to 2,048 characters.',
  })
  url?: string | null;

  @Field(() => [String], { nullable: true, description: 'Of an EMAIL: 1 to 20 addresses.' })
  addresses?: string[] | null;

  @Field(() => [String], {
    description:
      'The events it wants, of alert.fired alert.updated alert.resolved device.offline device.online device.unknown ' +
      'call.failed measurements.recorded; none: only rules that name it send to it.',
  })
  events!: string[];

  @Field(() => [ID], { nullable: true, description: 'Only events of these products; null: of all.' })
  productIds?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Only events of devices with all of these tags; null: of any.',
  })
  tags?: string[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'false: nothing is sent; true: also what waits is sent. Left out of a new one: true.',
  })
  enabled?: boolean | null;
}
