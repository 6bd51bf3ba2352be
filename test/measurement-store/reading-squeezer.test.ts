import { expect, test } from 'vitest';
import type { PipelinedConnection } from '../../src/measurement-store/postgres/postgres-connection.ts';
import { PostgresFlushes } from '../../src/measurement-store/postgres/postgres-flushes.ts';
import { everything, openDatabase, receipt, type Row } from './open-store.ts';

/** Answers flushes as if they had written so many readings again; what squeezes them waits until it is let go on. */
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
    this.looks.push(values[1] as number);
    await this.goingOn;
    return [];
  }
}

test('no flush waits until readings that were written again are squeezed, of which a thousand are remembered', async () => {
  const readings = Array.from({ length: 2_000 }, (_, at): [number, number, number] => [1, at, 9_000]);
  const connection = new FakeConnection(readings);
  const flushes = new PostgresFlushes(connection as unknown as PipelinedConnection);
  for (let time = 0; time < 2; time += 1) {
    flushes.gather(receipt(1, [[1, 1, 1]]));
    await flushes.flush();
  }
  expect(connection.looks).toEqual([0]);
  connection.rewritten = [];
  connection.letGoOn();
  await expect.poll(() => connection.looks.length, { timeout: 10_000 }).toBe(1_001);
  await flushes.stop();
  expect(connection.looks.length).toBe(1_001);
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
