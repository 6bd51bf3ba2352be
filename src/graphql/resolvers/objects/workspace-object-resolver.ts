import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { TokenService } from '../../../domain/accounts/token-service.ts';
import type { WorkspaceService } from '../../../domain/accounts/workspace-service.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { listInSlices } from '../../context/list-in-slices.ts';
import { LongLists } from '../../context/long-lists.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { TokenObject } from '../../types/token.ts';
import { MemberObject } from '../../types/user.ts';
import { WorkspaceObject } from '../../types/workspace.ts';

/** A workspace's fields that are looked up. */
@Resolver(() => WorkspaceObject)
export class WorkspaceObjectResolver {
  readonly #workspaces: WorkspaceService;
  readonly #tokens: TokenService;
  readonly #lists = new LongLists();

  constructor(workspaces: WorkspaceService, tokens: TokenService) {
    this.#workspaces = workspaces;
    this.#tokens = tokens;
  }

  @FieldResolver(() => [MemberObject], {
    description: 'Its users and their roles, oldest user first; not for tokens limited to some products or devices.',
  })
  members(@Root() { id }: WorkspaceObject, @Ctx() context: GraphqlContext): Promised<MemberObject[]> {
    const read = () => this.#workspaces.members(context.access, id);
    return whenKnown(this.#lists.once(context, `members of ${id}`, read), (members) => listInSlices(members, context));
  }

  @FieldResolver(() => [TokenObject], { description: 'The INDIVIDUAL tokens; for ADMINs.' })
  tokens(@Root() { id }: WorkspaceObject, @Ctx() context: GraphqlContext): Promised<TokenObject[]> {
    const read = () => this.#tokens.ofWorkspace(context.access, id);
    return whenKnown(this.#lists.once(context, `tokens of ${id}`, read), (tokens) => listInSlices(tokens, context));
  }
}
