import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { PostgresGuard } from '../../src/database/postgres-guard.ts';
import { ServerProcess } from '../support/server-process.ts';
import { createDatabase, createProduct, DATABASES, startServer } from '../support/server.ts';

/** One line that names the setting, nothing on stdout, exit 1. */
const ONE_LINE =
  /^server ended with 1: Inlet cannot start: DATABASE_URL: the database cannot be opened: [^\n]+\n \[\]$/;

// Those who may not start mostly wait: side by side.
test.concurrent.for(DATABASES)(
  'a second server on the same %s database refuses to start, saying what to do, until the first has gone, however it went',
  async (name, { expect }) => {
    const database = await createDatabase(name);
    const first = await startServer({ alone: true, database });
    const second = startServer({ alone: true, database });
    await expect(second).rejects.toThrow(ONE_LINE);
    await expect(second).rejects.toThrow(/another Inlet is running on .*REDIS_URL/);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    await first.process.stop('SIGKILL');
    const third = await startServer({ database });
    await third.stop();
    await database.drop();
  },
);

test
  .skipIf(inject('redisUrl') === null)
  .concurrent('nodes with and without REDIS_URL do not share a database', async ({ expect }) => {
    const database = await createDatabase('postgres');
    const env = { REDIS_URL: inject('redisUrl')! };
    const alone = await startServer({ database });
    await expect(startServer({ alone: true, database, env })).rejects.toThrow(/without REDIS_URL/);
    await alone.stop();
    const nodes = await Promise.all([startServer({ alone: true, database, env }), startServer({ database, env })]);
    await expect(startServer({ alone: true, database })).rejects.toThrow(/need the same REDIS_URL/);
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  });

test.skipIf(process.platform !== 'linux')(
  'PostgreSQL looks after a moment whether the host with the lock is there',
  async () => {
    const database = await createDatabase('postgres');
    const guard = await PostgresGuard.open(database.url, true, () => {});
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const { rows } = await client.query("SELECT client_port, inet_server_port() AS port FROM pg_stat_activity WHERE application_name LIKE 'inlet guard %' AND datname = current_database()"); // oxfmt-ignore
      const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
      const ofServer = new RegExp(`:${hex(rows[0].port)} [0-9A-F]+:${hex(rows[0].client_port)} 01 \\S+ 02:([0-9A-F]+)`);
      // Of the server's end, once all that it said has been acknowledged: in hundredths of a second.
      const due = (): number => Number.parseInt(ofServer.exec(readFileSync('/proc/net/tcp', 'utf8'))?.[1] ?? '', 16);
      await expect.poll(due).toBeGreaterThan(0);
      expect(due()).toBeLessThanOrEqual(1_000);
    } finally {
      await client.end();
      await guard.stop();
      await database.drop();
    }
  },
);

test('nodes that all lost their connections keep their places', async () => {
  const database = await createDatabase('postgres');
  const open = (): Promise<PostgresGuard> => PostgresGuard.open(database.url, true, () => {});
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const guards: PostgresGuard[] = [];
  try {
    // Each looks every two seconds: the second one in the middle between two looks of the first.
    guards.push(await open());
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    guards.push(await open());
    const places = guards.map(({ place }) => place.at);
    await new Promise((resolve) => setTimeout(resolve, 1_400));
    await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'inlet guard %' AND datname = current_database()"); // oxfmt-ignore
    const held = `SELECT count(*)::int AS held FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database WHERE datname = current_database() AND classid = 738193004`;
    const isHeld = (count: number): Promise<void> =>
      expect.poll(async () => (await client.query(held)).rows).toEqual([{ held: count }]);
    await isHeld(0);
    await isHeld(2);
    expect(guards.map(({ place }) => place.at)).toEqual(places);
  } finally {
    for (const guard of guards) await guard.stop();
    await client.end();
    await database.drop();
  }
});

describe('the SQLite file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-file-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('removed, replaced or made a link to itself under the running server: nothing is acknowledged any more', async () => {
    const path = join(folder, 'inlet.db');
    const server = await startServer({ database: { url: `sqlite:${path}`, drop: async () => {} } });
    const { deviceIds } = await createProduct(server);
    const record = async (): Promise<number> =>
      (await server.record(deviceIds[0]!, { field: 'temperature', value: 1 })).status;
    expect(await record()).toBe(200);
    for (const how of ['removed', 'replaced', 'made a link to itself']) {
      renameSync(path, join(folder, 'aside.db'));
      if (how === 'replaced') writeFileSync(path, '');
      if (how === 'made a link to itself') symlinkSync(path, path);
      await expect.poll(record, { message: how }).toBe(503);
      expect([await record(), await record()], how).toEqual([503, 503]);
      expect((await fetch(`${server.url}/readyz`)).status, how).toBe(503);
      const { errors } = await server.query('mutation { createProduct(input: { name: "x" }) { id } }');
      expect(errors?.[0]?.extensions.code, how).toBe('UNAVAILABLE');
      renameSync(join(folder, 'aside.db'), path);
      await expect.poll(record, { message: how }).toBe(200);
    }
    await server.stop();
  });

  test('is for its owner only, and so are its folder and what lies beside it', async () => {
    const path = join(folder, 'data', 'inlet.db');
    const server = await startServer({ database: { url: `sqlite:${path}`, drop: async () => {} } });
    const modes = ['', '/inlet.db', '/inlet.db-wal', '/inlet.db.lock'].map(
      (name) => statSync(join(folder, `data${name}`)).mode & 0o777,
    );
    expect(modes.map((mode) => mode.toString(8))).toEqual(['700', '600', '600', '600']);
    // By another name it is the same database.
    symlinkSync(join(folder, 'data'), join(folder, 'alias'));
    await expect(ServerProcess.start({ DATABASE_URL: `sqlite:${folder}/alias/inlet.db` })).rejects.toThrow(
      /another Inlet/,
    );
    await server.stop();
  });

  test('that cannot be used stops the start with one line', async () => {
    const file = (name: string, content: Buffer | string): string => {
      writeFileSync(join(folder, name), content);
      return `sqlite:${join(folder, name)}`;
    };
    mkdirSync(join(folder, 'a-folder.db'));
    const server = await startServer({ database: { url: `sqlite:${folder}/good.db`, drop: async () => {} } });
    await server.stop();
    const head = spawnSync('head', ['-c', '6000', join(folder, 'good.db')]).stdout;
    const unusable = [
      file('garbage.db', 'this is no database, whatever its name says; it is a text of some length.'.repeat(20)),
      file('torn.db', head),
      `sqlite:${folder}/a-folder.db`,
      `sqlite:${folder}/garbage.db/inlet.db`,
      'sqlite:/proc/inlet/inlet.db',
    ];
    await Promise.all(
      unusable.map((url) => expect(ServerProcess.start({ DATABASE_URL: url }), url).rejects.toThrow(ONE_LINE)),
    );
  });
});
