import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { connectionOf } from './connection.ts';
import { RoleEnum } from './enums.ts';
import type { Role } from '../../domain/entities/member.ts';

/** Parent: the User entity. */
@ObjectType('User', { simpleResolvers: true, description: 'A person, or a program with a personal token.' })
export class UserObject {
  @Field(() => ID, { description: 'The id of the user, a UUID.' })
  id!: string;

  @Field(() => String, { description: 'The address to sign in with, in lower case, up to 254 characters.' })
  email!: string;

  @Field(() => String, { nullable: true, description: 'The name that people read, up to 200 characters.' })
  name?: string | null;

  @Field(() => Boolean, { description: 'Whether the user runs this server: may create workspaces and users.' })
  operator!: boolean;
}

/** Pages of users, as lists give them. */
export const UserConnection = connectionOf('User', () => UserObject);

/** Parent: `{ user, role }` with the user loaded. */
@ObjectType('Member', { simpleResolvers: true, description: "A user's place in a workspace." })
export class MemberObject {
  @Field(() => UserObject, { description: 'The user.' })
  user!: UserObject;

  @Field(() => RoleEnum, { description: 'What the user may do in the workspace.' })
  role!: Role;
}

@InputType({ description: 'A user to be.' })
export class CreateUserInput {
  @Field(() => String, { description: 'The address to sign in with, up to 254 characters, unique in any case.' })
  email!: string;

  @Field(() => String, { nullable: true, description: 'The name that people read, up to 200 characters.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: '8 to 1,024 characters; left out: the user cannot sign in.' })
  password?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'true: may create workspaces and users; left out: false.' })
  operator?: boolean | null;
}

/** Left out: unchanged. */
@InputType({ description: 'Changes of a user: what is left out stays.' })
export class UpdateUserInput {
  @Field(() => String, { nullable: true, description: 'The address to sign in with, up to 254 characters, unique.' })
  email?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The name that people read, up to 200 characters; null clears.',
  })
  name?: string | null;

  @Field(() => String, { nullable: true, description: '8 to 1,024 characters; null: the user cannot sign in.' })
  password?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether the user may create workspaces and users.' })
  operator?: boolean | null;
}
