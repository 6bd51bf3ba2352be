import 'reflect-metadata';
import { Field, ID, ObjectType } from 'type-graphql';
import { connectionOf } from './connection.ts';
import { DateTime } from './date-time.ts';
import { Json } from './json.ts';

@ObjectType('AuditEntry', { simpleResolvers: true, description: 'One administrative mutation that was carried out.' })
export class AuditEntryObject {
  @Field(() => ID, { description: 'The id of the entry, a UUID.' })
  id!: string;

  @Field(() => DateTime, { description: 'When it was done.' })
  at!: number;

  @Field(() => String, { description: 'The name of the mutation, such as updateDevice.' })
  operation!: string;

  @Field(() => ID, { description: 'The id of the token that asked for it.' })
  tokenId!: string;

  @Field(() => String, { nullable: true, description: 'What the token was called then; null: unknown.' })
  tokenName?: string | null;

  @Field(() => ID, { nullable: true, description: 'The user of a PERSONAL token; null for an INDIVIDUAL one.' })
  userId?: string | null;

  @Field(() => String, { nullable: true, description: "The user's address of then; null for an INDIVIDUAL token." })
  userEmail?: string | null;

  @Field(() => [ID], { description: 'The ids of what was made or changed where they are known, at most 20.' })
  subjects!: string[];

  @Field(() => Json, {
    description:
      'The arguments as an object, without secrets: of sources, documents and metadata the length, long texts and ' +
      'lists cut. A text instead when it changed several workspaces. Needs READ.',
  })
  arguments!: unknown;
}

/** Pages of audit entries. */
export const AuditEntryConnection = connectionOf('AuditEntry', () => AuditEntryObject);
