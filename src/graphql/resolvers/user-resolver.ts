import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { UserService } from '../../domain/users/user-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { CreatedToken } from '../types/token.ts';
import { CreateUserInput, UserObject } from '../types/user.ts';

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

  /** The one operation that needs no token. */
  @Mutation(() => CreatedToken, {
    // Guessing passwords in one request is to be dear, and hashing one is.
    complexity: 2500,
    description: 'A PERSONAL token for 30 days. Needs no token.',
  })
  signIn(
    @Arg('email', () => String, { description: "The user's address, in any case." }) email: string,
    @Arg('password', () => String, {
      description: "The user's password; after ten failures in five minutes: RATE_LIMITED.",
    })
    password: string,
  ): Promise<CreatedToken> {
    return this.#users.signIn(email, password);
  }
}
