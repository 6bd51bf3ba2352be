import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { DeviceType } from '../../domain/entities/product.ts';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { DeviceTypeEnum } from './enums.ts';
import { FieldInput } from './field.ts';
import { Json } from './json.ts';

/** Parent: the Product entity. Loaded and secret fields (`webhookId`, `dashboard`, …) are in resolvers/objects. */
@ObjectType('Product', {
  simpleResolvers: true,
  description: 'What many devices have in common: fields, decoder, dashboard, webhook.',
})
export class ProductObject {
  @Field(() => ID, { description: 'The id of the product, a UUID.' })
  id!: string;

  @Field(() => String, { description: 'The name that people read, 1 to 200 characters.' })
  name!: string;

  @Field(() => DeviceTypeEnum, { description: 'How its devices send.' })
  deviceType!: DeviceType;

  @Field(() => Int, { nullable: true, description: 'A device that was silent for longer is not online; null: 2400.' })
  offlineAfterSeconds?: number | null;

  @Field(() => Boolean, {
    description: 'true: the place (0,0) is what a tracker without a fix says; such an entry is refused with NO_FIX.',
  })
  ignoreZeroPlaces!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'IANA zone of the times of entries and imports that name none, such as Europe/Berlin; null: UTC.',
  })
  timeZone?: string | null;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: number;
}

/** Pages of products, as lists give them. */
export const ProductConnection = connectionOf('Product', () => ProductObject);

/** Parent: the domain's WebhookAnswer. */
@ObjectType('WebhookAnswer', { simpleResolvers: true, description: 'What the sender of a webhook call is answered.' })
export class WebhookAnswerObject {
  @Field(() => Int, { description: 'The HTTP status, 200 to 299.' })
  status!: number;

  @Field(() => String, { nullable: true, description: 'The media type of the body; null: there is none.' })
  contentType!: string | null;

  @Field(() => String, { description: 'The body, up to 16 KiB of UTF-8.' })
  body!: string;
}

@InputType({
  description: 'What the senders of webhook calls are to be answered, for example the body [] or status 204.',
})
class WebhookAnswerInput {
  @Field(() => Int, { nullable: true, description: 'The HTTP status, 200 to 299; left out: 200.' })
  status?: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'The media type of the body; left out: application/json for a list or an object, else plain text.',
  })
  contentType?: string | null;

  @Field(() => String, { nullable: true, description: 'The body, up to 16 KiB of UTF-8; left out: none.' })
  body?: string | null;
}

@InputType({ description: 'A product to be.' })
export class CreateProductInput {
  @Field(() => String, { description: 'The name that people read, 1 to 200 characters.' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'A name for scripts, unique in the workspace: 1 to 64 characters of a-z 0-9 -; left out: none.',
  })
  key?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The workspace it is to belong to; may be left out by a token that sees only one.',
  })
  workspaceId?: string | null;

  @Field(() => DeviceTypeEnum, { nullable: true, description: 'How its devices send; left out: API.' })
  deviceType?: DeviceType | null;

  @Field(() => Json, {
    nullable: true,
    description: "What its devices' page shows, as in Product.dashboard; left out: no widgets.",
  })
  dashboard?: unknown;

  @Field(() => [FieldInput], { nullable: true, description: 'What its devices measure, at most 500 fields.' })
  fields?: FieldInput[] | null;

  @Field(() => String, {
    nullable: true,
    description: "The source of its decoder's first version, up to 256 KiB of UTF-8; left out: no decoder.",
  })
  decoder?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'true: the place (0,0) is what a tracker without a fix says; such an entry is refused with NO_FIX. Left out: false.',
  })
  ignoreZeroPlaces?: boolean | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Devices silent for so many seconds are not online: 1 to 2147483647; left out: 2400.',
  })
  offlineAfterSeconds?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'true: senders are answered 200 wherever something was stored or kept, never 202 or 207; left out: false.',
  })
  answer200?: boolean | null;

  @Field(() => WebhookAnswerInput, {
    nullable: true,
    description:
      "What its webhook answers for calls that are kept; left out: the counts. A decoder's own answer goes first.",
  })
  webhookAnswer?: WebhookAnswerInput | null;

  @Field(() => String, {
    nullable: true,
    description: 'IANA zone of the times of entries and imports that name none; left out: UTC.',
  })
  timeZone?: string | null;
}

@InputType({ description: 'Changes of a product: what is left out stays.' })
export class UpdateProductInput {
  @Field(() => String, {
    nullable: true,
    description: 'A name for scripts, unique in the workspace: 1 to 64 characters of a-z 0-9 -; null: none.',
  })
  key?: string | null;

  @Field(() => String, { nullable: true, description: 'The name that people read, 1 to 200 characters.' })
  name?: string | null;

  @Field(() => Json, {
    nullable: true,
    description: "What its devices' page shows, as in Product.dashboard; null: no widgets.",
  })
  dashboard?: unknown;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'true: the place (0,0) is what a tracker without a fix says; such an entry is refused with NO_FIX. null: false.',
  })
  ignoreZeroPlaces?: boolean | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Devices silent for so many seconds are not online: 1 to 2147483647; null: 2400.',
  })
  offlineAfterSeconds?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'true: senders are answered 200 wherever something was stored or kept, never 202 or 207; null: false.',
  })
  answer200?: boolean | null;

  @Field(() => WebhookAnswerInput, {
    nullable: true,
    description:
      "What its webhook answers for calls that are kept; null: the counts. A decoder's own answer goes first.",
  })
  webhookAnswer?: WebhookAnswerInput | null;

  @Field(() => String, {
    nullable: true,
    description: 'IANA zone of the times of entries and imports that name none; null: UTC.',
  })
  timeZone?: string | null;
}
