import { Arg, ID, Int, Resolver, Root, Subscription } from 'type-graphql';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { LiveCallsQuery } from '../live/live-calls.ts';
import type { LiveQuery } from '../live/live-measurements.ts';
import type { CallStatus } from '../../domain/ports/store.ts';
import type { LiveChoice } from '../live/narrowed.ts';
import { DeviceStatus } from '../types/device.ts';
import { CallStatusEnum } from '../types/enums.ts';
import { RecordedBatch } from '../types/measurement.ts';
import { WebhookCallObject } from '../types/webhook-call.ts';

interface Subscribing<Args> {
  args: Args;
  context: GraphqlContext;
}

/** Live values and calls (CONTRACT 7): the sources of the context open the streams. */
@Resolver()
export class LiveResolver {
  @Subscription(() => RecordedBatch, {
    description: 'Narrow by devices, by product or by workspace.',
    subscribe: ({ args, context }: Subscribing<LiveQuery>) => context.live.measurements.open(context.access, args),
  })
  measurementsRecorded(
    @Root() batch: RecordedBatch,
    @Arg('deviceIds', () => [ID], { nullable: true, description: 'Only these devices, at most 1,000.' })
    _deviceIds?: string[] | null,
    @Arg('productId', () => ID, { nullable: true, description: 'Only devices of this product.' })
    _productId?: string | null,
    @Arg('workspaceId', () => ID, { nullable: true, description: 'Only devices of this workspace.' })
    _workspaceId?: string | null,
    @Arg('fields', () => [String], {
      nullable: true,
      description: 'Only values of fields with these identifiers; left out: all.',
    })
    _fields?: string[] | null,
    @Arg('after', () => String, {
      nullable: true,
      description:
        'The cursor of the last event received: begins with everything recorded since; too old: CURSOR_EXPIRED.',
    })
    _after?: string | null,
  ): RecordedBatch {
    return batch;
  }

  @Subscription(() => WebhookCallObject, {
    description:
      'The live call log of one product. last: begins with so many of the newest calls (at most 500), oldest of them first.',
    subscribe: ({ args, context }: Subscribing<LiveCallsQuery>) => context.live.calls.open(context.access, args),
  })
  webhookCalled(
    @Root() call: WebhookCallObject,
    @Arg('productId', () => ID, { description: 'The product.' }) _productId: string,
    @Arg('last', () => Int, {
      nullable: true,
      description: 'How many of the newest calls to begin with, 0 to 500; left out: none.',
    })
    _last?: number | null,
    @Arg('status', () => [CallStatusEnum], {
      nullable: true,
      description: 'Only calls with one of these outcomes; left out: all.',
    })
    _status?: CallStatus[] | null,
  ): WebhookCallObject {
    return call;
  }

  @Subscription(() => DeviceStatus, {
    description: 'Fires once when a device goes silent or is heard again. Narrow by devices, product or workspace.',
    subscribe: ({ args, context }: Subscribing<LiveChoice>) => context.live.status.open(context.access, args),
  })
  deviceStatusChanged(
    @Root() status: DeviceStatus,
    @Arg('deviceIds', () => [ID], { nullable: true, description: 'Only these devices, at most 1,000.' })
    _deviceIds?: string[] | null,
    @Arg('productId', () => ID, { nullable: true, description: 'Only devices of this product.' })
    _productId?: string | null,
    @Arg('workspaceId', () => ID, { nullable: true, description: 'Only devices of this workspace.' })
    _workspaceId?: string | null,
  ): DeviceStatus {
    return status;
  }
}
