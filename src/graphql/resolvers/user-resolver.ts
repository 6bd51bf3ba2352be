import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { User } from '../../domain/entities/user.ts';
import type { UserService } from '../../domain/accounts/user-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { CreatedToken } from '../types/token.ts';
import { AFTER, FIRST, connectionWith, type Paging, readAfter, readFirst } from '../paging/page.ts';
import type { Connection } from '../types/connection.ts';
import { CreateUserInput, UpdateUserInput, UserConnection, UserObject } from '../types/user.ts';

const USERS: Paging<User> = { kind: 'user', shape: ['string'], keyOf: ({ id }) => [id] };

/** People and how they sign in. */
@Resolver()
export class UserResolver {
  readonly #users: UserService;

  constructor(users: UserService) {
    this.#users = users;
  }

  @Mutation(() => UserObject, {
    complexity: 1000,
    description: 'For operators. Without a password the user cannot sign in.',
  })
  createUser(
    @Ctx() { access }: GraphqlContext,
    @Arg('input', () => CreateUserInput, { description: 'The user.' }) input: CreateUserInput,
  ): Promise<UserObject> {
    return this.#users.create(access, input);
  }

  @Query(() => UserObject, {
    nullable: true,
    description:
      'Who has exactly this email address, for setMember; for ADMINs of a workspace and operators. null: nobody, or ' +
      'somebody who only belongs to workspaces that the token does not see.',
  })
  user(
    @Ctx() { access }: GraphqlContext,
    @Arg('email', () => String, { description: 'The whole address, in any case, up to 254 characters.' })
    email: string,
  ): Promise<UserObject | null> {
    return this.#users.byEmail(access, email);
  }

  @Query(() => UserConnection, {
    description:
      'The users of this server for operators; for others the members of the workspaces of which they are ADMIN. In the ' +
      'order of creation.',
  })
  async users(
    @Ctx() { access }: GraphqlContext,
    @Arg('search', () => String, { nullable: true, description: 'Part of the address in any case.' })
    search?: string | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
  ): Promise<Connection<UserObject>> {
    const limit = readFirst(first);
    const place = readAfter(USERS, after)?.[0] as string | undefined;
    const page = await this.#users.list(access, { search, limit, after: place });
    return connectionWith(
      USERS,
      page,
      (user) => user,
      () => this.#users.countListed(access, search),
    );
  }

  @Mutation(() => UserObject, {
    complexity: 1000,
    description:
      'Changes a user; for operators. The last operator stays. A password that is set or taken away ends what the user is ' +
      'signed in with.',
  })
  updateUser(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The user.' }) id: string,
    @Arg('input', () => UpdateUserInput, { description: 'What is to change.' }) input: UpdateUserInput,
  ): Promise<UserObject> {
    return this.#users.update(access, id, input);
  }

  @Mutation(() => ID, {
    description:
      'Deletes a user with their PERSONAL tokens; for operators. CONFLICT for the last operator and for the last ADMIN of ' +
      'a workspace.',
  })
  deleteUser(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The user.' }) id: string,
  ): Promise<string> {
    return this.#users.delete(access, id);
  }

  @Mutation(() => UserObject, {
    complexity: 2500,
    description:
      "Changes the calling user's password. Every other token got by signing in ends; those made by createToken stay.",
  })
  changePassword(
    @Ctx() { access }: GraphqlContext,
    @Arg('newPassword', () => String, { description: '8 to 1,024 characters.' }) newPassword: string,
    @Arg('currentPassword', () => String, {
      nullable: true,
      description: 'The current password; left out only when there is none.',
    })
    currentPassword?: string | null,
  ): Promise<UserObject> {
    return this.#users.changePassword(access, currentPassword ?? null, newPassword);
  }

  /** The one operation that needs no token. */
  @Mutation(() => CreatedToken, {
    // Guessing passwords in one request must be dear, and hashing one is.
    complexity: 2500,
    description: 'A PERSONAL token for 30 days. Needs no token.',
  })
  signIn(
    @Ctx() { address }: GraphqlContext,
    @Arg('email', () => String, { description: "The user's address, in any case." }) email: string,
    @Arg('password', () => String, {
      description: "The user's password; after ten failures in five minutes from one network address: RATE_LIMITED.",
    })
    password: string,
  ): Promise<CreatedToken> {
    return this.#users.signIn(email, password, address);
  }
}
