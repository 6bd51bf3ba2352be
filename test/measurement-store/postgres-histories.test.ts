import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { openPostgresOrm } from '../../src/database/open-orm.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { createPostgresDatabase, startPostgres } from '../support/postgres.ts';
import { everything, receipt, type Store } from './open-store.ts';

/** What was recorded since the position, or that it is not known. */
async function valuesSince(from: Pick<Store, 'recorded'>, after: string): Promise<unknown> {
  const page = await from.recorded({ after, upTo: null, place: null, deviceKeys: null, limit: 10 });
  return page.expired ? 'expired' : page.readings.flatMap(({ values }) => values);
}

test('a place in the order of commits is one of its database alone: what a copy has by the same numbers is not passed over', async () => {
  const original = await createPostgresDatabase(inject('postgresUrl'), inject('migratedTemplate'));
  const before = await PostgresMeasurementStore.open({ url: original.url });
  await before.append(receipt(1, [[1, 1, 1]]));
  const after = await before.position();
  await before.append(receipt(1, [[1, 2, 2]]));
  expect(await valuesSince(before, after)).toEqual([2]);
  // As a version gave it that named no history.
  expect(await valuesSince(before, after.split('@')[0]!)).toEqual([2]);
  await before.stop();
  const copy = await createPostgresDatabase(inject('postgresUrl'), new URL(original.url).pathname.slice(1));
  const copied = await PostgresMeasurementStore.open({ url: copy.url });
  expect(await valuesSince(copied, after)).toBe('expired');
  expect(await valuesSince(copied, after.split('@')[0]!)).toBe('expired');
  expect(await copied.position()).not.toContain(after.split('@')[1]!);
  await copied.stop();
  await copy.drop();
  await original.drop();
});

test('after a return to a point in time a position from behind it has expired, also when transactions have caught up', async () => {
  const server = await startPostgres({ durable: false });
  const open = (): Promise<PostgresMeasurementStore> => PostgresMeasurementStore.open({ url: server.url });
  const restarting = async (how: () => Promise<void>): Promise<PostgresMeasurementStore> => {
    await own.stop();
    await how();
    return open();
  };
  await (await openPostgresOrm(server.url)).close();
  let own = await open();
  await own.append(receipt(1, [[1, 1, 'before']]));
  const atBackup = await own.position();
  own = await restarting(server.backUp);
  for (let at = 2; at < 20; at += 1) await own.append(receipt(1, [[1, at, 'lost']]));
  expect(await valuesSince(own, atBackup)).toHaveLength(10);
  const after = await own.position();
  own = await restarting(server.goBack);
  await own.append(receipt(1, [[1, 100, 'since']]));
  // More transactions than there had been by then.
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('DO $$ BEGIN FOR i IN 1..5000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$');
  await client.end();
  expect(await valuesSince(own, after)).toBe('expired');
  expect(await valuesSince(own, after.split('@')[0]!)).toBe('expired');
  expect(await everything(own, 1, 1)).toEqual([[1, 'before'], [100, 'since']]); // oxfmt-ignore
  await own.stop();
  await server.stop();
});

test('a database that only reads, and does not know yet in which history positions named none, is opened all the same', async () => {
  const database = await createPostgresDatabase(inject('postgresUrl'), inject('migratedTemplate'));
  const onlyReads = new URL(database.url);
  onlyReads.searchParams.set('options', '-c default_transaction_read_only=on');
  const reader = await PostgresMeasurementStore.open({ url: onlyReads.href });
  const [snapshot] = (await reader.position()).split('@') as [string];
  expect(await valuesSince(reader, snapshot)).toBe('expired');
  await reader.stop();
  const store = await PostgresMeasurementStore.open({ url: database.url });
  await store.append(receipt(1, [[1, 1, 1]]));
  expect(await valuesSince(store, snapshot)).toEqual([1]);
  await store.stop();
  await database.drop();
});

test('where the server may not be asked for its name, a position is at least one of its database', async () => {
  const database = await createPostgresDatabase(inject('postgresUrl'), inject('migratedTemplate'));
  const role = `plain_${new URL(database.url).pathname.slice(1)}`;
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  for (const text of [
    `CREATE ROLE ${role} LOGIN`,
    `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`,
    'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC',
  ])
    await client.query(text);
  const url = new URL(database.url);
  url.username = role;
  const store = await PostgresMeasurementStore.open({ url: url.href });
  const after = await store.position();
  expect(after).toMatch(/@\.\d+\.\d+$/);
  await store.append(receipt(1, [[1, 1, 1]]));
  expect(await valuesSince(store, after)).toEqual([1]);
  await store.stop();
  await client.end();
  await database.drop();
  const server = new pg.Client({ connectionString: inject('postgresUrl') });
  await server.connect();
  await server.query(`DROP ROLE ${role}`);
  await server.end();
});
