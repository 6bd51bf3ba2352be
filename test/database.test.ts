import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/sql';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { openPostgresOrm, openSqliteOrm } from '../src/database/open-orm.ts';
import { databaseAway } from '../src/errors.ts';
import { createDatabase, DATABASES } from './support/server.ts';

describe.each(DATABASES)('migrations on %s', (name) => {
  test('bring an empty database to exactly what the entities say, and run once', async () => {
    const database = await createDatabase(name, { migrated: false });
    const open = (): Promise<MikroORM> =>
      name === 'postgres' ? openPostgresOrm(database.url) : openSqliteOrm(database.url.slice('sqlite:'.length));
    // Two nodes that start together on PostgreSQL must not migrate twice.
    const orms = name === 'postgres' ? await Promise.all([open(), open(), open()]) : [await open()];
    try {
      const difference = await orms[0]!.schema.getUpdateSchemaSQL({ wrap: false });
      expect(difference.trim()).toBe('');
      expect(await orms[0]!.migrator.getPending()).toEqual([]);
    } finally {
      await Promise.all(orms.map((orm) => orm.close()));
      await database.drop();
    }
  });
});

test('administration commits durably too, and waits for others, whatever the defaults of the database are', async () => {
  const database = await createDatabase('postgres');
  const name = new URL(database.url).pathname.slice(1);
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  await admin.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
  await admin.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
  await admin.end();
  const orm = await openPostgresOrm(database.url);
  const settings = "SELECT current_setting('synchronous_commit') AS c, current_setting('transaction_isolation') AS i";
  expect(await orm.em.fork().transactional((em) => em.execute(settings))).toEqual([{ c: 'on', i: 'read committed' }]);
  await orm.close();
  await database.drop();
});

test('a new database that lacks most characters is refused at the start', async () => {
  const database = await createDatabase('postgres');
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  await database.drop();
  await admin.query(
    `CREATE DATABASE ${new URL(database.url).pathname.slice(1)} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`,
  );
  await admin.end();
  await expect(openPostgresOrm(database.url)).rejects.toThrow('its encoding is LATIN1');
  await database.drop();
});

/**
 * The database behind the file of a socket, which goes with it; a statement `lost` never comes as it was sent. It speaks
 * German.
 */
async function behindSocket(database: string, lost: string): Promise<{ url: string; end: () => void }> {
  const { hostname, port, username, pathname } = new URL(database);
  const folder = mkdtempSync(join(tmpdir(), 'inlet-socket-'));
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.on('data', (chunk) => far.write(chunk.toString('latin1').replace(lost, 'x'.repeat(lost.length)), 'latin1'));
    far.on('data', (chunk) => near.write(chunk.toString('latin1').replace('SERROR\0', 'SFEHLE\0'), 'latin1'));
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => near.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.5432'), resolve));
  return {
    url: `postgres://${username}@localhost${pathname}?host=${encodeURIComponent(folder)}`,
    end: () => {
      server.close();
      for (const socket of open) socket.destroy();
      rmSync(folder, { recursive: true });
    },
  };
}

test('what the server says of a statement, in whatever language, is no reason to throw a connection away', async () => {
  const database = await createDatabase('postgres');
  const { url, end } = await behindSocket(database.url, 'nothing');
  const orm = await openPostgresOrm(url);
  const backend = (): Promise<unknown> => orm.em.fork().execute('select pg_backend_pid() as backend');
  const before = await backend();
  await expect(orm.em.fork().transactional((em) => em.execute('select 1 / 0'))).rejects.toThrow('division by zero');
  expect(await backend()).toEqual(before);
  await orm.close();
  end();
  await database.drop();
});

test('a connection whose rollback fails is given to nobody; a socket whose file is gone is a database that is away', async () => {
  const database = await createDatabase('postgres');
  const { url, end } = await behindSocket(database.url, 'rollback');
  const orm = await openPostgresOrm(url);
  const ask = (): Promise<unknown> => orm.em.fork().execute('select 1 as one');
  try {
    await expect(orm.em.fork().transactional((em) => em.execute('select 1 / 0'))).rejects.toThrow('division by zero');
    expect(await ask()).toEqual([{ one: 1 }]);
    end();
    const failures = [1, 2].map(() => ask().catch((thrown: unknown) => thrown));
    // The first one has the connection that there was.
    for (const failure of failures) expect(databaseAway(await failure)).toMatchObject({ code: 'UNAVAILABLE' });
  } finally {
    await orm.close();
    await database.drop();
  }
});
