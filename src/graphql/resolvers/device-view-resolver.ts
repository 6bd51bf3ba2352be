import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import type { DeviceViews } from '../../domain/devices/device-views.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { Promised } from '../context/promised.ts';
import { DeviceViewObject } from '../types/device-view.ts';
import { WorkspaceObject } from '../types/workspace.ts';

/** Saved views of the device list. */
@Resolver(() => WorkspaceObject)
export class DeviceViewResolver {
  readonly #views: DeviceViews;

  constructor(views: DeviceViews) {
    this.#views = views;
  }

  @FieldResolver(() => [DeviceViewObject], {
    description: 'Saved views of the device list by name: those that are shared, and the caller’s own.',
  })
  deviceViews(
    @Root() { id }: WorkspaceObject,
    @Ctx() { access, loaders }: GraphqlContext,
  ): Promised<DeviceViewObject[]> {
    return loaders.list(`device views of ${id}`, () => this.#views.list(access, id));
  }

  @Mutation(() => WorkspaceObject, {
    description:
      'Saves a view of the device list, or gives the one of this name another query. A shared one needs CONFIGURE, ' +
      "one's own the PERSONAL token of a user.",
  })
  saveDeviceView(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { description: 'The workspace.' }) workspaceId: string,
    @Arg('name', () => String, { description: 'Its name, 1 to 100 characters.' }) name: string,
    @Arg('query', () => String, { description: 'The query of the address, up to 2,000 characters.' }) query: string,
    @Arg('shared', () => Boolean, { description: 'true: for everybody in the workspace; false: for the caller alone.' })
    shared: boolean,
  ): Promise<WorkspaceObject> {
    return this.#views.save(access, { workspaceId, name, shared }, query);
  }

  @Mutation(() => WorkspaceObject, { description: 'Deletes a view of the device list, if there is one of this name.' })
  deleteDeviceView(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { description: 'The workspace.' }) workspaceId: string,
    @Arg('name', () => String, { description: 'Its name.' }) name: string,
    @Arg('shared', () => Boolean, { description: 'true: the shared one; false: the caller’s own.' }) shared: boolean,
  ): Promise<WorkspaceObject> {
    return this.#views.delete(access, { workspaceId, name, shared });
  }
}
