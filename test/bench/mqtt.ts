import { connect, type Socket } from 'node:net';
import { Mosquitto } from '../support/mosquitto.ts';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { countRows } from './count-rows.ts';
import { eachDatabase } from './each-database.ts';
import { generateLoad, postRequest } from './generator.ts';

const [DEVICES, FIELDS, CLIENTS, IDLE_CLIENTS] = [1000, 10, 50, 10_000];
/** Timestamps are written over in place: every one has this width. */
const TIME_WIDTH = 14;
const MARK = '"timestamp":';
let clock = 1_600_000_000_000;

/**
 * `npm run bench -- mqtt [seconds] [sqlite|postgres|both] [window]`: messages with QoS 1 of 50 clients, ten values each,
 * `window` of them without an acknowledgement at once per client, beside the record endpoint of the same server and
 * beside a mosquitto that acknowledges the same messages without storing anything. `…Micros`: processor time of the event
 * loop per message, which others on the machine hardly change. Every acknowledged value is counted in
 * the database at the end. Then what 10,000 clients take that say nothing.
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? 8);
  const only = args[1] === 'both' ? undefined : (args[1] ?? 'sqlite');
  const window = Number(args[2] ?? 20);
  const mosquitto = await Mosquitto.start('max_inflight_messages 0');
  try {
    await eachDatabase(only, async ({ database, newUrl }) => {
      await scenario(database, await newUrl());
      await idle(database, await newUrl());
    });
  } finally {
    await mosquitto.stop();
  }

  async function scenario(database: string, url: string): Promise<void> {
    const server = await ServerProcess.start({ DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0', MQTT_PORT: '0' });
    const port = Number(server.lines.find(({ msg }) => msg === 'MQTT: listening')?.['port']);
    const ids = await createDevices(server);
    let stored = 0;
    const spent = { record: new Spent(), mqtt: new Spent() };
    const ofRecord = async (forSeconds: number): Promise<number> => {
      const load = { port: server.port, connections: CLIENTS, seconds: forSeconds, next: requests(ids) };
      const before = server.processorMs();
      const { requests: sent, failed, requestsPerSecond } = await generateLoad(load);
      spent.record.add(server.processorMs() - before, sent);
      stored += (sent - failed) * FIELDS;
      return requestsPerSecond;
    };
    const ofMqtt = async (forSeconds: number, most: number): Promise<number> => {
      const before = server.processorMs();
      const { acknowledged, perSecond } = await publish(port, ids, forSeconds, most);
      if (most === window) spent.mqtt.add(server.processorMs() - before, acknowledged);
      stored += acknowledged * FIELDS;
      return perSecond;
    };
    const ofBroker = async (forSeconds: number, most = window): Promise<number> =>
      (await publish(Number(new URL(mosquitto.url).port), ids, forSeconds, most)).perSecond;
    await ofRecord(1);
    await ofBroker(1);
    await ofMqtt(1, window);
    // In turns, as the machine has its moods.
    const [record, mqtt, broker] = [[] as number[], [] as number[], [] as number[]];
    for (let turn = 0; turn < 2; turn += 1) {
      record.push(await ofRecord(seconds / 2));
      mqtt.push(await ofMqtt(seconds / 2, window));
      broker.push(await ofBroker(seconds / 2));
    }
    const oneAtOnce = await ofMqtt(seconds / 4, 1);
    const brokerOneAtOnce = await ofBroker(seconds / 4, 1);
    const residentMb = server.residentMb();
    const exit = await server.stop();
    const rows = await countRows(url);
    const mean = (all: number[]): number => Math.round(all.reduce((sum, one) => sum + one, 0) / all.length);
    const ratio = (a: number, b: number): number => Math.round((a / b) * 1000) / 1000;
    console.log(
      JSON.stringify({
        bench: 'mqtt',
        database,
        window,
        messagesPerSecond: mean(mqtt),
        recordPerSecond: mean(record),
        mosquittoPerSecond: mean(broker),
        overRecord: ratio(mean(mqtt), mean(record)),
        overMosquitto: ratio(mean(mqtt), mean(broker)),
        recordMicros: spent.record.micros,
        mqttMicros: spent.mqtt.micros,
        oneAtOncePerSecond: oneAtOnce,
        mosquittoOneAtOncePerSecond: brokerOneAtOnce,
        residentMb,
        acknowledged: stored,
        rows,
      }),
    );
    if (exit !== 0 || rows !== stored)
      throw new Error(`${stored} values were acknowledged, ${rows} are there (exit ${exit})`);
  }
}

/** Resident memory of clients that have signed in and say nothing. */
async function idle(database: string, url: string): Promise<void> {
  const server = await ServerProcess.start({ DATABASE_URL: url, MQTT_PORT: '0', CONNECTIONS_PER_ADDRESS: '0' });
  const port = Number(server.lines.find(({ msg }) => msg === 'MQTT: listening')?.['port']);
  const ids = await createDevices(server);
  await publish(port, ids, 1, 1);
  const beforeMb = server.residentMb();
  const clients: Publisher[] = [];
  while (clients.length < IDLE_CLIENTS)
    clients.push(
      ...(await Promise.all(
        Array.from({ length: 100 }, (_, at) => Publisher.open(port, `${clients.length + at}`, [])),
      )),
    );
  const withMb = server.residentMb();
  for (const client of clients) client.end();
  const exit = await server.stop();
  console.log(JSON.stringify({ bench: 'mqtt idle', database, clients: clients.length, beforeMb, withMb, exit }));
}

