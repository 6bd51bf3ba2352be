import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { DeviceType } from '../../domain/entities/product.ts';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { DeviceTypeEnum } from './enums.ts';
import { FieldInput } from './field.ts';
import { Json } from './json.ts';

/** Parent: the Product entity. Whatever is loaded or secret (`webhookId`, `fields`, …) is in resolvers/objects. */
@ObjectType('Product', { simpleResolvers: true })
export class ProductObject {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => DeviceTypeEnum)
  deviceType!: DeviceType;

  @Field(() => Json)
  dashboard!: unknown;

  @Field(() => Int, { nullable: true, description: 'A device that was silent for longer is not online; null: 2400.' })
  offlineAfterSeconds?: number | null;

  @Field(() => DateTime)
  createdAt!: number;
}

export const ProductConnection = connectionOf('Product', () => ProductObject);

@InputType()
export class CreateProductInput {
  @Field(() => String)
  name!: string;

  @Field(() => ID, { nullable: true })
  workspaceId?: string | null;

  @Field(() => DeviceTypeEnum, { nullable: true })
  deviceType?: DeviceType | null;

  @Field(() => Json, { nullable: true })
  dashboard?: unknown;

  @Field(() => [FieldInput], { nullable: true })
  fields?: FieldInput[] | null;

  @Field(() => String, { nullable: true })
  decoder?: string | null;

  @Field(() => Int, { nullable: true })
  offlineAfterSeconds?: number | null;
}

@InputType()
export class UpdateProductInput {
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Json, { nullable: true })
  dashboard?: unknown;

  @Field(() => Int, { nullable: true })
  offlineAfterSeconds?: number | null;
}
