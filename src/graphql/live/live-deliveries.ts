import type { Access } from '../../domain/access/access.ts';
import type { Deliveries } from '../../domain/outgoing/deliveries.ts';
import type { Delivery } from '../../domain/outgoing/delivery-rows.ts';
import { LiveStream } from './live-stream.ts';

/** The stream behind `deliveryChanged`: the tries of one endpoint from now on. */
export class LiveDeliveries {
  readonly #deliveries: Deliveries;

  constructor(deliveries: Deliveries) {
    this.#deliveries = deliveries;
  }

  /** NOT_FOUND or FORBIDDEN for the endpoint. */
  async open(access: Access, endpointId: string): Promise<LiveStream<Delivery>> {
    const stream = await this.#deliveries.subscribe(access, endpointId);
    return new LiveStream(stream, (delivery) => ({ of: delivery, value: () => delivery }));
  }
}
