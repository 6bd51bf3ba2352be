import { expect, test } from 'vitest';
import { PagePlaces, ReadAhead } from '../../src/domain/read-ahead.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a tenant has so many pages in memory: the next one is read when one of them was sent, those of others at once', async () => {
  const places = new PagePlaces();
  const read: string[] = [];
  const open = async (tenant: string, at: number): Promise<ReadAhead<number>> => {
    const ahead = new ReadAhead<number>(() => places.enter(tenant));
    await ahead.fill(async () => {
      read.push(`${tenant} ${at}`);
      return [1, 2];
    });
    return ahead;
  };
  const many = Array.from({ length: 30 }, (_, at) => open('many', at));
  await settled();
  expect(read).toHaveLength(24);
  await open('single', 0);
  expect(read.at(-1)).toBe('single 0');
  const [first, second] = [await many[0]!, await many[1]!];
  expect(first.take(1)).toEqual([1]);
  first.release();
  await settled();
  // It is not sent to its end.
  expect(read).toHaveLength(25);
  expect(first.take(50)).toEqual([2]);
  await settled();
  expect(read).toHaveLength(25);
  first.release();
  second.end();
  await settled();
  expect(read.slice(25)).toEqual(['many 24', 'many 25']);
  // Who has gone while it waited takes no place.
  for (const one of await Promise.all(many.slice(2, 26))) one.end();
  const others = await Promise.all(many.slice(26));
  expect(read).toHaveLength(31);
  for (const one of others) one.end();
  await open('many', 99);
  expect(read.at(-1)).toBe('many 99');
});

test('a page that could not be read, or is empty, has no place, nor who ended meanwhile', async () => {
  const places = new PagePlaces();
  const ahead = new ReadAhead<number>(() => places.enter('tenant'));
  for (let time = 0; time < 30; time += 1) {
    await expect(ahead.fill(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    await ahead.fill(async () => []);
    expect(ahead.isEmpty).toBe(true);
    const ending = new ReadAhead<number>(() => places.enter('tenant'));
    await ending.fill(async () => {
      ending.end();
      return [1];
    });
    expect(ending.isEmpty).toBe(true);
    const ended = new ReadAhead<number>(() => places.enter('tenant'));
    ended.end();
    await ended.fill(async () => [1]);
    expect(ended.isEmpty).toBe(true);
  }
  await ahead.fill(async () => [1]);
  expect(ahead.take(50)).toEqual([1]);
});
