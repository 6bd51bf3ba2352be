import { expect, test } from 'vitest';
import { PasswordThrottle } from './password-throttle.ts';

const MINUTE = 60_000;

/** The number of these attempts that may begin, and the error code of the others. */
function tries(throttle: PasswordThrottle, count: number, attempt: (at: number) => [string, string]): unknown[] {
  let begun = 0;
  for (let at = 0; at < count; at += 1)
    try {
      throttle.begin(...attempt(at));
      begun += 1;
    } catch (error) {
      return [begun, (error as { code: string }).code];
    }
  return [begun];
}

test('ten from one place, a hundred from all, in five minutes; who is refused counts for nobody else', () => {
  let now = 0;
  const throttle = new PasswordThrottle(() => now);
  expect(tries(throttle, 500, () => ['ada', 'here'])).toEqual([10, 'RATE_LIMITED']);
  expect(tries(throttle, 90, (at) => ['ada', `place ${at % 50}`])).toEqual([90]);
  expect(tries(throttle, 1, () => ['ada', 'a new place'])).toEqual([0, 'RATE_LIMITED']);
  expect(tries(throttle, 1, () => ['eve', 'here'])).toEqual([1]);
  now = 4 * MINUTE;
  expect(tries(throttle, 1, () => ['ada', 'here'])).toEqual([0, 'RATE_LIMITED']);
  now = 5 * MINUTE;
  expect(tries(throttle, 11, () => ['ada', 'here'])).toEqual([10, 'RATE_LIMITED']);
});

test('who knows the password has none left, other places keep theirs', () => {
  const throttle = new PasswordThrottle(() => 0);
  expect(tries(throttle, 11, () => ['ada', 'elsewhere'])).toEqual([10, 'RATE_LIMITED']);
  expect(tries(throttle, 10, () => ['ada', 'here'])).toEqual([10]);
  throttle.succeeded('ada', 'here');
  expect(tries(throttle, 11, () => ['ada', 'here'])).toEqual([10, 'RATE_LIMITED']);
  expect(tries(throttle, 1, () => ['ada', 'elsewhere'])).toEqual([0, 'RATE_LIMITED']);
});

test.each<[string, (at: number) => [string, string]]>([
  ['accounts', (at) => [`account ${at}`, 'here']],
  ['places', (at) => [`account ${at % 200}`, `place ${at}`]],
])('keeps ten thousand %s at most, and nobody is forgotten for those that are new', (_, attempt) => {
  let now = 0;
  const throttle = new PasswordThrottle(() => now);
  expect(tries(throttle, 10, () => ['ada', 'here'])).toEqual([10]);
  now = MINUTE;
  expect(tries(throttle, 20_000, attempt)).toEqual([9_999, 'OVERLOADED']);
  expect(tries(throttle, 1, () => ['ada', 'here'])).toEqual([0, 'RATE_LIMITED']);
  now = 5 * MINUTE;
  expect(tries(throttle, 1, () => ['ada', 'here'])).toEqual([1]);
  now = 6 * MINUTE;
  expect(tries(throttle, 100, attempt)).toEqual([100]);
});
