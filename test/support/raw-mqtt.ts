import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { generate, type IConnackPacket, type IConnectPacket, type Packet, parser } from 'mqtt-packet';

/** A client that sends what the test says, and nothing of its own accord. */
export class RawMqtt {
  readonly socket: Socket;
  readonly received: Packet[] = [];
  readonly #version: 4 | 5;
  #isClosed = false;
  #heard: () => void = () => {};

  private constructor(socket: Socket, version: 4 | 5) {
    this.socket = socket;
    this.#version = version;
    const reader = parser({ protocolVersion: version });
    reader.on('packet', (packet) => {
      this.received.push(packet);
      this.#heard();
    });
    socket.on('data', (bytes) => reader.parse(bytes));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      this.#heard();
    });
  }

  /** A connection without a CONNECT. */
  static async open(port: number, version: 4 | 5 = 5): Promise<RawMqtt> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new RawMqtt(socket, version);
  }

  /** One that is taken in. */
  static async signIn(
    port: number,
    { protocolVersion = 5, clean = true, ...more }: Partial<IConnectPacket>,
  ): Promise<{ client: RawMqtt; connack: IConnackPacket }> {
    const version = protocolVersion === 5 ? 5 : 4;
    const client = await RawMqtt.open(port, version);
    client.send({ cmd: 'connect', clientId: 'raw', username: 'x', protocolVersion: version, clean, ...more });
    return { client, connack: (await client.next('connack')) as IConnackPacket };
  }

  send(packet: Packet): void {
    this.socket.write(generate(packet, { protocolVersion: this.#version }));
  }

  publish(
    topic: string,
    payload: string,
    { qos, id, dup = false }: { qos: 0 | 1 | 2; id?: number; dup?: boolean },
  ): void {
    this.send({
      cmd: 'publish',
      topic,
      payload,
      qos,
      dup,
      retain: false,
      ...(id === undefined ? {} : { messageId: id }),
    });
  }

  /** The next packet of that kind, which is taken away with all before it; throws when the connection ends without one. */
  async next(cmd: Packet['cmd']): Promise<Packet> {
    for (;;) {
      const at = this.received.findIndex((packet) => packet.cmd === cmd);
      const found = this.received[at];
      if (found !== undefined) {
        this.received.splice(0, at + 1);
        return found;
      }
      if (this.#isClosed) throw new Error(`the connection ended without ${cmd}: ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => (this.#heard = resolve));
    }
  }

  /** Resolves when the connection has ended. */
  async closed(): Promise<void> {
    while (!this.#isClosed) await new Promise<void>((resolve) => (this.#heard = resolve));
  }

  /** Ends without a word. */
  break(): void {
    this.socket.destroy();
  }
}
