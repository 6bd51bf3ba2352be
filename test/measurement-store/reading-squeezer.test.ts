import { expect, test } from 'vitest';
import type { PipelinedConnection } from '../../src/measurement-store/postgres/postgres-connection.ts';
import { PostgresFlushes } from '../../src/measurement-store/postgres/postgres-flushes.ts';
import { everything, openDatabase, receipt, type Row } from './open-store.ts';

/** Of 9,000 bytes each: of a flush 128 KB are squeezed before it is acknowledged. */
const AT_ONCE = 14;

/** Answers flushes as if they had written so many readings again; what squeezes more than a few waits until it is let go on. */
class FakeConnection {
  readonly looks: number[] = [];
  rewritten: [number, number, number][];
  #goOn!: () => void;
  readonly goingOn = new Promise<void>((resolve) => (this.#goOn = resolve));

  constructor(rewritten: [number, number, number][]) {
    this.rewritten = rewritten;
  }

  letGoOn(): void {
    this.#goOn();
  }

  async query({ name, values }: { name?: string; values: unknown[] }): Promise<unknown[]> {
    if (name === 'inlet-insert') throw Object.assign(new Error('a key exists'), { code: '23505' });
    if (name !== undefined) return this.rewritten;
    const at = values[1] as number;
    this.looks.push(at);
    if (at === 2) throw new Error('Away.');
    if (at >= AT_ONCE) await this.goingOn;
    return [];
  }
}

test('no flush waits until more than a few readings that were written again are squeezed, or fails when these cannot be; a thousand are remembered', async () => {
  const readings = Array.from({ length: 2_000 }, (_, at): [number, number, number] => [1, at, 9_000]);
  const connection = new FakeConnection(readings);
  const flushes = new PostgresFlushes(connection as unknown as PipelinedConnection);
  flushes.gather(receipt(1, [[1, 1, 1]]));
  await flushes.flush();
  expect(connection.looks.slice(0, AT_ONCE)).toEqual(readings.slice(0, AT_ONCE).map(([, at]) => at));
  flushes.gather(receipt(1, [[1, 1, 1]]));
  await flushes.flush();
  const before = connection.looks.length;
  connection.rewritten = [];
  connection.letGoOn();
  await expect.poll(() => connection.looks.length).toBeGreaterThanOrEqual(1_000);
  await flushes.stop();
  const most = 1_000 + 2 * AT_ONCE + 1;
  expect(before).toBeLessThanOrEqual(2 * AT_ONCE + 1);
  expect(connection.looks.length).toBeLessThanOrEqual(most);
});

test('readings of more than 64 KB are squeezed before their flush is acknowledged, however many there are', async () => {
  const connection = new FakeConnection(Array.from({ length: 100 }, (_, at) => [1, at + 100, 65_537]));
  const flushes = new PostgresFlushes(connection as unknown as PipelinedConnection);
  flushes.gather(receipt(1, [[1, 1, 1]]));
  connection.letGoOn();
  await flushes.flush();
  expect(connection.looks).toEqual(Array.from({ length: 100 }, (_, at) => at + 100));
  await flushes.stop();
});

test('a reading in PostgreSQL that is written again becomes as long as its values, a little later', async () => {
  const database = await openDatabase('postgres');
  const store = await database.openStore();
  const rows = Array.from({ length: 4 }, (_, at): Row => [at + 1, 1_000, `${at} `.padEnd(4_000, 'x')]);
  for (let time = 0; time < 3; time += 1) await store.append(receipt(1, rows));
  const length = async (): Promise<number> =>
    (await database.sql<{ bytes: number }>('SELECT octet_length(packed) AS bytes FROM reading'))[0]!.bytes;
  await expect.poll(length).toBeLessThan(16_100);
  for (const [field, , text] of rows) expect(await everything(store, 1, field)).toEqual([[1_000, text]]);
  await store.stop();
  await database.close();
});
