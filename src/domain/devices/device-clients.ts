import { lruCache } from '../../scheduling/lru-cache.ts';

/** A client with a connection that stays, as MQTT has; whoever holds the connection changes it. */
export interface DeviceClient {
  /** The name that it has given itself, or the broker that it stands for. */
  readonly id: string;
  /** In ms UTC. */
  readonly connectedAt: number;
  isConnected: boolean;
}

/** A client that has sent for a device, and the topic and moment (ms UTC) of its last message. */
interface ClientOfDevice {
  client: DeviceClient;
  lastTopic: string;
  lastMessageAt: number;
}

/** Maximum devices whose clients are remembered, and clients per device, the last ones. */
const [MAX_DEVICES, MAX_CLIENTS] = [50_000, 8];

/** Remembers which clients of this node have sent for a device: nothing of it is written. */
export class DeviceClients {
  readonly #clients = lruCache<string, ClientOfDevice[]>(MAX_DEVICES);

  /** Notes a message of the client for the device. */
  note(deviceId: string, client: DeviceClient, lastTopic: string, lastMessageAt: number): void {
    const known = this.#clients.get(deviceId);
    const [last] = known ?? [];
    if (last?.client === client) {
      last.lastTopic = lastTopic;
      last.lastMessageAt = lastMessageAt;
      return;
    }
    // A client that has connected again takes the place of what it was.
    const others = (known ?? []).filter(({ client: { id } }) => id !== client.id).slice(0, MAX_CLIENTS - 1);
    this.#clients.set(deviceId, [{ client, lastTopic, lastMessageAt }, ...others]);
  }

  /** The clients of a device, those that sent last first. */
  of(deviceId: string): readonly ClientOfDevice[] {
    return this.#clients.get(deviceId) ?? [];
  }
}
