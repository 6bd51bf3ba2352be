import { expect, test } from 'vitest';
import { noDatabase } from '../errors.ts';
import { guarded } from './database-guard.ts';

test('what is refused is told to who waits for it, and ends nothing where nobody does', async () => {
  const refusal = noDatabase(new Error('it was moved away'));
  let asked = 0;
  const work = { do: async (): Promise<number> => (asked += 1) };
  const target = guarded(work, { refusal, stop: async () => {} });
  const unhandled: unknown[] = [];
  const note = (error: unknown): unknown => unhandled.push(error);
  process.on('unhandledRejection', note);
  void target.do();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
  await expect(target.do()).rejects.toBe(refusal);
  expect(asked).toBe(0);
});