/** Processor time that was spent on messages. */
class Spent {
  #ms = 0;
  #messages = 0;

  add(ms: number, messages: number): void {
    this.#ms += ms;
    this.#messages += messages;
  }

  get micros(): number {
    return Math.round((this.#ms * 10_000) / this.#messages) / 10;
  }
}

async function createDevices(server: ServerProcess): Promise<string[]> {
  const fields = Array.from({ length: FIELDS }, (_, at) => ({ identifier: `field_${at}`, type: 'FLOAT' }));
  const { createProduct: product } = await server.gql<{ createProduct: { id: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }',
    { input: { name: 'bench', fields } },
  );
  const { createDevices: created } = await server.gql<{ createDevices: { id: string }[] }>(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    { id: product.id, devices: Array.from({ length: DEVICES }, (_, at) => ({ name: `device ${at}` })) },
  );
  return created.map(({ id }) => id);
}

function body(): string {
  const entry = (_: unknown, at: number): string =>
    `{"field":"field_${at}","value":${(20 + at / 7).toFixed(3)},${MARK}${'0'.repeat(TIME_WIDTH)}}`;
  return `[${Array.from({ length: FIELDS }, entry).join(',')}]`;
}

/** Gives a copy of the bytes each time, with the next millisecond in all places. */
function timed(bytes: Buffer): () => Buffer {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + 1)) offsets.push(at + MARK.length);
  return () => {
    clock += 1;
    const copy = Buffer.from(bytes);
    for (const offset of offsets) copy.write((clock / 1000).toFixed(3), offset, TIME_WIDTH, 'latin1');
    return copy;
  };
}

function requests(ids: string[]): (connection: number, sequence: number) => Buffer {
  const headers = ['Content-Type: application/json', `Authorization: Token ${ADMIN_TOKEN}`];
  const all = ids.map((id) => timed(postRequest(`/v1/devices/${id}/record/?batch=true`, headers, body())));
  const each = ids.length / CLIENTS;
  return (connection, sequence) => all[connection * each + (sequence % each)]!();
}

/** Publishes for a while, with at most `window` messages per client unacknowledged. */
async function publish(
  port: number,
  ids: string[],
  seconds: number,
  window: number,
): Promise<{ acknowledged: number; perSecond: number }> {
  const each = ids.length / CLIENTS;
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, at) =>
      Publisher.open(port, `bench-${at}`, ids.slice(at * each, (at + 1) * each)),
    ),
  );
  const started = performance.now();
  await Promise.all(clients.map((client) => client.publish(started + seconds * 1000, window)));
  const elapsed = (performance.now() - started) / 1000;
  const acknowledged = clients.reduce((sum, client) => sum + client.acknowledged, 0);
  return { acknowledged, perSecond: Math.round(acknowledged / elapsed) };
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
}

function packet(first: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length: number[] = [];
  for (let left = content.length; left > 0 || length.length === 0; left = Math.floor(left / 128))
    length.push((left % 128) + (left >= 128 ? 128 : 0));
  return Buffer.concat([Buffer.from([first, ...length]), content]);
}

/** A client of MQTT 3.1.1 on a bare socket, so cheap that the server is what is measured. */
class Publisher {
  acknowledged = 0;
  readonly #socket: Socket;
  readonly #messages: { next: () => Buffer; idAt: number }[];
  #sent = 0;

  private constructor(socket: Socket, ids: string[]) {
    this.#socket = socket;
    this.#messages = ids.map((id) => {
      const topic = text(`v1/${id}/record`);
      const bytes = packet(0x32, topic, Buffer.alloc(2), Buffer.from(body()));
      return { next: timed(bytes), idAt: bytes.indexOf(topic) + topic.length };
    });
  }

  static async open(port: number, clientId: string, ids: string[]): Promise<Publisher> {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    const flags = Buffer.from([4, 0xc2, 0, 60]);
    socket.write(packet(0x10, text('MQTT'), flags, text(clientId), text('x'), text(ADMIN_TOKEN)));
    const answer = await new Promise<Buffer>((resolve, reject) => {
      socket.once('data', resolve);
      socket.once('error', reject);
    });
    if (answer[0] !== 0x20 || answer[3] !== 0) throw new Error(`refused: ${answer.toString('hex')}`);
    return new Publisher(socket, ids);
  }

  /** Says goodbye. */
  end(): void {
    this.#socket.end(Buffer.from([0xe0, 0]));
  }

  /** Resolves when all that was sent is acknowledged. */
  publish(until: number, window: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let cut = 0;
      const fill = (): void => {
        if (performance.now() < until) {
          const all: Buffer[] = [];
          while (this.#sent - this.acknowledged < window) all.push(this.#next());
          this.#socket.write(all.length === 1 ? all[0]! : Buffer.concat(all));
        } else if (this.#sent === this.acknowledged) {
          this.#socket.off('close', lost);
          this.end();
          resolve();
        }
      };
      const lost = (): void => reject(new Error('a connection was lost'));
      this.#socket.on('close', lost);
      this.#socket.on('error', reject);
      this.#socket.on('data', (bytes) => {
        const all = cut + bytes.length;
        this.acknowledged += Math.floor(all / 4);
        cut = all % 4;
        fill();
      });
      fill();
    });
  }

  #next(): Buffer {
    this.#sent += 1;
    const { next, idAt } = this.#messages[this.#sent % this.#messages.length]!;
    const bytes = next();
    bytes.writeUInt16BE((this.#sent % 65_535) + 1, idAt);
    return bytes;
  }
}
