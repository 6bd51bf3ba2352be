import 'reflect-metadata';
import { Field, Float, ID, ObjectType } from 'type-graphql';
import { DateTime } from './date-time.ts';
import { ProductObject } from './product.ts';

/** Parent: plain, with the id of the workspace; everything counted is in resolvers/objects. */
@ObjectType('Fleet', {
  simpleResolvers: true,
  description: 'The devices of a workspace at a glance; for tokens that may READ all of it.',
})
export class FleetObject {
  workspaceId!: string;
}

/** Parent: plain. */
@ObjectType('FailingDecoder', { simpleResolvers: true, description: 'A product whose decoder fails.' })
export class FailingDecoderObject {
  @Field(() => ProductObject, { description: 'The product.' })
  product!: ProductObject;

  @Field(() => DateTime, { description: 'When the call came at which it failed last.' })
  lastFailedAt!: number;
}

/** Parent: plain, as the tally gives it, the day as a text. */
@ObjectType('DayValues', { simpleResolvers: true, description: 'How many values were stored on a day.' })
export class DayValuesObject {
  @Field(() => String, { description: 'The day in UTC, as in 2026-11-29.' })
  day!: string;

  @Field(() => Float, { description: 'The number of values that were stored on it, whenever they were measured.' })
  values!: number;
}

/** Parent: plain, as FleetPlaces gives it. */
@ObjectType('FleetPlace', { simpleResolvers: true, description: 'Where a device was last.' })
export class FleetPlaceObject {
  @Field(() => ID, { description: 'The id of the device.' })
  deviceId!: string;

  @Field(() => String, { description: 'The name of the device.' })
  name!: string;

  @Field(() => Boolean, { description: 'Heard of within its limit.' })
  online!: boolean;

  @Field(() => String, { description: 'The place, as (lat,lon).' })
  place!: string;

  @Field(() => DateTime, { description: 'When it was there.' })
  at!: number;
}
