import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { freePort } from './free-port.ts';
import { findPostgres, hasPatroni } from './has-patroni.ts';
import { type Account, unprivilegedAccount } from './postgres.ts';

/** A suite that needs Patroni, etcd, HAProxy and PostgreSQL of Debian. */
export const describeWithPatroni = hasPatroni() ? describe : describe.skip;

const PASSWORD = 'of the tests';
const deploy = (file: string): string => new URL(`../../deploy/ha/${file}`, import.meta.url).pathname;

/** A member of the cluster as Patroni's API shows it. */
interface Member {
  name: string;
  role: string;
  state: string;
}

/** A server of PostgreSQL with the Patroni that looks after it. */
interface Node {
  name: string;
  port: number;
  api: number;
  data: string;
  patroni: ChildProcess | null;
}

/** Two servers of PostgreSQL with Patroni, etcd and HAProxy, as `deploy/ha/` has them. */
export class PatroniCluster {
  /** Of a database on the server that writes, through HAProxy. */
  readonly url: string;
  readonly #nodes: readonly Node[];
  readonly #folder: string;
  readonly #etcd: string;
  readonly #account: Account | undefined;
  readonly #others: ChildProcess[] = [];

  private constructor(place: { folder: string; account: Account | undefined; nodes: Node[]; ports: number[] }) {
    const [etcd, primary] = place.ports;
    this.#folder = place.folder;
    this.#account = place.account;
    this.#nodes = place.nodes;
    this.#etcd = `127.0.0.1:${etcd}`;
    this.url = `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${primary}/inlet`;
  }

  static async start(): Promise<PatroniCluster> {
    const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
    const folder = mkdtempSync(join(tmpdir(), 'inlet-patroni-'));
    const ports: number[] = [];
    for (let at = 0; at < 8; at += 1) ports.push(await freePort());
    const [peer = 0, one = 0, oneApi = 0, two = 0, twoApi = 0, ...others] = ports;
    const node = (name: string, port: number, api: number): Node => ({
      name,
      port,
      api,
      data: join(folder, name, 'data'),
      patroni: null,
    });
    const nodes = [node('one', one, oneApi), node('two', two, twoApi)];
    const started = new PatroniCluster({ folder, account, nodes, ports: others });
    try {
      started.#ownFolders();
      started.#runEtcd(peer);
      started.#runProxy(others);
      for (const { name } of nodes) {
        started.begin(name);
        await started.#untilOneWrites();
      }
      await started.whole();
      const client = await started.#connect('postgres');
      await client.query('CREATE DATABASE inlet');
      await client.end();
      return started;
    } catch (error) {
      await started.stop();
      throw error;
    }
  }

  /** The name of the server that writes; null: there is none. */
  async writer(): Promise<string | null> {
    const members = await this.#members();
    return members.find(({ role, state }) => role === 'leader' && state === 'running')?.name ?? null;
  }

  /** Resolves when both servers run, and what one acknowledges is on the other. */
  async whole(): Promise<void> {
    await expect
      .poll(async () => (await this.#members()).map(({ role, state }) => `${role} ${state}`).toSorted())
      .toEqual(['leader running', expect.stringMatching(/^sync_standby (?:running|streaming)$/)]);
  }

  /** Ends a server and its Patroni at once, as if the machine had lost its power. */
  kill(name: string): void {
    const node = this.#node(name);
    const patroni = node.patroni?.pid ?? 0;
    const pids = [patroni, ...childrenOf(patroni)];
    const file = join(node.data, 'postmaster.pid');
    const postmaster = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0;
    pids.push(postmaster, ...childrenOf(postmaster));
    for (const pid of pids) if (pid > 0) killNow(pid);
    node.patroni = null;
  }

  /** Starts a server, as a machine does that has its power again. */
  begin(name: string): void {
    const node = this.#node(name);
    const address = (port: number): string => `127.0.0.1:${port}`;
    node.patroni = this.#spawn('patroni', [deploy('patroni.yml')], {
      PATRONI_NAME: name,
      PATRONI_ETCD3_HOSTS: `'${this.#etcd}'`,
      PATRONI_RESTAPI_LISTEN: address(node.api),
      PATRONI_RESTAPI_CONNECT_ADDRESS: address(node.api),
      PATRONI_POSTGRESQL_LISTEN: address(node.port),
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: address(node.port),
      PATRONI_POSTGRESQL_DATA_DIR: node.data,
      PATRONI_POSTGRESQL_BIN_DIR: findPostgres() ?? '',
      PATRONI_POSTGRESQL_PGPASS: join(this.#folder, name, 'pgpass'),
      PATRONI_SUPERUSER_PASSWORD: PASSWORD,
      PATRONI_REPLICATION_PASSWORD: PASSWORD,
      PATRONI_REWIND_PASSWORD: PASSWORD,
      PATRONI_LOG_LEVEL: 'WARNING',
    });
  }

  async stop(): Promise<void> {
    for (const { name, patroni } of this.#nodes) if (patroni !== null) this.kill(name);
    for (const child of this.#others) child.kill('SIGKILL');
    await sleep(200);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #node(name: string): Node {
    const node = this.#nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`there is no server ${name}`);
    return node;
  }

  async #members(): Promise<Member[]> {
    for (const { api } of this.#nodes) {
      const answer = await fetch(`http://127.0.0.1:${api}/cluster`).catch(() => null);
      if (answer?.ok === true) return ((await answer.json()) as { members: Member[] }).members;
    }
    return [];
  }

  async #untilOneWrites(): Promise<void> {
    await expect
      .poll(async () => {
        const client = await this.#connect('postgres').catch(() => null);
        await client?.end();
        return client !== null;
      })
      .toBe(true);
  }

  async #connect(database: string): Promise<pg.Client> {
    const url = new URL(this.url);
    url.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: url.href });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  #ownFolders(): void {
    for (const folder of [this.#folder, ...['one', 'two', 'etcd'].map((name) => join(this.#folder, name))]) {
      mkdirSync(folder, { recursive: true });
      if (this.#account !== undefined) chownSync(folder, this.#account.uid, this.#account.gid);
    }
  }

  #runEtcd(peerPort: number): void {
    const [client, peer] = [`http://${this.#etcd}`, `http://127.0.0.1:${peerPort}`];
    const options = {
      'data-dir': join(this.#folder, 'etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
    };
    this.#others.push(
      this.#spawn(
        'etcd',
        Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
      ),
    );
  }

  #runProxy([, primary, replicas]: readonly number[]): void {
    const [one, two] = this.#nodes;
    this.#others.push(
      this.#spawn('/usr/sbin/haproxy', ['-db', '-f', deploy('haproxy.cfg')], {
        PRIMARY: `127.0.0.1:${primary}`,
        REPLICAS: `127.0.0.1:${replicas}`,
        PG1: `127.0.0.1:${one?.port}`,
        API1: String(one?.api),
        PG2: `127.0.0.1:${two?.port}`,
        API2: String(two?.api),
      }),
    );
  }

  #spawn(command: string, args: string[], env: Record<string, string> = {}): ChildProcess {
    return spawn(command, args, {
      ...this.#account,
      cwd: this.#folder,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin', LC_ALL: 'C.UTF-8', ...env },
      stdio: process.env['SHOW_PATRONI'] === undefined ? 'ignore' : 'inherit',
    });
  }
}

function childrenOf(parent: number): number[] {
  if (parent === 0) return [];
  const found = spawnSync('ps', ['-o', 'pid=', '--ppid', String(parent)], { encoding: 'utf8' });
  return found.stdout.split('\n').map(Number).filter(Boolean);
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
