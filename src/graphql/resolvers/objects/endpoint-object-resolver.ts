import { Arg, Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import type { Endpoint } from '../../../domain/entities/endpoint.ts';
import type { Deliveries } from '../../../domain/outgoing/deliveries.ts';
import {
  type Delivery,
  DELIVERY_STATUSES,
  type DeliveryAttempt,
  type DeliveryStatus,
} from '../../../domain/outgoing/delivery-rows.ts';
import type { EndpointService } from '../../../domain/outgoing/endpoint-service.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { AFTER, connectionWith, FIRST, type Paging, readAfter, readFirst } from '../../paging/page.ts';
import type { Connection } from '../../types/connection.ts';
import { DeliveryAttemptObject, DeliveryConnection, DeliveryObject, EndpointObject } from '../../types/endpoint.ts';
import { DeliveryStatusEnum } from '../../types/enums.ts';
import { LONG_TEXT } from '../../types/long-text.ts';
import { ProductObject } from '../../types/product.ts';

const DELIVERIES: Paging<Delivery> = { kind: 'delivery', shape: ['number'], keyOf: ({ key }) => [key] };

/** Fields of an endpoint that are looked up. */
@Resolver(() => EndpointObject)
export class EndpointObjectResolver {
  readonly #endpoints: EndpointService;
  readonly #deliveries: Deliveries;

  constructor(endpoints: EndpointService, deliveries: Deliveries) {
    this.#endpoints = endpoints;
    this.#deliveries = deliveries;
  }

  @FieldResolver(() => String, { nullable: true, description: 'The name for scripts; null: it has none.' })
  key(@Root() { authorKey }: Endpoint): string | null {
    return authorKey ?? null;
  }

  @FieldResolver(() => [ProductObject], { nullable: true, description: 'Only events of these; null: of all products.' })
  products(@Root() endpoint: Endpoint, @Ctx() { access }: GraphqlContext): Promise<ProductObject[] | null> {
    return this.#endpoints.productsOf(access, endpoint);
  }

  @FieldResolver(() => DeliveryConnection, {
    description:
      'What was sent and what is to be, newest first. Kept: DELIVERED for 7 days, at most 10,000; DEAD for 30 days.',
  })
  async deliveries(
    @Root() endpoint: Endpoint,
    @Ctx() { access }: GraphqlContext,
    @Arg('status', () => [DeliveryStatusEnum], { nullable: true, description: 'Only those; left out: all.' })
    status?: DeliveryStatus[] | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
  ): Promise<Connection<DeliveryObject>> {
    const statuses = status == null ? DELIVERY_STATUSES : [...new Set(status)];
    const last = (readAfter(DELIVERIES, after)?.[0] as number | undefined) ?? null;
    const page = await this.#deliveries.page(access, endpoint, statuses, readFirst(first), last);
    return connectionWith(
      DELIVERIES,
      page,
      (delivery) => delivery,
      () => this.#deliveries.count(access, endpoint, statuses),
    );
  }
}

/** Fields of a delivery that are looked up. */
@Resolver(() => DeliveryObject)
export class DeliveryObjectResolver {
  @FieldResolver(() => EndpointObject, { description: 'Where it goes.' })
  endpoint(@Root() { endpointKey, id }: Delivery, @Ctx() { loaders }: GraphqlContext): Promised<EndpointObject> {
    return whenKnown(loaders.endpoint.load(endpointKey), (endpoint) => {
      if (endpoint === null) throw notFound('delivery', id);
      return endpoint;
    });
  }

  @FieldResolver(() => String, { complexity: LONG_TEXT, description: 'What is sent: JSON with type, timestamp, data.' })
  body(@Root() { id }: Delivery, @Ctx() { loaders }: GraphqlContext): Promised<string> {
    return whenKnown(loaders.deliveryTexts.load(id), (texts) => texts?.body ?? '');
  }

  @FieldResolver(() => [DeliveryAttemptObject], {
    description: 'Its tries, oldest first; of more than 20 the newest.',
  })
  attempts(@Root() { id }: Delivery, @Ctx() { loaders }: GraphqlContext): Promised<DeliveryAttemptObject[]> {
    return whenKnown(loaders.deliveryTexts.load(id), (texts) =>
      texts === null ? [] : (JSON.parse(texts.attempts) as DeliveryAttempt[]),
    );
  }
}
