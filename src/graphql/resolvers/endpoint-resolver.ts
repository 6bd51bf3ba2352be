import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import type { Deliveries } from '../../domain/outgoing/deliveries.ts';
import type { Delivery } from '../../domain/outgoing/delivery-rows.ts';
import type { EndpointService } from '../../domain/outgoing/endpoint-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { type Promised, whenKnown } from '../context/promised.ts';
import { CreatedEndpoint, DeliveryObject, EndpointInput, EndpointObject } from '../types/endpoint.ts';
import { DateTime } from '../types/date-time.ts';
import { WorkspaceObject } from '../types/workspace.ts';

/** Endpoints, and what is sent through them (CONTRACT 13). */
@Resolver(() => WorkspaceObject)
export class EndpointResolver {
  readonly #endpoints: EndpointService;
  readonly #deliveries: Deliveries;

  constructor(endpoints: EndpointService, deliveries: Deliveries) {
    this.#endpoints = endpoints;
    this.#deliveries = deliveries;
  }

  @FieldResolver(() => [EndpointObject], {
    description:
      'Its receivers of events, oldest first, at most 50; not for tokens limited to products, devices or fields.',
  })
  endpoints(
    @Root() { id }: WorkspaceObject,
    @Ctx() { access, loaders }: GraphqlContext,
    @Arg('ids', () => [ID], { nullable: true, description: 'Only these; left out: all.' }) ids?: string[] | null,
  ): Promised<EndpointObject[]> {
    const wanted = ids == null ? null : new Set(ids.map((one) => one.toLowerCase()));
    return whenKnown(
      loaders.list(`endpoints of ${id}`, () => this.#endpoints.ofWorkspace(access, id)),
      (endpoints) => endpoints.filter((endpoint) => wanted === null || wanted.has(endpoint.id)),
    );
  }

  @Mutation(() => CreatedEndpoint, {
    description:
      'Makes a receiver of events, for those who may READ and CONFIGURE the whole workspace. Safe to send again with a key.',
  })
  createEndpoint(
    @Ctx() { access }: GraphqlContext,
    @Arg('input', () => EndpointInput, { description: 'The endpoint.' }) input: EndpointInput,
    @Arg('workspaceId', () => ID, {
      nullable: true,
      description: 'The workspace; may be left out by a token that sees only one.',
    })
    workspaceId?: string | null,
  ): Promise<CreatedEndpoint> {
    return this.#endpoints.create(access, workspaceId, input);
  }

  @Mutation(() => EndpointObject, {
    description: 'Changes an endpoint; what may be left out stays. enabled: true also sends what waits.',
  })
  updateEndpoint(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The endpoint.' }) id: string,
    @Arg('input', () => EndpointInput, { description: 'What it is to be.' }) input: EndpointInput,
  ): Promise<EndpointObject> {
    return this.#endpoints.update(access, id, input);
  }

  @Mutation(() => CreatedEndpoint, {
    description: 'Another secret for a WEBHOOK, shown this once. For a day the one before signs beside it.',
  })
  rotateEndpointSecret(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The endpoint.' }) id: string,
  ): Promise<CreatedEndpoint> {
    return this.#endpoints.rotateSecret(access, id);
  }

  @Mutation(() => ID, {
    complexity: 100,
    description: 'Deletes an endpoint with its deliveries, also those that wait.',
  })
  deleteEndpoint(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The endpoint.' }) id: string,
  ): Promise<string> {
    return this.#endpoints.delete(access, id);
  }

  @Mutation(() => DeliveryObject, {
    complexity: 500,
    description:
      'Sends a sample of the first event that the endpoint wants (`test: true` in its data), at once and once, also while ' +
      'it is off; answers what it came to.',
  })
  testEndpoint(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The endpoint.' }) id: string,
  ): Promise<DeliveryObject> {
    return this.#deliveries.test(access, id);
  }

  @Mutation(() => Int, {
    complexity: 500,
    description:
      'Sends deliveries again, at most 10,000 of the oldest, and answers how many: those that are DEAD, of a time; or ' +
      'those named, whatever became of them. Their tries begin anew.',
  })
  retryDeliveries(
    @Ctx() { access }: GraphqlContext,
    @Arg('endpointId', () => ID, { description: 'The endpoint.' }) endpointId: string,
    @Arg('deliveryIds', () => [ID], {
      nullable: true,
      description: 'Only these, 1 to 1,000; left out: all that are DEAD.',
    })
    deliveryIds?: string[] | null,
    @Arg('from', () => DateTime, { nullable: true, description: 'Only those queued since, inclusive.' })
    from?: number | null,
    @Arg('to', () => DateTime, { nullable: true, description: 'Only those queued before, exclusive.' })
    to?: number | null,
    @Arg('dryRun', () => Boolean, { nullable: true, description: 'true: only count them.' })
    dryRun?: boolean | null,
  ): Promise<number> {
    return this.#deliveries.retry(access, endpointId, { deliveryIds, from, to, dryRun });
  }

  @Subscription(() => DeliveryObject, {
    description: 'Each try of the endpoint as it ends, also the one for which it is switched off (`endpoint.enabled`).',
    subscribe: ({ args, context }: { args: { endpointId: string }; context: GraphqlContext }) =>
      context.live.deliveries.open(context.access, args.endpointId),
  })
  deliveryChanged(
    @Root() delivery: Delivery,
    @Arg('endpointId', () => ID, { description: 'The endpoint.' }) _endpointId: string,
  ): DeliveryObject {
    return delivery;
  }
}
