import 'reflect-metadata';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from './date-time.ts';

/** Parent: a listed unknown device. */
@ObjectType('UnknownDevice', {
  simpleResolvers: true,
  description:
    'An identifier that was sent and no device of the workspace has, or several; at most 1,000 of networks are kept, and as many of webhooks.',
})
export class UnknownDeviceObject {
  @Field(() => ID, { description: 'The id to give to adoptUnknownDevice.' })
  id!: string;

  @Field(() => String, { description: 'The EUI, core id or name, as it was sent.' })
  identifier!: string;

  @Field(() => String, {
    description: 'tti, chirpstack, helium or particle; webhook: an entry on a product’s webhook named it.',
  })
  network!: string;

  @Field(() => DateTime, { description: 'When it was sent first.' })
  firstSeenAt!: number;

  @Field(() => DateTime, { description: 'When it was sent last.' })
  lastSeenAt!: number;

  @Field(() => Int, { description: 'How many times it was sent.' })
  seen!: number;

  @Field(() => ID, {
    nullable: true,
    description: 'Of a webhook: the product, into which alone it can be adopted.',
  })
  productId!: string | null;

  @Field(() => Boolean, {
    description:
      'Several devices had it when it was sent: rename or delete all but one, then adopt it into the product of that one.',
  })
  ambiguous!: boolean;
}
