import { Arg, Ctx, FieldResolver, ID, Int, Resolver, Root } from 'type-graphql';
import type { CallStatus } from '../../../domain/ports/store.ts';
import type { Product } from '../../../domain/entities/product.ts';
import type { CallLog, LogFilter } from '../../../domain/calls/call-log.ts';
import { type CallSearch, MAX_LOOKED_THROUGH } from '../../../domain/calls/call-search.ts';
import type { LoggedCall } from '../../../domain/calls/logged-call.ts';
import type { Access } from '../../../domain/access/access.ts';
import type { Page } from '../../../domain/sql/page.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import type { WorkBudget } from '../../context/work-budget.ts';
import { LIST_TIMES } from '../../operation/operation-cost.ts';
import { encodeCursor } from '../../paging/cursor.ts';
import {
  AFTER,
  FIRST,
  connectionWith,
  DEFAULT_FIRST,
  MAX_FIRST,
  type Paging,
  readAfter,
  readFirst,
} from '../../paging/page.ts';
import type { Connection } from '../../types/connection.ts';
import { DateTime } from '../../types/date-time.ts';
import { CallStatusEnum } from '../../types/enums.ts';
import { ProductObject } from '../../types/product.ts';
import { CallSearchObject, WebhookCallConnection, WebhookCallObject } from '../../types/webhook-call.ts';
import { visibleCall } from '../../live/visible-call.ts';

const READ_AT_ONCE = 50;
/** Characters of a long call: the real length is not known before. */
const LONG_CALL = 100_000;
/** Cost of searching the log beside what it brings. */
const SEARCH_COST = 200;

const STATUS = {
  nullable: true,
  description: 'Only calls with one of these outcomes; left out: all.',
} as const;
const FROM = {
  nullable: true,
  description: 'Start of the time of receipt, inclusive; left out: from the first call.',
} as const;
const TO = {
  nullable: true,
  description: 'End of the time of receipt, exclusive; left out: to the last call.',
} as const;

const CALLS: Paging<LoggedCall> = { kind: 'call', shape: ['string'], keyOf: (call) => [call.id] };

/** The call log of a product (CONTRACT 4). */
@Resolver(() => ProductObject)
export class ProductCallsResolver {
  readonly #calls: CallLog;
  readonly #search: CallSearch;

  constructor(calls: CallLog, search: CallSearch) {
    this.#calls = calls;
    this.#search = search;
  }

  @FieldResolver(() => WebhookCallConnection, {
    complexity: 5,
    description: 'Newest first. Start inclusive, end exclusive.',
  })
  async calls(
    @Root() { id, workspace, webhookId }: Product,
    @Ctx() { access, budget }: GraphqlContext,
    @Arg('status', () => [CallStatusEnum], STATUS) status?: CallStatus[] | null,
    @Arg('from', () => DateTime, FROM) from?: number | null,
    @Arg('to', () => DateTime, TO) to?: number | null,
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

  @FieldResolver(() => CallSearchObject, {
    complexity: ({ args, childComplexity }) =>
      SEARCH_COST + (Math.max(1, args['first'] ?? DEFAULT_FIRST) / LIST_TIMES) * childComplexity,
    description:
      `Looks through the log for a text or a device, newest first; upper and lower case are the same. At most ${MAX_LOOKED_THROUGH} ` +
      'calls are looked through at a time, fewer when they are long: `next` leads on from there.',
  })
  async searchCalls(
    @Root() { id, workspace, webhookId }: Product,
    @Ctx() { access, budget }: GraphqlContext,
    @Arg('text', () => String, {
      nullable: true,
      description: 'Stands in the body, path or query, in what the decoder printed or why it failed.',
    })
    text?: string | null,
    @Arg('device', () => String, {
      nullable: true,
      description:
        'Stands in what an entry called its device, or in name, serial number or id of the device it matched.',
    })
    device?: string | null,
    @Arg('status', () => [CallStatusEnum], STATUS) status?: CallStatus[] | null,
    @Arg('from', () => DateTime, FROM) from?: number | null,
    @Arg('to', () => DateTime, TO) to?: number | null,
    @Arg('first', () => Int, {
      nullable: true,
      description: `After so many that fit it ends: 1 to ${MAX_FIRST}; left out: ${DEFAULT_FIRST}.`,
    })
    first?: number | null,
    @Arg('after', () => String, {
      nullable: true,
      description: '`next` of the search before; left out: the newest call.',
    })
    after?: string | null,
  ): Promise<CallSearchObject> {
    const { calls, lookedThrough, last, hasMore } = await this.#search.find(
      access,
      id,
      { text, device, status, from, to },
      {
        first: readFirst(first),
        after: readAfter(CALLS, after)?.[0] as string | undefined,
        visible: (call) => visibleCall(call, access, { workspaceId: workspace.id, webhookId }),
        load: (read) => budget.load(read, charactersOf, READ_AT_ONCE * LONG_CALL),
      },
    );
    const next = hasMore && last !== null ? encodeCursor(CALLS.kind, CALLS.keyOf(last)) : null;
    return { calls, lookedThrough, reachedAt: last?.receivedAt ?? null, next };
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

  /** Reads a few calls at a time, each up to megabytes, and stops when the page is unwanted or too large. */
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
        charactersOf,
        count * LONG_CALL,
      );
      items.push(...slice.items);
      if (!slice.hasNextPage || items.length >= limit) return { items, hasNextPage: slice.hasNextPage };
    }
  }
}

function charactersOf({ items }: Page<LoggedCall>): number {
  return items.reduce((sum, { characters }) => sum + characters, 0);
}
