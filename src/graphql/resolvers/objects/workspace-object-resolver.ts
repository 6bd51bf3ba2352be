import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { TokenService } from '../../../domain/accounts/token-service.ts';
import type { WorkspaceService } from '../../../domain/accounts/workspace-service.ts';
import type { TokenScope } from '../../../domain/entities/token.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import type { Promised } from '../../context/promised.ts';
import { TokenScopeEnum } from '../../types/enums.ts';
import { TokenObject } from '../../types/token.ts';
import { MemberObject } from '../../types/user.ts';
import { WorkspaceObject } from '../../types/workspace.ts';

/** Fields of a workspace that are looked up. */
@Resolver(() => WorkspaceObject)
export class WorkspaceObjectResolver {
  readonly #workspaces: WorkspaceService;
  readonly #tokens: TokenService;

  constructor(workspaces: WorkspaceService, tokens: TokenService) {
    this.#workspaces = workspaces;
    this.#tokens = tokens;
  }

  @FieldResolver(() => [TokenScopeEnum], {
    description: 'What the token that asks may do there; where it is limited, only within its limits.',
  })
  scopes(@Root() { id }: WorkspaceObject, @Ctx() { access }: GraphqlContext): TokenScope[] {
    return access.scopesIn(id);
  }

  @FieldResolver(() => [MemberObject], {
    description: 'Its users and their roles, oldest user first; not for tokens limited to some products or devices.',
  })
  members(@Root() { id }: WorkspaceObject, @Ctx() { access, loaders }: GraphqlContext): Promised<MemberObject[]> {
    return loaders.list(`members of ${id}`, () => this.#workspaces.members(access, id));
  }

  @FieldResolver(() => [TokenObject], { description: 'The INDIVIDUAL tokens; for ADMINs.' })
  tokens(@Root() { id }: WorkspaceObject, @Ctx() { access, loaders }: GraphqlContext): Promised<TokenObject[]> {
    return loaders.list(`tokens of ${id}`, () => this.#tokens.ofWorkspace(access, id));
  }
}
