import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { type IConnectPacket, parser, writeToStream } from 'mqtt-packet';

/** A broker of this process with no more than a subscriber needs, for tests that are not about a broker. */
export class SmallBroker {
  /** Packet ids that were acknowledged. */
  readonly acknowledged: number[] = [];
  /** Of MQTT, in the order in which clients asked for them. */
  readonly versions: number[] = [];
  readonly #server: Server;
  readonly #subscribed = new Set<(topic: string, payload: string, isAgain: boolean) => void>();

  private constructor(knows: readonly number[]) {
    this.#server = createServer((socket) => this.#serve(socket, knows));
  }

  /** `knows`: the versions that it speaks. */
  static async start(knows: readonly number[] = [4, 5]): Promise<SmallBroker> {
    const broker = new SmallBroker(knows);
    broker.#server.listen(0, '127.0.0.1');
    await once(broker.#server, 'listening');
    return broker;
  }

  get url(): string {
    return `mqtt://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get subscribers(): number {
    return this.#subscribed.size;
  }

  /** Sends a message to every subscriber, whatever it has subscribed to. `isAgain`: as the last one that is repeated. */
  publish(topic: string, payload: string, isAgain = false): void {
    for (const send of this.#subscribed) send(topic, payload, isAgain);
  }

  stop(): void {
    this.#server.close();
  }

  #serve(socket: Socket, knows: readonly number[]): void {
    const read = parser();
    let [protocolVersion, messageId] = [4, 0];
    const send = (topic: string, payload: string, dup: boolean): void => {
      if (!dup) messageId += 1;
      const message = { cmd: 'publish', topic, payload, qos: 1, dup, retain: false, messageId } as const;
      writeToStream(message, socket, { protocolVersion });
    };
    socket.on('data', (data) => read.parse(data));
    socket.on('error', () => {});
    socket.on('close', () => this.#subscribed.delete(send));
    read.on('packet', (packet) => {
      if (packet.cmd === 'connect') {
        protocolVersion = (packet as IConnectPacket).protocolVersion ?? 4;
        this.versions.push(protocolVersion);
        const isKnown = knows.includes(protocolVersion);
        // As a broker refuses a version that it does not know: in that of its own.
        if (isKnown)
          writeToStream({ cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: false }, socket, {
            protocolVersion,
          });
        else writeToStream({ cmd: 'connack', returnCode: 1, sessionPresent: false }, socket);
      } else if (packet.cmd === 'subscribe') {
        writeToStream({ cmd: 'suback', messageId: packet.messageId, granted: [1] }, socket, { protocolVersion });
        this.#subscribed.add(send);
      } else if (packet.cmd === 'puback') this.acknowledged.push(packet.messageId!);
      else if (packet.cmd === 'pingreq') writeToStream({ cmd: 'pingresp' }, socket, { protocolVersion });
      else if (packet.cmd === 'disconnect') socket.end();
    });
  }
}
