import { Arg, Ctx, FieldResolver, Float, Int, Resolver, Root } from 'type-graphql';
import type { AlertService } from '../../../domain/alerts/alert-service.ts';
import type { EndpointService } from '../../../domain/outgoing/endpoint-service.ts';
import type { AlertState } from '../../../domain/rules/judge-state.ts';
import { shownSchedule } from '../../../domain/rules/schedule.ts';
import { shownLevel } from '../../../domain/rules/shown-rule.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { pageOfAlerts } from '../../paging/alerts.ts';
import { AFTER, FIRST } from '../../paging/page.ts';
import { AlertConnection, type AlertObject } from '../../types/alert.ts';
import type { Connection } from '../../types/connection.ts';
import { EndpointObject } from '../../types/endpoint.ts';
import { AlertStateEnum } from '../../types/enums.ts';
import { ProductObject } from '../../types/product.ts';
import { RuleLevelObject, RuleNotifyObject, RuleObject, ScheduleObject } from '../../types/rule.ts';

/** A rule in the words of its input (CONTRACT 12). */
@Resolver(() => RuleObject)
export class RuleObjectResolver {
  readonly #alerts: AlertService;

  constructor(alerts: AlertService) {
    this.#alerts = alerts;
  }

  @FieldResolver(() => AlertConnection, { description: 'What it made, newest first.' })
  alerts(
    @Root() { key }: RuleObject,
    @Ctx() { access }: GraphqlContext,
    @Arg('state', () => [AlertStateEnum], { nullable: true, description: 'Only in one of these states.' })
    state?: AlertState[] | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
  ): Promise<Connection<AlertObject>> {
    return pageOfAlerts(this.#alerts, access, { ruleKey: key, state }, { first, after });
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The name that its author chose for scripts, unique in the workspace; null: none.',
  })
  key(@Root() { authorKey }: RuleObject): string | null {
    return authorKey;
  }

  @FieldResolver(() => ProductObject, { description: 'The product whose devices it watches.' })
  product(@Root() { id, productKey }: RuleObject, @Ctx() { loaders }: GraphqlContext): Promised<ProductObject> {
    return whenKnown(loaders.product.load(productKey), (product) => {
      if (product === null) throw notFound('rule', id);
      return product;
    });
  }

  @FieldResolver(() => [RuleLevelObject], {
    complexity: ({ childComplexity }) => 1 + 3 * childComplexity,
    description: 'Its levels, mildest first.',
  })
  async levels(
    @Root() { productKey, definition }: RuleObject,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<RuleLevelObject[]> {
    const [fields, configuration] = await Promise.all([
      loaders.fieldsOfProduct.load(productKey),
      loaders.configurationOfProduct.load(productKey),
    ]);
    return definition.levels.map((level) => shownLevel(level, { fields, configuration }) as RuleLevelObject);
  }

  @FieldResolver(() => Float, { description: 'How long it must be met before it fires, by measured times.' })
  forSeconds(@Root() { definition }: RuleObject): number {
    return definition.forSeconds;
  }

  @FieldResolver(() => Float, { description: 'How long it must not be met before it is over.' })
  clearForSeconds(@Root() { definition }: RuleObject): number {
    return definition.clearForSeconds;
  }

  @FieldResolver(() => Boolean, { description: 'true: it is over only once it is acknowledged, too.' })
  latched(@Root() { definition }: RuleObject): boolean {
    return definition.latched;
  }

  @FieldResolver(() => ScheduleObject, { nullable: true, description: 'When it is told; null: always.' })
  schedule(@Root() { definition }: RuleObject): ScheduleObject | null {
    return definition.schedule === null ? null : shownSchedule(definition.schedule);
  }

  @FieldResolver(() => RuleNotifyObject, { description: 'Who is told of its alerts, and how often.' })
  notify(@Root() { notify, workspaceId }: RuleObject): RuleNotifyObject {
    return { ...notify, workspaceId };
  }
}

/** The endpoints of a rule (CONTRACT 13). */
@Resolver(() => RuleNotifyObject)
export class RuleNotifyResolver {
  readonly #endpoints: EndpointService;

  constructor(endpoints: EndpointService) {
    this.#endpoints = endpoints;
  }

  @FieldResolver(() => [EndpointObject], {
    description:
      'These alone; none: every endpoint of the workspace that wants alerts. For those who see the endpoints of the workspace.',
  })
  async endpoints(
    @Root() { endpointIds, workspaceId }: RuleNotifyObject,
    @Ctx() { access, loaders }: GraphqlContext,
  ): Promise<EndpointObject[]> {
    if (endpointIds === null) return [];
    const all = await loaders.list(`endpoints of ${workspaceId}`, () =>
      this.#endpoints.ofWorkspace(access, workspaceId),
    );
    return all.filter(({ id }) => endpointIds.includes(id));
  }
}
