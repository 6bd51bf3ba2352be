import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { DashboardService } from '../../domain/dashboards/dashboard-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { Promised } from '../context/promised.ts';
import { DashboardObject } from '../types/dashboard.ts';
import { Json } from '../types/json.ts';
import { LONG_TEXT } from '../types/long-text.ts';
import { WorkspaceObject } from '../types/workspace.ts';

/** Dashboards over devices of a workspace. */
@Resolver(() => WorkspaceObject)
export class DashboardResolver {
  readonly #dashboards: DashboardService;

  constructor(dashboards: DashboardService) {
    this.#dashboards = dashboards;
  }

  @FieldResolver(() => [DashboardObject], {
    complexity: ({ childComplexity }) => 1 + 10 * childComplexity,
    description: 'Its dashboards over many devices, by name, at most 100; not for limited tokens.',
  })
  dashboards(@Root() { id }: WorkspaceObject, @Ctx() { access, loaders }: GraphqlContext): Promised<DashboardObject[]> {
    return loaders.list(`dashboards of ${id}`, () => this.#dashboards.ofWorkspace(access, id));
  }

  @Query(() => DashboardObject, {
    description:
      'A dashboard over devices of a workspace. A token limited to products or devices sees it when it covers all of them.',
  })
  dashboard(
    @Ctx() { access, asker }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the dashboard.' }) id: string,
  ): Promise<DashboardObject> {
    return this.#dashboards.get(access, id, asker);
  }

  @Mutation(() => DashboardObject, {
    complexity: LONG_TEXT,
    description:
      'Makes a dashboard, or replaces the name and the widgets of one; the last one to save it wins. A new one is safe to ' +
      'send again with a key.',
  })
  saveDashboard(
    @Ctx() { access }: GraphqlContext,
    @Arg('name', () => String, { description: 'The name that people read, 1 to 200 characters.' }) name: string,
    @Arg('widgets', () => Json, {
      description:
        'Its widgets: [{kind, title, fields, range, place, options, source}], up to 200 and 256 KiB. source, which a ' +
        'text has not: {deviceIds: […]} (at most 200), {productId} or {tags: […]} (devices with all of them).',
    })
    widgets: unknown,
    @Arg('id', () => ID, { nullable: true, description: 'The dashboard to replace; left out: a new one.' })
    id?: string | null,
    @Arg('workspaceId', () => ID, {
      nullable: true,
      description: 'The workspace of a new one; may be left out by a token that sees only one.',
    })
    workspaceId?: string | null,
    @Arg('key', () => String, {
      nullable: true,
      description:
        "A key of its author's choice: 1 to 64 of a-z 0-9 -, unique in the workspace. Left out, that of an existing one " +
        'stays; null removes it.',
    })
    key?: string | null,
  ): Promise<DashboardObject> {
    return this.#dashboards.save(access, { id, workspaceId, name, widgets, key });
  }

  @Mutation(() => ID, { description: 'Deletes a dashboard; the devices and values that it showed stay.' })
  deleteDashboard(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the dashboard.' }) id: string,
  ): Promise<string> {
    return this.#dashboards.delete(access, id);
  }
}
