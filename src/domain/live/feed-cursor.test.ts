import { expect, test } from 'vitest';
import { seal, unseal } from '../text/sealed-text.ts';
import { decodeCursor, encodeCursor } from './feed-cursor.ts';

test('a cursor of the busiest PostgreSQL is read again', () => {
  const inProgress = Array.from({ length: 200 }, (_, at) => String(10n ** 18n + BigInt(at)));
  const snapshot = [inProgress[0], String(2n * 10n ** 18n), inProgress.join(',')].join(':');
  const position = `${snapshot}@18446744073709551615.4294967295.4294967295.FFFFFFFF`;
  const place = { seq: '9999999999999999999', deviceKey: 2 ** 31 - 1, timestamp: Number.MAX_SAFE_INTEGER };
  const cursor = { after: position, between: { upTo: position, place } };
  const sealed = seal(encodeCursor(cursor));
  expect(decodeCursor(unseal(sealed) ?? '')).toEqual(cursor);
});
