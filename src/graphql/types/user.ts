import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { RoleEnum } from './enums.ts';
import type { Role } from '../../domain/entities/member.ts';

/** Parent: the User entity. */
@ObjectType('User', { simpleResolvers: true })
export class UserObject {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  email!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Boolean)
  operator!: boolean;
}

/** Parent: `{ user, role }` with the user loaded. */
@ObjectType('Member', { simpleResolvers: true })
export class MemberObject {
  @Field(() => UserObject)
  user!: UserObject;

  @Field(() => RoleEnum)
  role!: Role;
}

@InputType()
export class CreateUserInput {
  @Field(() => String)
  email!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => String, { nullable: true })
  password?: string | null;

  @Field(() => Boolean, { nullable: true })
  operator?: boolean | null;
}
