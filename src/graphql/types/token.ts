import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import type { TokenKind, TokenScope } from '../../domain/entities/token.ts';
import { DateTime } from './date-time.ts';
import { TokenKindEnum, TokenScopeEnum } from './enums.ts';

/** Parent: the Token entity. `scopes`, `products` and `devices` are in resolvers/objects. */
@ObjectType('Token', { simpleResolvers: true })
export class TokenObject {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => TokenKindEnum)
  kind!: TokenKind;

  @Field(() => DateTime)
  createdAt!: number;

  @Field(() => DateTime, { nullable: true })
  lastUsedAt?: number | null;

  @Field(() => DateTime, { nullable: true })
  expiresAt?: number | null;
}

@ObjectType('CreatedToken', { simpleResolvers: true, description: 'secret is shown this once; only its hash is kept.' })
export class CreatedToken {
  @Field(() => TokenObject)
  token!: TokenObject;

  @Field(() => String)
  secret!: string;
}

@InputType({ description: 'kind PERSONAL: workspaceId, scopes, productIds and deviceIds are left out.' })
export class CreateTokenInput {
  @Field(() => String)
  name!: string;

  @Field(() => TokenKindEnum)
  kind!: TokenKind;

  @Field(() => ID, { nullable: true })
  workspaceId?: string | null;

  @Field(() => [TokenScopeEnum], { nullable: true })
  scopes?: TokenScope[] | null;

  @Field(() => [ID], { nullable: true })
  productIds?: string[] | null;

  @Field(() => [ID], { nullable: true })
  deviceIds?: string[] | null;

  @Field(() => DateTime, { nullable: true })
  expiresAt?: number | null;
}
