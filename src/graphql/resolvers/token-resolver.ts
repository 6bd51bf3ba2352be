import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import type { TokenService } from '../../domain/accounts/token-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { CreatedToken, CreateTokenInput, TokenObject, UpdateTokenInput } from '../types/token.ts';

/** Tokens (CONTRACT 1). */
@Resolver()
export class TokenResolver {
  readonly #tokens: TokenService;

  constructor(tokens: TokenService) {
    this.#tokens = tokens;
  }

  @Mutation(() => CreatedToken, {
    description: 'INDIVIDUAL: for ADMINs of the workspace. PERSONAL: for the calling user.',
  })
  createToken(
    @Ctx() { access }: GraphqlContext,
    @Arg('input', () => CreateTokenInput, { description: 'The token.' }) input: CreateTokenInput,
  ): Promise<CreatedToken> {
    return this.#tokens.create(access, input);
  }

  @Mutation(() => TokenObject, {
    description:
      'Changes name, limits and end of a token: INDIVIDUAL for ADMINs who have all of its scopes, PERSONAL for its user. ' +
      'Left out: unchanged. null clears limits and end.',
  })
  updateToken(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the token.' }) id: string,
    @Arg('input', () => UpdateTokenInput, { description: 'What is to change.' }) input: UpdateTokenInput,
  ): Promise<TokenObject> {
    return this.#tokens.update(access, id, input);
  }

  @Mutation(() => CreatedToken, {
    description:
      'Gives an INDIVIDUAL token another secret, shown this once; the old one ends at once. For ADMINs who have all of its scopes.',
  })
  renewToken(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the token.' }) id: string,
  ): Promise<CreatedToken> {
    return this.#tokens.renew(access, id);
  }

  @Mutation(() => ID, { description: 'The next request with it is refused.' })
  revokeToken(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the token.' }) id: string,
  ): Promise<string> {
    return this.#tokens.revoke(access, id);
  }
}
