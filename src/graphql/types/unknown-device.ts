import 'reflect-metadata';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from './date-time.ts';

/** Parent: a listed unknown device. */
@ObjectType('UnknownDevice', {
  simpleResolvers: true,
  description: 'An identifier that was sent and no device of the workspace has, or several; at most 1,000 are kept.',
})
export class UnknownDeviceObject {
  @Field(() => ID, { description: 'The id to give to adoptUnknownDevice.' })
  id!: string;

  @Field(() => String, { description: 'The EUI or core id, as it was sent.' })
  identifier!: string;

  @Field(() => String, { description: 'tti, chirpstack, helium or particle.' })
  network!: string;

  @Field(() => DateTime, { description: 'When it was sent first.' })
  firstSeenAt!: number;

  @Field(() => DateTime, { description: 'When it was sent last.' })
  lastSeenAt!: number;

  @Field(() => Int, { description: 'How many times it was sent.' })
  seen!: number;

  @Field(() => Boolean, {
    description:
      'Several devices had it when it was sent: rename or delete all but one, then adopt it into the product of that one.',
  })
  ambiguous!: boolean;
}
