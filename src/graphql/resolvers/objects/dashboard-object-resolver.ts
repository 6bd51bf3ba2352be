import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { DashboardService } from '../../../domain/dashboards/dashboard-service.ts';
import type { Dashboard } from '../../../domain/entities/dashboard.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import type { StoredJson } from '../../context/stored-json.ts';
import { DashboardObject } from '../../types/dashboard.ts';
import { Json } from '../../types/json.ts';
import { LONG_TEXT } from '../../types/long-text.ts';

/** The key and the long part of a workspace's dashboard. */
@Resolver(() => DashboardObject)
export class DashboardObjectResolver {
  readonly #dashboards: DashboardService;

  constructor(dashboards: DashboardService) {
    this.#dashboards = dashboards;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: "The key of its author's choice, unique in the workspace; null: it has none.",
  })
  key(@Root() { authorKey }: Dashboard): string | null {
    return authorKey ?? null;
  }

  @FieldResolver(() => Json, {
    complexity: LONG_TEXT,
    description:
      'A list of widgets as in Product.dashboard, each with its devices: source {deviceIds} or {productId} or {tags}.',
  })
  widgets(@Root() dashboard: Dashboard, @Ctx() { access, loaders }: GraphqlContext): Promised<unknown> {
    return whenKnown<StoredJson | null, unknown>(loaders.widgets.load(dashboard.key), (read) => {
      if (read === null) throw notFound('dashboard', dashboard.id);
      return access.fields === null ? read : this.#dashboards.seenBy(access, dashboard, read.text);
    });
  }
}
