import { WebSocket } from 'ws';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { pause } from './pause.ts';
import { momentOf, type Writer } from './writer.ts';

interface LiveReaderOptions {
  deviceIds: readonly string[];
  url: () => string;
  random: () => number;
}

interface Push {
  cursor: string;
  device: { id: string };
  measurements: { value: number }[];
}

const QUERY = `subscription ($d: [ID!], $after: String) {
  measurementsRecorded(deviceIds: $d, after: $after) { cursor device { id } measurements { value } } }`;
const COMPLETE_MS = 120_000;
const LATE_MS = 60_000;
/** Ends of a connection that say "connect again". */
const AGAIN = new Set([1001, 1006, 1012, 1013]);

/** Follows devices, and goes on behind the last event it got whenever its connection ends. */
export class LiveReader {
  resumed = 0;
  readonly #options: LiveReaderOptions;
  /** Values in the order in which they came. */
  readonly #got = new Map<string, number[]>();
  #cursor: string | null = null;
  #socket: WebSocket | null = null;
  #problem: string | null = null;
  #isOver = false;

  constructor(options: LiveReaderOptions) {
    this.#options = options;
    for (const id of options.deviceIds) this.#got.set(id, []);
    this.#connect();
  }

  /** Something of each device has come. */
  get hasBegun(): boolean {
    return [...this.#got.values()].every((values) => values.length > 0);
  }

  /** Cuts the connection as a cable is cut; false: there was none. */
  drop(): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.terminate();
    return true;
  }

  end(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  /** Waits for every moment that was written, then looks at their order. */
  async until(writers: ReadonlyMap<string, Writer>, name: string): Promise<void> {
    const deadline = Date.now() + COMPLETE_MS;
    for (const [id, values] of this.#got) {
      const writer = writers.get(id)!;
      const first = momentOf(values[0]!);
      const missing = (): number[] => {
        const seen = new Set(values.map(momentOf));
        return Array.from({ length: writer.moments - first }, (_, at) => first + at).filter(
          (moment) => !seen.has(moment),
        );
      };
      while (missing().length > 0) {
        if (this.#problem !== null || Date.now() > deadline)
          throw new Error(
            `${name}: ${this.#problem ?? `moments ${missing().slice(0, 20).join()} of ${id} never came`}`,
          );
        await pause(20);
      }
      const once = values.map(momentOf).filter((moment) => !writer.again.has(moment));
      once.forEach((moment, at) => {
        if (at > 0 && moment <= once[at - 1]!)
          throw new Error(
            `${name}: moment ${moment} of ${id} came ${once.indexOf(moment) < at ? 'twice' : 'late'}, behind ${once[at - 1]}, and was written once`,
          );
      });
    }
    if (this.#problem !== null) throw new Error(`${name}: ${this.#problem}`);
  }

  /** What came last of each moment is what is stored, soon: a request that was cut off may have been stored late. */
  async compare(id: string, stored: ReadonlyMap<number, number>): Promise<void> {
    const values = this.#got.get(id);
    if (values === undefined) return;
    const deadline = Date.now() + LATE_MS;
    for (;;) {
      const last = new Map(values.map((value) => [momentOf(value), value]));
      const other = [...last].find(([moment, value]) => stored.get(moment) !== value);
      if (other === undefined) return;
      const [moment, value] = other;
      if (Date.now() > deadline)
        throw new Error(`of moment ${moment} of ${id} ${value} came last, and ${stored.get(moment)} is stored`);
      await pause(50);
    }
  }

  #connect(): void {
    if (this.#isOver || this.#problem !== null) return;
    const socket = new WebSocket(`${this.#options.url().replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
    this.#socket = socket;
    const send = (message: object): void => socket.send(JSON.stringify(message));
    socket.on('open', () => send({ type: 'connection_init', payload: { token: ADMIN_TOKEN } }));
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as {
        type: string;
        payload?: { data?: { measurementsRecorded: Push } };
      };
      if (message.type === 'ping') send({ type: 'pong' });
      if (message.type === 'connection_ack') {
        if (this.#cursor !== null) this.resumed += 1;
        const variables = { d: this.#options.deviceIds, after: this.#cursor };
        send({ id: '1', type: 'subscribe', payload: { query: QUERY, variables } });
      }
      const push = message.payload?.data?.measurementsRecorded;
      if (message.type === 'next' && push !== undefined) this.#take(push);
      else if (message.type === 'next' || message.type === 'error') this.#failed(data.toString(), socket);
    });
    socket.on('error', () => {});
    socket.on('close', (code, reason) => {
      if (!AGAIN.has(code)) this.#problem ??= `the connection was closed with ${code} ${reason.toString()}`;
      setTimeout(() => this.#connect(), 20 + this.#options.random() * 200);
    });
  }

  #take({ cursor, device, measurements }: Push): void {
    this.#cursor = cursor;
    for (const { value } of measurements) this.#got.get(device.id)!.push(value);
  }

  /** A database or node that is away is told as an error, too. */
  #failed(text: string, socket: WebSocket): void {
    if (/"(?:UNAVAILABLE|OVERLOADED)"/.test(text)) socket.terminate();
    else this.#problem ??= `the subscription ended with ${text.slice(0, 500)}`;
  }
}
