import 'reflect-metadata';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from './date-time.ts';

/** Parent: the UnknownDevice entity. */
@ObjectType('UnknownDevice', { simpleResolvers: true })
export class UnknownDeviceObject {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  identifier!: string;

  @Field(() => String, { description: 'tti, chirpstack, helium or particle.' })
  network!: string;

  @Field(() => DateTime)
  firstSeenAt!: number;

  @Field(() => DateTime)
  lastSeenAt!: number;

  @Field(() => Int)
  seen!: number;
}
