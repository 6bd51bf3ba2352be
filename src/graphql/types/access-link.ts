import 'reflect-metadata';
import { Field, ID, ObjectType } from 'type-graphql';
import type { Role } from '../../domain/entities/member.ts';
import { DateTime } from './date-time.ts';
import { RoleEnum } from './enums.ts';

/** Parent: the AccessLink entity. */
@ObjectType('Invitation', { simpleResolvers: true, description: 'An address that may join a workspace, once.' })
export class InvitationObject {
  @Field(() => ID, { description: 'The id of the invitation, which is not its secret.' })
  id!: string;

  @Field(() => String, { description: 'The address that is invited, in lower case.' })
  email!: string;

  @Field(() => RoleEnum, { nullable: true, description: 'What it may do in the workspace then.' })
  role?: Role | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: number;

  @Field(() => DateTime, { description: 'When it ends, if nobody has used it.' })
  expiresAt!: number;
}

@ObjectType('CreatedInvitation', { simpleResolvers: true, description: 'url is shown this once.' })
export class CreatedInvitation {
  @Field(() => InvitationObject, { description: 'The invitation as it is listed from now on.' })
  invitation!: InvitationObject;

  @Field(() => String, { description: 'The page to join at, for the invited person alone; works once.' })
  url!: string;
}

@ObjectType('PasswordReset', { simpleResolvers: true, description: 'url is shown this once.' })
export class PasswordReset {
  @Field(() => String, { description: 'The page to choose a password at, for that person alone; works once.' })
  url!: string;

  @Field(() => DateTime, { description: 'When it ends, if nobody has used it.' })
  expiresAt!: number;
}
