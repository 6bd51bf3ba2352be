import { expect, test } from 'vitest';
import { removal } from '../../src/measurement-store/chunks/edit.ts';
import { runEdit } from '../../src/measurement-store/run-edit.ts';

test('a device that is written to faster than its values can be removed is no internal error', async () => {
  let slices = 0;
  const always = async (): Promise<{ next: null; missed: number }> => {
    slices += 1;
    return { next: null, missed: 1 };
  };
  const removed = runEdit(always, 1, removal([1], 0, 10), () => false);
  await expect(removed).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(slices).toBeLessThan(200);
});
