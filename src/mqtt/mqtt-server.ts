import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Access } from '../domain/access/access.ts';
import type { Change, Cluster } from '../domain/ports/cluster.ts';
import { MqttConnection } from './mqtt-connection.ts';
import type { MqttDoor } from './mqtt-door.ts';
import { Sessions } from './sessions.ts';
import { TlsFiles } from './tls-files.ts';

interface MqttServerDeps extends Omit<MqttDoor, 'sessions' | 'isStopping'> {
  host: string;
  /** null: not without TLS. */
  port: number | null;
  tls: { port: number; certFile: string; keyFile: string } | null;
  /** CONNECTIONS_PER_ADDRESS; 0: any number. */
  connectionsPerAddress: number;
  cluster: Pick<Cluster, 'onChanged'>;
  /** Called for each connection that is taken in. */
  onConnection: () => void;
}

const CHECK_EVERY_MS = 1_000;
/** Silence after which the network is asked whether a client is still there: some have no keep-alive of their own. */
const ASK_NETWORK_MS = 60_000;

/** Listens for devices that speak MQTT (CONTRACT 14); a door for values, and no broker between clients. */
export class MqttServer {
  readonly #deps: MqttServerDeps;
  readonly #door: MqttDoor;
  readonly #servers: Server[] = [];
  readonly #connections = new Set<MqttConnection>();
  /** Connections by address. */
  readonly #held = new Map<string, number>();
  readonly #tls: TlsFiles | null;
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(deps: MqttServerDeps) {
    this.#deps = deps;
    const isStopping = (): boolean => this.#isStopping;
    this.#door = {
      ...deps,
      sessions: new Sessions(),
      get isStopping() {
        return isStopping();
      },
    };
    this.#tls = deps.tls === null ? null : new TlsFiles(deps.tls, deps.log);
    deps.cluster.onChanged((changes) => this.#note(changes));
  }

  /** Open connections. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Messages without an outcome. */
  get underWay(): number {
    let sum = 0;
    for (const { underWay } of this.#connections) sum += underWay;
    return sum;
  }

  /** Listens; resolves with the ports. Rejects with what is wrong with a port or the files of TLS. */
  async start(): Promise<{ port: number | null; tlsPort: number | null }> {
    const { port, tls } = this.#deps;
    const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: ASK_NETWORK_MS };
    const plain = port === null ? null : await this.#listen(createServer(options), port);
    const secure = tls === null || this.#tls === null ? null : await this.#listen(this.#tls.server(options), tls.port);
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY_MS).unref();
    return { port: plain, tlsPort: secure };
  }

  /** Takes in nothing more, acknowledges what is under way, and says goodbye to all clients. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    for (const server of this.#servers) server.close();
    await Promise.all([...this.#connections].map((connection) => connection.stop()));
  }

  #listen(server: Server, port: number): Promise<number> {
    this.#servers.push(server);
    server.on('connection', (socket: Socket) => this.#bound(socket));
    const event = server === this.#tls?.running ? 'secureConnection' : 'connection';
    server.on(event, (socket: Socket) => {
      if (socket.destroyed) return;
      const connection = new MqttConnection(socket, this.#door);
      this.#connections.add(connection);
      socket.once('close', () => this.#connections.delete(connection));
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, this.#deps.host, () => {
        server.off('error', reject);
        server.on('error', (error) => this.#deps.log.warn({ err: error }, 'MQTT: taking in a connection'));
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  /** Refuses connections of an address that has too many: there is no word for it before CONNECT. */
  #bound(socket: Socket): void {
    const { anonymous, connectionsPerAddress: most, onConnection } = this.#deps;
    onConnection();
    if (this.#isStopping) return void socket.destroy();
    const address = anonymous.addressOf({ socket, headers: {} });
    const count = (this.#held.get(address) ?? 0) + 1;
    this.#held.set(address, count);
    socket.once('close', () => {
      const left = (this.#held.get(address) ?? 1) - 1;
      if (left > 0) this.#held.set(address, left);
      else this.#held.delete(address);
    });
    if (most > 0 && count > most) socket.destroy();
  }

  #check(): void {
    this.#tls?.check();
    const now = this.#deps.now();
    for (const connection of this.#connections) connection.check(now);
  }

  /** A token that is revoked loses its connections at once. */
  #note(changes: readonly Change[]): void {
    const ids = new Set<string>();
    let all = false;
    for (const change of changes) {
      all ||= change.kind === 'everything';
      if (change.kind === 'token' || change.kind === 'user') ids.add(change.id);
    }
    if (!all && ids.size === 0) return;
    const isMeant = ({ tokenId, userId }: Access): boolean =>
      all || ids.has(tokenId) || (userId !== null && ids.has(userId));
    for (const connection of this.#connections) {
      const { access } = connection;
      if (access !== null && isMeant(access)) connection.recheck();
    }
  }
}
