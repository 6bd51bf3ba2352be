import { expect, test } from 'vitest';
import { MemoryPool, type PoolItem } from './memory-pool.ts';
import { poolCountsOf } from './pool-counts.ts';
import { type PoolLimits, POOLS } from './pools.ts';

const MB = 1_048_576;

const poolOf = (limits: Partial<PoolLimits>): MemoryPool => new MemoryPool({ name: 'test', ...limits });
const enter = (pool: MemoryPool, tenant: string, megabytes: number, tokenId = tenant): PoolItem =>
  pool.enter({ tenant, tokenId }, megabytes * MB);

/** Enters items of a megabyte until one is refused. */
function fill(pool: MemoryPool, tenant: string, tokenId = tenant): PoolItem[] {
  const items: PoolItem[] = [];
  for (;;)
    try {
      items.push(enter(pool, tenant, 1, tokenId));
    } catch (error) {
      expect(error).toMatchObject({ code: 'OVERLOADED' });
      return items;
    }
}

test('a tenant alone fills three quarters, a second one those of what is left, and so on; closed, they are free again', () => {
  const pool = new MemoryPool(POOLS.bodies);
  const first = fill(pool, 'first');
  expect(first).toHaveLength(96);
  expect(fill(pool, 'second')).toHaveLength(24);
  expect(fill(pool, 'third')).toHaveLength(6);
  for (const item of first) pool.close(item);
  expect(fill(pool, 'fourth')).toHaveLength(73);
});

test('a token fills half, and its tenant three quarters with others', () => {
  const pool = new MemoryPool(POOLS.requests);
  expect(fill(pool, 'tenant', 'one')).toHaveLength(64);
  expect(fill(pool, 'tenant', 'two')).toHaveLength(32);
  expect(fill(pool, 'tenant', 'three')).toHaveLength(0);
  // Of what is left half of it, and of each further tenant the first.
  expect(fill(pool, 'other', 'four')).toHaveLength(16);
  expect(pool.bytes).toBe(112 * MB);
});

test('the first item of a tenant fits up to a bound of its own, also while it grows; a second one beside it does not', () => {
  const pool = new MemoryPool(POOLS.requests);
  const large = enter(pool, 'one', 128);
  const second = enter(pool, 'two', 100);
  expect(() => enter(pool, 'three', 100)).toThrow(POOLS.requests.refusal);
  expect(pool.fits(second, 28 * MB)).toBe(true);
  expect(pool.fits(second, 29 * MB)).toBe(false);
  expect(() => enter(pool, 'two', 1)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }) as Error);
  enter(pool, 'three', 28);
  expect(() => enter(pool, 'four', 1)).toThrow();
  // Of what was refused nothing is left.
  expect(pool.bytes).toBe(256 * MB);
  pool.close(large);
  enter(pool, 'one', 128);
});

test('one item may be as large as all', () => {
  const pool = new MemoryPool(POOLS.bodies);
  enter(pool, 'first', 128);
  expect(fill(pool, 'second')).toHaveLength(0);
  expect(() => enter(new MemoryPool(POOLS.bodies), 'first', 129)).toThrow(POOLS.bodies.refusal);
});

test('without a bound for firsts the first of a tenant has its share, too', () => {
  const pool = poolOf({ maxBytes: 8 * MB, timesFree: 3 });
  expect(() => enter(pool, 'one', 7)).toThrow();
  expect(fill(pool, 'one')).toHaveLength(6);
  expect(fill(pool, 'two')).toHaveLength(1);
  expect(fill(pool, 'three')).toHaveLength(0);
});

