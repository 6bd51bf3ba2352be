import { expect, test } from 'vitest';
import { AdmissionLimit } from '../../src/sandbox/admission-limit.ts';
import { Penalties } from '../../src/sandbox/penalties.ts';
import type { Admitted, PoolProduct } from '../../src/sandbox/pool-job.ts';

/** So many of a product's jobs find room, one product after the other. */
function fill(room: AdmissionLimit, products: PoolProduct[], inputBytes: number): Admitted[] {
  const admitted: Admitted[] = [];
  for (let refused = 0; refused < products.length;) {
    refused = 0;
    for (const product of products) {
      try {
        admitted.push(room.enter(product, inputBytes));
      } catch (error) {
        expect(error).toMatchObject({ code: 'OVERLOADED' });
        refused += 1;
      }
    }
  }
  return admitted;
}

const MOST = { jobs: 2_000, bytes: 192 << 20 };

test('a product has a third of the room, a workspace with many half of it, and others find room beside them', () => {
  const penalties = new Penalties();
  const products = Array.from({ length: 50 }, (_, at) => penalties.of(`${at}`, 'greedy'));
  const room = new AdmissionLimit(MOST);
  const first = fill(room, products.slice(0, 1), 10);
  expect(first).toHaveLength(667);
  const all = [...first, ...fill(room, products, 10)];
  expect(all.length).toBeGreaterThan(950);
  expect(all.length).toBeLessThanOrEqual(1_000);
  expect(fill(room, [penalties.of('own', 'other')], 10).length).toBeGreaterThan(300);
  expect(fill(room, [penalties.of('its', 'third')], 10).length).toBeGreaterThan(150);
  for (const one of all) room.leave(one);
  expect(fill(room, [penalties.of('again', 'greedy')], 10).length).toBeGreaterThan(400);
});

test('what jobs hold is bounded in the same way, and what is looked up for them counts', () => {
  const penalties = new Penalties();
  const [greedy, modest] = [penalties.of('greedy', 'greedy'), penalties.of('modest', 'modest')];
  const room = new AdmissionLimit(MOST);
  const all = fill(room, [greedy], 1 << 20);
  expect(all).toHaveLength(32);
  expect(() => room.grow(all[0]!, 1)).toThrow('Too many calls are waiting');
  const own = room.enter(modest, 1 << 20);
  room.grow(own, 64 << 20);
  expect(() => room.grow(own, 1)).toThrow('Too many calls are waiting');
  for (const one of [...all, own]) room.leave(one);
  expect(fill(room, [greedy], 1 << 20)).toHaveLength(32);
});
