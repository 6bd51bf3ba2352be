import { ADMIN_TOKEN } from '../../support/server-process.ts';
import type { TestServer } from '../../support/server.ts';
import { SmallBroker } from '../../support/small-broker.ts';
import type { World } from './world.ts';

/** A broker that sends for a device, which the schema tells of. */
export class BrokerWays {
  readonly #broker: SmallBroker;

  private constructor(broker: SmallBroker) {
    this.#broker = broker;
  }

  static async start(): Promise<BrokerWays> {
    return new BrokerWays(await SmallBroker.start());
  }

  /** Settings of a server that takes its messages. */
  get env(): Record<string, string> {
    return { MQTT_SOURCE_URL: this.#broker.url, MQTT_SOURCE_TOKEN: ADMIN_TOKEN };
  }

  /** Sends until the device has a client. */
  async send(server: TestServer, { deviceIds: [id] }: World): Promise<void> {
    const query = 'query ($id: ID!) { device(id: $id) { mqttClients { clientId } } }';
    while ((await server.gql(query, { id }))['device'].mqttClients.length === 0) {
      this.#broker.publish(`v1/${id}/none`, '1');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  stop(): void {
    this.#broker.stop();
  }
}
