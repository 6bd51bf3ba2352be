import Sqlite from 'better-sqlite3';
import { createClient } from 'graphql-ws';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

/** More than are looked at before a search for a newest value is one that went far back, and remembers it. */
const BUSY_READINGS = 2_000;
const START = 1_700_000_000;
const LIVE = `subscription ($after: String, $d: [ID!]) {
  measurementsRecorded(after: $after, deviceIds: $d) { cursor measurements { value } }
}`;
const COUNT = 10;
/** Recorded behind everything, to know when all of it is pushed. */
const END = -9;

let database: TestDatabase;
let server: TestServer;
let last: Live | undefined;
/** `stays` keeps a reading, and is heard before the one that goes. */
let [stays, goes] = ['', ''];
let product = '';

beforeEach(async () => {
  database = await createDatabase('sqlite');
  server = await startServer({ database });
  const made = await createProduct(server, {
    fields: { rare: 'FLOAT', busy: 'FLOAT' },
    serialNumbers: ['stays', 'goes'],
  });
  product = made.id;
  [stays, goes] = made.deviceIds as [string, string];
  await record(stays, 'rare', [1]);
  await record(
    stays,
    'busy',
    Array.from({ length: BUSY_READINGS }, (_, at) => at),
    100,
  );
});
afterEach(async () => {
  await last?.end();
  await server.stop();
  await database.drop();
});

async function record(device: string, field: string, values: number[], from = 0): Promise<void> {
  const entries = values.map((value, at) => ({ field, value, timestamp: START + from + at }));
  expect((await server.record(device, entries)).status).toBe(200);
}

/** Each of them a commit of its own. */
async function recordEach(device: string, values: number[]): Promise<void> {
  for (const [at, value] of values.entries()) await record(device, 'rare', [value], at);
}

const from = (first: number): number[] => Array.from({ length: COUNT }, (_, at) => first + at);

/** What a subscription pushed, and the code that it ended with. */
class Live {
  readonly values: number[] = [];
  cursor: string | undefined;
  code: string | undefined;
  readonly #client;

  constructor(deviceIds: string[], after?: string) {
    const url = `${server.url.replace(/^http/, 'ws')}/graphql`;
    const connectionParams = { token: server.adminToken };
    this.#client = createClient({ url, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0 });
    const fail = (errors: unknown): void => {
      this.code = (errors as { extensions?: { code: string } }[])[0]?.extensions?.code ?? 'none';
    };
    this.#client.subscribe(
      { query: LIVE, variables: { d: deviceIds, after } },
      {
        next: ({ data, errors }) => {
          if (errors) return fail(errors);
          const event = data!['measurementsRecorded'] as { cursor: string; measurements: { value: number }[] };
          this.cursor = event.cursor;
          this.values.push(...event.measurements.map(({ value }) => value));
        },
        error: fail,
        complete: () => {},
      },
    );
  }

  /** Once what is recorded is pushed. */
  static async begun(...deviceIds: string[]): Promise<Live> {
    await last?.end();
    last = new Live(deviceIds);
    const live = last;
    await expect
      .poll(async () => {
        await record(stays, 'busy', [-1], 50);
        return live.values.length;
      })
      .toBeGreaterThan(0);
    await record(stays, 'busy', [-2], 60);
    await expect.poll(() => live.values.at(-1)).toBe(-2);
    return live;
  }

  async end(): Promise<void> {
    await this.#client.dispose();
  }
}

/** `goes` is the last one heard; the cursor is that of its last event. */
async function recordAndFollow(): Promise<string> {
  const live = await Live.begun(stays, goes);
  await recordEach(goes, from(100));
  await expect.poll(() => live.values.at(-1)).toBe(100 + COUNT - 1);
  return live.cursor!;
}

const path = (): string => database.url.slice('sqlite:'.length);

/** With the server away. */
async function whileAway(work: () => unknown): Promise<void> {
  await last?.end();
  await server.process.stop();
  await work();
  server = await startServer({ database });
}

/** Everything that is there now goes into chunks. */
async function compactAll(): Promise<void> {
  const keys = sql('SELECT device_key FROM device_state') as number[];
  const store = await SqliteMeasurementStore.open({ path: path() });
  await store.compact(keys, Infinity);
  await store.stop();
}

/** What the first column says; of what writes, how many rows. */
function sql(text: string): unknown[] {
  const db = new Sqlite(path());
  try {
    const statement = db.prepare(text);
    return statement.reader ? statement.pluck().all() : [statement.run().changes];
  } finally {
    db.close();
  }
}

