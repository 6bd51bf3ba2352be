import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DIALECTS, everything, type OpenDatabase, openDatabase } from './open-store.ts';

/** More kills are tried in the nightly run. */
const ROUNDS = process.env['INLET_TESTS'] === 'nightly' ? 3 : 2;
const SCRIPT = new URL('./appending-process.ts', import.meta.url).pathname;

describe.each(DIALECTS)('after kill -9 of a process with a %s store', (dialect) => {
  let database: OpenDatabase;
  beforeEach(async () => {
    database = await openDatabase(dialect);
  });
  afterEach(() => database.close());

  test('every acknowledged value is there', async () => {
    for (let round = 1; round < ROUNDS; round++) {
      const acknowledged = await linesUntil(append(database, 1 + round * 1_000_000), 400 + round * 333);
      const store = await database.openStore();
      const found = new Map<number, unknown>();
      const texts = new Set<unknown>();
      for (let device = 1; device <= 10; device++) {
        for (const [time, value] of await everything(store, device, 1)) found.set(time, value);
        for (const [time] of await everything(store, device, 2)) texts.add(time);
      }
      expect(acknowledged.length).toBeGreaterThanOrEqual(400);
      expect(acknowledged.filter((n) => found.get(n) !== n || !texts.has(n))).toEqual([]);
      // Both batches of a receipt, or neither.
      expect([...found.keys()].filter((n) => !texts.has(n))).toEqual([]);
      await store.stop();
    }
  });

  test('compaction has lost and doubled nothing, again and again', async () => {
    let [chunks, before] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const acknowledged = await linesUntil(append(database, 1 + round * 1_000_000, 'compact'), 500 + round * 333);
      const store = await database.openStore();
      const found = new Map<number, unknown>();
      let texts = 0;
      for (let device = 1; device <= 10; device++) {
        for (const [time, value] of await everything(store, device, 1)) found.set(time, value);
        texts += (await everything(store, device, 2)).length;
      }
      expect(acknowledged.filter((n) => found.get(n) !== n)).toEqual([]);
      expect(texts).toBe(found.size);
      const sql = 'SELECT CAST(coalesce(sum(count), 0) AS int) AS n FROM chunk';
      const [row] = await database.sql<{ n: number }>(sql);
      [before, chunks] = [chunks, Number(row!.n)];
      expect(chunks).toBeGreaterThan(before);
      await store.compact([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], Infinity);
      expect(await database.sql('SELECT ts FROM reading')).toEqual([]);
      const [all] = await database.sql<{ n: number }>(sql);
      expect(Number(all!.n)).toBe(found.size * 2);
      await store.stop();
    }
  });

  test('nothing is back that was removed', async () => {
    const removed = await linesUntil(append(database, 1, 'remove'), 100);
    const store = await database.openStore();
    const found = new Set<number>();
    const texts = new Set<number>();
    for (let device = 1; device <= 10; device++) {
      for (const [time] of await everything(store, device, 1)) found.add(time);
      for (const [time] of await everything(store, device, 2)) texts.add(time);
    }
    expect(removed.filter((n) => found.has(n))).toEqual([]);
    expect(removed.filter((n) => !texts.has(n))).toEqual([]);
    await store.stop();
  });
});

describe('a full disk', () => {
  test('refuses what cannot be stored, and stores again when there is room', async () => {
    const database = await openDatabase('sqlite');
    // A limit for the size of files stands in for the disk: SQLite gets an error from write() either way.
    const command = `trap '' XFSZ; ulimit -S -f 2000; exec "${process.execPath}" "${SCRIPT}" "${database.place}" 1`;
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    const acknowledged: number[] = [];
    let refused = 0;
    let afterwards = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('!')) {
        expect(line).toBe('! UNAVAILABLE');
        if (++refused === 30) execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
      } else {
        acknowledged.push(Number(line));
        if (refused >= 30 && ++afterwards === 500) child.kill('SIGKILL');
      }
    }
    expect(afterwards).toBeGreaterThanOrEqual(500);
    const store = await database.openStore();
    const found = new Set<number>();
    for (let device = 1; device <= 10; device++)
      for (const [time] of await everything(store, device, 1)) found.add(time);
    expect(acknowledged.filter((n) => !found.has(n))).toEqual([]);
    await store.stop();
    await database.close();
  });
});

function append(database: OpenDatabase, first: number, ...mode: string[]): ChildProcess {
  return spawn(process.execPath, [SCRIPT, database.place, String(first), ...mode]);
}

/** Kills the process when it has printed that many lines; returns all numbers it printed before it died. */
async function linesUntil(child: ChildProcess, count: number): Promise<number[]> {
  const lines: number[] = [];
  let errors = '';
  child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(Number(line));
    if (lines.length === count) child.kill('SIGKILL');
  }
  await ended;
  if (lines.length < count) throw new Error(`it ended too early: ${errors}`);
  return lines;
}
