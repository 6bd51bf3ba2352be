import { Arg, Ctx, FieldResolver, ID, Int, Resolver, Root } from 'type-graphql';
import type { CallStatus } from '../../../domain/measurements/store.ts';
import type { Product } from '../../../domain/entities/product.ts';
import type { CallLog, LogFilter } from '../../../domain/calls/call-log.ts';
import type { LoggedCall } from '../../../domain/calls/logged-call.ts';
import type { Access } from '../../../domain/access/access.ts';
import type { Page } from '../../../domain/page.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import type { WorkBudget } from '../../context/work-budget.ts';
import { AFTER, FIRST, connectionWith, type Paging, readAfter, readFirst } from '../../paging/page.ts';
import type { Connection } from '../../types/connection.ts';
import { DateTime } from '../../types/date-time.ts';
import { CallStatusEnum } from '../../types/enums.ts';
import { ProductObject } from '../../types/product.ts';
import { WebhookCallConnection, WebhookCallObject } from '../../types/webhook-call.ts';
import { visibleCall } from '../../live/visible-call.ts';

const READ_AT_ONCE = 50;

const CALLS: Paging<LoggedCall> = { kind: 'call', shape: ['string'], keyOf: (call) => [call.id] };

/** The call log of a product (CONTRACT 4). */
@Resolver(() => ProductObject)
export class ProductCallsResolver {
  readonly #calls: CallLog;

  constructor(calls: CallLog) {
    this.#calls = calls;
  }

  @FieldResolver(() => WebhookCallConnection, {
    complexity: 5,
    description: 'Newest first. Start inclusive, end exclusive.',
  })
  async calls(
    @Root() { id, workspace, webhookId }: Product,
    @Ctx() { access, budget }: GraphqlContext,
    @Arg('status', () => [CallStatusEnum], {
      nullable: true,
      description: 'Only calls with one of these outcomes; left out: all.',
    })
    status?: CallStatus[] | null,
    @Arg('from', () => DateTime, {
      nullable: true,
      description: 'Start of the time of receipt, inclusive; left out: from the first call.',
    })
    from?: number | null,
    @Arg('to', () => DateTime, {
      nullable: true,
      description: 'End of the time of receipt, exclusive; left out: to the last call.',
    })
    to?: number | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
  ): Promise<Connection<WebhookCallObject>> {
    const limit = readFirst(first);
    const last = readAfter(CALLS, after)?.[0] as string | undefined;
    const filter = { status, from, to };
    return connectionWith(
      CALLS,
      await this.#page(access, id, filter, limit, last, budget),
      (call) => visibleCall(call, access, { workspaceId: workspace.id, webhookId }),
      () => this.#calls.count(access, id, filter),
    );
  }

  @FieldResolver(() => WebhookCallObject, { description: 'One call of the log.' })
  async call(
    @Root() { id, workspace, webhookId }: Product,
    @Ctx() { access, budget }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the call.' }) callId: string,
  ): Promise<WebhookCallObject> {
    const call = await budget.load(
      () => this.#calls.call(access, id, callId),
      ({ characters }) => characters,
    );
    return visibleCall(call, access, { workspaceId: workspace.id, webhookId });
  }

  /** A few calls at a time, each up to megabytes: what nobody waits for, or is too much, is not read to its end. */
  async #page(
    access: Access,
    productId: string,
    filter: LogFilter,
    limit: number,
    after: string | undefined,
    budget: WorkBudget,
  ): Promise<Page<LoggedCall>> {
    const items: LoggedCall[] = [];
    for (;;) {
      const count = Math.min(READ_AT_ONCE, limit - items.length);
      const last = items.at(-1)?.id ?? after;
      const slice = await budget.load(
        () => this.#calls.calls(access, productId, filter, count, last),
        (page) => page.items.reduce((sum, { characters }) => sum + characters, 0),
      );
      items.push(...slice.items);
      if (!slice.hasNextPage || items.length >= limit) return { items, hasNextPage: slice.hasNextPage };
    }
  }
}
