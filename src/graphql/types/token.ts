import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import type { TokenKind, TokenScope } from '../../domain/entities/token.ts';
import { DateTime } from './date-time.ts';
import { TokenKindEnum, TokenScopeEnum } from './enums.ts';

/** Parent: the Token entity. `scopes`, `products`, `devices` and `fields` are in resolvers/objects. */
@ObjectType('Token', {
  simpleResolvers: true,
  description: 'What a client presents to be let in; its secret is not kept.',
})
export class TokenObject {
  @Field(() => ID, { description: 'The id of the token, which is not the secret.' })
  id!: string;

  @Field(() => String, { description: 'The name that people gave it, 1 to 200 characters.' })
  name!: string;

  @Field(() => TokenKindEnum, { description: 'Whether it acts as a user or for itself.' })
  kind!: TokenKind;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it was last used, to within about ten seconds; null: never.',
  })
  lastUsedAt?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ends; null: never.' })
  expiresAt?: number | null;
}

@ObjectType('CreatedToken', { simpleResolvers: true, description: 'secret is shown this once; only its hash is kept.' })
export class CreatedToken {
  @Field(() => TokenObject, { description: 'The token as it is listed from now on.' })
  token!: TokenObject;

  @Field(() => String, { description: 'What to present as `Authorization: Token <secret>`.' })
  secret!: string;
}

@InputType({ description: 'kind PERSONAL: workspaceId, scopes, productIds, deviceIds and fields are left out.' })
export class CreateTokenInput {
  @Field(() => String, { description: 'A name to know it by, 1 to 200 characters.' })
  name!: string;

  @Field(() => TokenKindEnum, { description: 'Whether it is to act as the calling user or for itself.' })
  kind!: TokenKind;

  @Field(() => ID, {
    nullable: true,
    description: 'Of an INDIVIDUAL token: the workspace it belongs to; may be left out by a token that sees only one.',
  })
  workspaceId?: string | null;

  @Field(() => [TokenScopeEnum], {
    nullable: true,
    description: 'Of an INDIVIDUAL token: what it may do, at least one scope.',
  })
  scopes?: TokenScope[] | null;

  @Field(() => [ID], {
    nullable: true,
    description:
      'Of an INDIVIDUAL token: the products, with their devices, that it is limited to, at most 1,000; left out: not limited that way.',
  })
  productIds?: string[] | null;

  @Field(() => [ID], {
    nullable: true,
    description:
      'Of an INDIVIDUAL token: the devices that it is limited to, at most 1,000; left out: not limited that way.',
  })
  deviceIds?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description:
      'Of an INDIVIDUAL token with READ or RECORD: the identifiers of the fields that it is limited to, at most 1,000: it ' +
      'reads and records them and no others; left out: not limited that way.',
  })
  fields?: string[] | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ends, in the future; left out: never.' })
  expiresAt?: number | null;
}

/** Left out: unchanged. */
@InputType({ description: 'Changes of a token: what is left out stays. Limits are of INDIVIDUAL tokens only.' })
export class UpdateTokenInput {
  @Field(() => String, { nullable: true, description: 'A name to know it by, 1 to 200 characters.' })
  name?: string | null;

  @Field(() => [ID], {
    nullable: true,
    description: 'The products, with their devices, that it is limited to, 1 to 1,000; null: not limited that way.',
  })
  productIds?: string[] | null;

  @Field(() => [ID], {
    nullable: true,
    description: 'The devices that it is limited to, 1 to 1,000; null: not limited that way.',
  })
  deviceIds?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'The identifiers of the fields that it is limited to, 1 to 1,000; null: not limited that way.',
  })
  fields?: string[] | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ends, in the future; null: never.' })
  expiresAt?: number | null;
}
