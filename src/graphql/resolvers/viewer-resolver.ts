import { Ctx, Query, Resolver } from 'type-graphql';
import type { Database } from '../../domain/database.ts';
import { TokenSchema } from '../../domain/entities/token.ts';
import { type User, UserSchema } from '../../domain/entities/user.ts';
import { WorkspaceSchema } from '../../domain/entities/workspace.ts';
import { unauthenticated } from '../../errors.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { Viewer } from '../types/viewer.ts';

/** Who asks. Open to every token, whatever its scopes. */
@Resolver()
export class ViewerResolver {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  @Query(() => Viewer, { description: 'Whose token this is, and what it may do.' })
  async viewer(@Ctx() { access }: GraphqlContext): Promise<Viewer> {
    const em = this.#database.read();
    const token = await em.findOne(TokenSchema, { id: access.tokenId });
    // Revoked since this request came in.
    if (token === null) throw unauthenticated('This token is unknown, expired or revoked.');
    const workspaces = await em.find(
      WorkspaceSchema,
      { id: { $in: access.workspaceIds() } },
      { orderBy: { id: 'asc' } },
    );
    const user: User | null = access.userId === null ? null : await em.findOne(UserSchema, { id: access.userId });
    return { user, token, workspaces };
  }
}
