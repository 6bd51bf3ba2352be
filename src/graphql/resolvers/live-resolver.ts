import { Arg, ID, Resolver, Root, Subscription } from 'type-graphql';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { LiveQuery } from '../live/live-measurements.ts';
import { RecordedBatch } from '../types/measurement.ts';
import { WebhookCallObject } from '../types/webhook-call.ts';

interface Subscribing<Args> {
  args: Args;
  context: GraphqlContext;
}

/** Live values and calls (CONTRACT 7): the streams themselves are opened by what the context brings. */
@Resolver()
export class LiveResolver {
  @Subscription(() => RecordedBatch, {
    description: 'Narrow by devices, by product or by workspace.',
    subscribe: ({ args, context }: Subscribing<LiveQuery>) => context.live.measurements.open(context.access, args),
  })
  measurementsRecorded(
    @Root() batch: RecordedBatch,
    @Arg('deviceIds', () => [ID], { nullable: true }) _deviceIds?: string[] | null,
    @Arg('productId', () => ID, { nullable: true }) _productId?: string | null,
    @Arg('workspaceId', () => ID, { nullable: true }) _workspaceId?: string | null,
    @Arg('fields', () => [String], { nullable: true }) _fields?: string[] | null,
    @Arg('after', () => String, { nullable: true }) _after?: string | null,
  ): RecordedBatch {
    return batch;
  }

  @Subscription(() => WebhookCallObject, {
    description: 'The live call log of one product.',
    subscribe: ({ args, context }: Subscribing<{ productId: string }>) =>
      context.live.calls.open(context.access, args.productId),
  })
  webhookCalled(@Root() call: WebhookCallObject, @Arg('productId', () => ID) _productId: string): WebhookCallObject {
    return call;
  }
}