async function deleteDevice(): Promise<void> {
  await server.gql('mutation ($d: [ID!]!) { deleteDevices(ids: $d) }', { d: [goes] });
  await expect.poll(() => sql('SELECT count(*) FROM purge')).toEqual([0]);
}

async function latestRare(): Promise<number | undefined> {
  const { device } = await server.gql('query ($d: ID!) { device(id: $d) { latest { field { identifier } value } } }', {
    d: stays,
  });
  const latest = device.latest as { field: { identifier: string }; value: number }[];
  return latest.find(({ field }) => field.identifier === 'rare')?.value;
}

async function subscriptions(): Promise<number> {
  const headers = { Authorization: `Token ${server.adminToken}` };
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
  return Number(/^inlet_subscriptions (\d+)$/m.exec(text)?.[1]);
}

/** What is recorded from now on is pushed, each and once, and is the latest at once. */
async function expectAllIsSeen({ following }: { following: number }): Promise<void> {
  last = new Live([stays]);
  await expect.poll(subscriptions).toBe(following);
  // Asked for, and begun a moment later: what is recorded to find that out would have the numbers that are looked at.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await latestRare()).toBe(1);
  const read: (number | undefined)[] = [];
  for (const [at, value] of from(1_000).entries()) {
    await record(stays, 'rare', [value], at);
    read.push(await latestRare());
  }
  expect(read).toEqual(from(1_000));
  await expect.poll(() => last!.values).toEqual(from(1_000));
}

/** Everything recorded since is pushed, or the cursor has expired. */
async function resume(cursor: string): Promise<number[] | string> {
  await last?.end();
  last = new Live([stays], cursor);
  await expect.poll(() => last!.code ?? last!.values.length).not.toBe(0);
  if (last.code !== undefined) return last.code;
  await record(stays, 'rare', [END], COUNT);
  await expect.poll(() => last!.code ?? last!.values.at(-1)).toBe(END);
  return last.values.filter((value) => value !== END);
}

test.each(['in chunks', 'as readings'])(
  'numbers of flushes go on after the last device heard is deleted and the server starts again, values %s',
  async (how) => {
    const cursor = await recordAndFollow();
    if (how === 'in chunks') await whileAway(compactAll);
    await deleteDevice();
    await whileAway(() => {});
    const resumed = new Live([stays], cursor);
    await expectAllIsSeen({ following: 2 });
    expect(resumed).toMatchObject({ code: undefined, values: from(1_000) });
    await resumed.end();
    expect(await resume(cursor)).toEqual(from(1_000));
  },
);

test('numbers go on after the only product is deleted', async () => {
  const cursor = await recordAndFollow();
  await whileAway(compactAll);
  await server.gql('mutation ($p: ID!) { deleteProduct(id: $p) }', { p: product });
  await expect.poll(() => sql('SELECT count(*) FROM purge')).toEqual([0]);
  expect(sql('SELECT count(*) FROM device_state')).toEqual([0]);
  await whileAway(() => {});
  const { deviceIds } = await createProduct(server, { fields: { rare: 'FLOAT' }, serialNumbers: ['new'] });
  stays = deviceIds[0]!;
  await recordEach(stays, from(1));
  expect(await resume(cursor)).toEqual(from(1));
});

function undoMigration(): void {
  sql('ALTER TABLE live_horizon DROP COLUMN last_flush');
  sql("DELETE FROM migration WHERE name LIKE '0003%'");
}

/** As a version without `last_flush` left it: with numbers given a second time, from `first` on. */
function damage(first: number): void {
  sql(`UPDATE reading SET seq = seq - (SELECT min(seq) FROM reading) + ${first}`);
  sql('UPDATE device_state SET seq = (SELECT max(seq) FROM reading)');
  undoMigration();
}

test.each(['in chunks', 'as readings'])('a file whose numbers went back heals at the start, values %s', async (how) => {
  const cursor = await recordAndFollow();
  if (how === 'in chunks') await whileAway(compactAll);
  await deleteDevice();
  // These are to have the numbers that others had before.
  await record(stays, 'busy', [1, 2, 3], 5_000);
  await whileAway(() => damage(2));
  await expectAllIsSeen({ following: 1 });
  expect(await resume(cursor)).toBe('CURSOR_EXPIRED');
  // Cursors given since are good, also after one more start.
  const { cursor: since } = await Live.begun(stays);
  await whileAway(() => {});
  await recordEach(stays, from(2_000));
  expect(await resume(since!)).toEqual(from(2_000));
});

test('a file of which nothing was deleted keeps its cursors when it is brought to the newest migration', async () => {
  const cursor = await recordAndFollow();
  await whileAway(undoMigration);
  await recordEach(stays, from(1_000));
  expect(await resume(cursor)).toEqual(from(1_000));
});
