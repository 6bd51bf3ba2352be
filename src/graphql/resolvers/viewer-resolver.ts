import { Ctx, FieldResolver, Query, Resolver } from 'type-graphql';
import type { Database } from '../../domain/ports/database.ts';
import { TokenSchema } from '../../domain/entities/token.ts';
import { type User, UserSchema } from '../../domain/entities/user.ts';
import { WorkspaceSchema } from '../../domain/entities/workspace.ts';
import { unauthenticated } from '../../errors.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { Promised } from '../context/promised.ts';
import type { TokenService } from '../../domain/accounts/token-service.ts';
import { TokenObject } from '../types/token.ts';
import { Viewer } from '../types/viewer.ts';

/** The token's own view. Open to every token, whatever its scopes. */
@Resolver(() => Viewer)
export class ViewerResolver {
  readonly #database: Database;
  readonly #tokens: TokenService;

  constructor(database: Database, tokens: TokenService) {
    this.#database = database;
    this.#tokens = tokens;
  }

  @Query(() => Viewer, { description: 'Whose token this is, and what it may do.' })
  async viewer(@Ctx() { access }: GraphqlContext): Promise<Viewer> {
    const em = this.#database.read();
    const token = await em.findOne(TokenSchema, { id: access.tokenId });
    // Revoked since this request came in.
    if (token === null) throw unauthenticated();
    const workspaces = await em.find(
      WorkspaceSchema,
      { id: { $in: access.workspaceIds() } },
      { orderBy: { id: 'asc' } },
    );
    const user: User | null = access.userId === null ? null : await em.findOne(UserSchema, { id: access.userId });
    return { user, token, workspaces };
  }

  @FieldResolver(() => [TokenObject], {
    description: "The user's PERSONAL tokens, newest first, at most 500; none for an INDIVIDUAL token.",
  })
  tokens(@Ctx() { access, loaders }: GraphqlContext): Promised<TokenObject[]> {
    return loaders.list('tokens of the user', () => this.#tokens.ofUser(access));
  }
}
