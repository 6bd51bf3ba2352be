import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Role } from '../../domain/entities/member.ts';
import type { WorkspaceRemoval } from '../../domain/products/workspace-removal.ts';
import type { WorkspaceService } from '../../domain/accounts/workspace-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { RoleEnum } from '../types/enums.ts';
import { WorkspaceObject } from '../types/workspace.ts';

/** Workspaces and their members (CONTRACT 1). */
@Resolver()
export class WorkspaceResolver {
  readonly #workspaces: WorkspaceService;
  readonly #removal: WorkspaceRemoval;

  constructor(workspaces: WorkspaceService, removal: WorkspaceRemoval) {
    this.#workspaces = workspaces;
    this.#removal = removal;
  }

  @Query(() => [WorkspaceObject], { description: 'Those where the token may READ.' })
  workspaces(@Ctx() { access }: GraphqlContext): Promise<WorkspaceObject[]> {
    return this.#workspaces.list(access);
  }

  @Query(() => WorkspaceObject, { description: 'One workspace; NOT_FOUND also for one that the token does not see.' })
  workspace(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the workspace.' }) id: string,
  ): Promise<WorkspaceObject> {
    return this.#workspaces.get(access, id);
  }

  @Mutation(() => WorkspaceObject, { description: 'For operators; the caller becomes its first ADMIN.' })
  createWorkspace(
    @Ctx() { access }: GraphqlContext,
    @Arg('name', () => String, { description: 'The name that people read, 1 to 200 characters.' }) name: string,
  ): Promise<WorkspaceObject> {
    return this.#workspaces.create(access, name);
  }

  @Mutation(() => WorkspaceObject, { description: "Adds a member or changes a member's role; for ADMINs." })
  setMember(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { description: 'The workspace.' }) workspaceId: string,
    @Arg('userId', () => ID, { description: 'The user.' }) userId: string,
    @Arg('role', () => RoleEnum, { description: 'What the user may do there from now on.' }) role: Role,
  ): Promise<WorkspaceObject> {
    return this.#workspaces.setMember(access, workspaceId, userId, role);
  }

  @Mutation(() => WorkspaceObject, { description: 'For ADMINs; the last ADMIN stays.' })
  removeMember(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { description: 'The workspace.' }) workspaceId: string,
    @Arg('userId', () => ID, { description: 'The member who is to leave.' }) userId: string,
  ): Promise<WorkspaceObject> {
    return this.#workspaces.removeMember(access, workspaceId, userId);
  }

  @Mutation(() => WorkspaceObject, { description: 'Gives a workspace another name; for ADMINs.' })
  renameWorkspace(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The workspace.' }) id: string,
    @Arg('name', () => String, { description: 'The name that people read, 1 to 200 characters.' }) name: string,
  ): Promise<WorkspaceObject> {
    return this.#workspaces.rename(access, id, name);
  }

  @Mutation(() => ID, {
    complexity: 1000,
    description:
      'Deletes a workspace with its products, devices, measurements, calls and INDIVIDUAL tokens; users stay. For ADMINs ' +
      'who may CONFIGURE too. Stopped halfway, it can be asked for again.',
  })
  deleteWorkspace(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The workspace.' }) id: string,
  ): Promise<string> {
    return this.#removal.delete(access, id);
  }
}
