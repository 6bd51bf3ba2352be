import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { shareFairly } from '../../src/domain/history/share-fairly.ts';

test.each([
  [[], 10, []],
  [[5], 3, [3]],
  [[5, 5], 10, [5, 5]],
  // Who wants little has it; the others share the rest, whatever their order.
  [[100, 1, 100], 21, [10, 1, 10]],
  [[1, 100, 2], 10, [1, 7, 2]],
  [[9, 9, 9], 10, [3, 3, 4]],
  [[0, 4], 10, [0, 4]],
  [[4, 4], 0, [0, 0]],
])('of %j with %i there are %j', (wanted, whole, shares) => {
  expect(shareFairly(wanted, whole)).toEqual(shares);
});

test('nobody gets more than it wants, nobody less than who has not all, and nothing is left while somebody wants', () => {
  const random = seededRandom(7);
  for (let round = 0; round < 500; round += 1) {
    const wanted = Array.from({ length: 1 + Math.floor(random() * 8) }, () => Math.floor(random() * 50));
    const whole = Math.floor(random() * 200);
    const shares = shareFairly(wanted, whole);
    const sum = shares.reduce((a, b) => a + b, 0);
    const least = Math.min(...shares.filter((share, i) => share < wanted[i]!));
    expect(shares.every((share, i) => share <= wanted[i]!)).toBe(true);
    expect(Math.max(...shares)).toBeLessThanOrEqual(least + 1);
    expect(sum).toBe(
      Math.min(
        whole,
        wanted.reduce((a, b) => a + b, 0),
      ),
    );
  }
});
