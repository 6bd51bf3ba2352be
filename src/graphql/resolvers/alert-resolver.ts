import { Arg, Ctx, ID, Int, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { AlertService } from '../../domain/alerts/alert-service.ts';
import type { Severity } from '../../domain/rules/definition.ts';
import type { AlertState } from '../../domain/rules/judge-state.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { LiveAlertsQuery } from '../live/live-alerts.ts';
import { pageOfAlerts } from '../paging/alerts.ts';
import { AFTER, FIRST } from '../paging/page.ts';
import { AlertConnection, AlertEventObject, AlertObject } from '../types/alert.ts';
import type { Connection } from '../types/connection.ts';
import { DateTime } from '../types/date-time.ts';
import { AlertStateEnum, SeverityEnum } from '../types/enums.ts';

/** Alerts (CONTRACT 12). */
@Resolver()
export class AlertResolver {
  readonly #alerts: AlertService;

  constructor(alerts: AlertService) {
    this.#alerts = alerts;
  }

  @Query(() => AlertConnection, {
    description: 'Newest first. from and to: those that were on at some time in between.',
  })
  alerts(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { nullable: true, description: 'Only of this workspace.' })
    workspaceId?: string | null,
    @Arg('productId', () => ID, { nullable: true, description: 'Only of devices of this product.' })
    productId?: string | null,
    @Arg('deviceId', () => ID, { nullable: true, description: 'Only of this device.' }) deviceId?: string | null,
    @Arg('state', () => [AlertStateEnum], { nullable: true, description: 'Only in one of these states.' })
    state?: AlertState[] | null,
    @Arg('severity', () => [SeverityEnum], { nullable: true, description: 'Only of one of these severities.' })
    severity?: Severity[] | null,
    @Arg('from', () => DateTime, { nullable: true, description: 'Inclusive.' }) from?: number | null,
    @Arg('to', () => DateTime, { nullable: true, description: 'Exclusive.' }) to?: number | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
  ): Promise<Connection<AlertObject>> {
    return pageOfAlerts(
      this.#alerts,
      access,
      { workspaceId, productId, deviceId, state, severity, from, to },
      { first, after },
    );
  }

  @Mutation(() => AlertObject, {
    description:
      'Notes that somebody has seen it. A latched alert that has passed is over then. Acknowledged already: it stays.',
  })
  acknowledgeAlert(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the alert.' }) id: string,
    @Arg('note', () => String, { nullable: true, description: 'A word on it, up to 2,000 characters.' })
    note?: string | null,
  ): Promise<AlertObject> {
    return this.#alerts.acknowledge(access, id, note);
  }

  @Mutation(() => AlertObject, { description: 'Until then nothing is told of it; its state goes on.' })
  snoozeAlert(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the alert.' }) id: string,
    @Arg('until', () => DateTime, { description: 'Must be ahead.' }) until: number,
  ): Promise<AlertObject> {
    return this.#alerts.snooze(access, id, until);
  }

  @Subscription(() => AlertEventObject, {
    description:
      'Changes of alerts in the order of commits. Narrow by devices, by product or by workspace. Changes are kept for an ' +
      'hour for those who come back with a cursor.',
    subscribe: ({ args, context }: { args: LiveAlertsQuery; context: GraphqlContext }) =>
      context.live.alerts.open(context.access, args),
  })
  alertChanged(
    @Root() event: AlertEventObject,
    @Arg('workspaceId', () => ID, { nullable: true, description: 'Only of this workspace.' })
    _workspaceId?: string | null,
    @Arg('productId', () => ID, { nullable: true, description: 'Only of devices of this product.' })
    _productId?: string | null,
    @Arg('deviceIds', () => [ID], { nullable: true, description: 'Only of these devices, at most 1,000.' })
    _deviceIds?: string[] | null,
    @Arg('after', () => String, {
      nullable: true,
      description: 'The cursor of the last event received: begins with every change since; too old: CURSOR_EXPIRED.',
    })
    _after?: string | null,
  ): AlertEventObject {
    return event;
  }
}
