import 'reflect-metadata';
import { Field, Float, ObjectType } from 'type-graphql';
import type { WriteRate } from '../../domain/devices/write-rate-service.ts';
import { WriteRateSourceEnum } from './enums.ts';

/** Parent: plain. */
@ObjectType('WriteRate', { simpleResolvers: true, description: 'The write limit of the record endpoint that holds.' })
export class WriteRateObject implements WriteRate {
  @Field(() => Float, { nullable: true, description: 'Writes per second for each device and field; null: no limit.' })
  perSecond!: number | null;

  @Field(() => WriteRateSourceEnum, { description: 'Where it was set: the nearest setting wins (setWriteRate).' })
  source!: WriteRate['source'];
}