test('what items share counts once for all, for a tenant and for a token, until the last of them is closed', () => {
  const pool = poolOf({ maxBytes: 100 * MB, timesFree: 3, timesFreePerToken: 1 });
  const shared = { bytes: 20 * MB };
  const enterShared = (tenant: string, tokenId: string, megabytes: number): PoolItem =>
    pool.enter({ tenant, tokenId }, megabytes * MB, shared);
  const items = [enterShared('one', 'a', 1), enterShared('one', 'a', 1), enterShared('one', 'b', 1)];
  expect(pool.bytes).toBe(23 * MB);
  expect(items[0]!.tenant.bytes).toBe(23 * MB);
  expect(items.map(({ token }) => token!.bytes / MB)).toEqual([22, 22, 21]);
  const other = enterShared('two', 'c', 2);
  expect(other.tenant.bytes).toBe(22 * MB);
  expect(pool.bytes).toBe(25 * MB);
  // Of token a 22 are held: 26 more are within half of what is free then, with the shared part counted once.
  expect(pool.excess(items[0]!, 26 * MB)).toBeNull();
  expect(pool.excess(items[0]!, 27 * MB)).toBe('token');
  for (const item of items) pool.close(item);
  expect(pool.bytes).toBe(22 * MB);
  pool.close(other);
  expect(pool.bytes).toBe(0);
  expect(enterShared('one', 'a', 0).tenant.bytes).toBe(20 * MB);
});

test('of fixed bounds it is told which one would be passed', () => {
  const pool = poolOf({ maxBytesPerToken: 10 * MB, maxBytesPerTenant: 15 * MB });
  const items = [enter(pool, 'tenant', 8, 'a'), enter(pool, 'tenant', 6, 'b')];
  expect(items.map((item) => pool.excess(item, MB))).toEqual([null, null]);
  expect(items.map((item) => pool.excess(item, 3 * MB))).toEqual(['token', 'tenant']);
  enter(pool, 'other', 10, 'c');
});

test('the oldest item of the tenant that holds most gives way, as far as there is one that may', () => {
  const pool = poolOf({ maxBytes: 100 * MB, timesFree: 3, maxBytesWithFirsts: 100 * MB });
  const gone: string[] = [];
  const open = (tenant: string, name: string, megabytes: number, isEvictable: boolean): PoolItem => {
    const item = pool.open({ tenant, tokenId: '' });
    if (isEvictable) pool.mayGiveWay(item, () => gone.push(name));
    pool.grow(item, megabytes * MB);
    return item;
  };
  open('much', 'fixed', 30, false);
  const kept = open('much', 'kept', 10, true);
  open('much', 'second', 10, true);
  open('much', 'third', 10, true);
  open('little', 'little', 5, true);
  open('some', 'some', 20, true);
  pool.mayGiveWay(kept, null);
  const mine = open('mine', 'mine', 20, false);
  expect(pool.fits(mine)).toBe(false);
  expect(pool.evictLargest(mine)).toBe(true);
  expect(gone).toEqual(['second']);
  expect(pool.fits(mine)).toBe(true);
  expect([pool.evictLargest(mine), pool.evictLargest(mine)]).toEqual([true, true]);
  expect(gone).toEqual(['second', 'third', 'some']);
  // Only one that holds less than its own tenant is left.
  expect(pool.evictLargest(mine)).toBe(false);
  expect(pool.bytes).toBe(65 * MB);
});

test('all pools of a name count together what they hold, refuse and let go', () => {
  const name = 'counted';
  const [one, two] = [poolOf({ name, maxBytes: 8 * MB, timesFree: 3 }), poolOf({ name })];
  const items = fill(one, 'a');
  const shared = { bytes: 5 };
  const [large, small] = ['a', 'b'].map((tenant) => two.enter({ tenant, tokenId: '' }, 10, shared));
  expect(poolCountsOf(name)).toEqual({ bytes: 6 * MB + 25, refused: 1, evicted: 0 });
  two.mayGiveWay(large!, () => {});
  two.grow(large!, 90);
  expect(two.evictLargest(small!)).toBe(true);
  two.close(small!);
  for (const item of items) one.close(item);
  expect(poolCountsOf(name)).toEqual({ bytes: 0, refused: 1, evicted: 1 });
});
