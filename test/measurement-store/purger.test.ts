import { expect, test } from 'vitest';
import { Purger, type PurgeRow } from '../../src/measurement-store/purger.ts';

test('what another node has written down before it ended is settled', async () => {
  const purges: PurgeRow[] = [];
  const done: string[] = [];
  const purger = new Purger(
    {
      list: async () => [...purges],
      settled: async () => {},
      handOver: async ({ fieldKey }) => done.push(`hand over ${fieldKey}`) > 0,
      forgetHeard: async () => {},
      position: async () => '0',
      forget: async ({ deviceKey }) => done.push(`forget ${deviceKey}`) > 0,
      end: async (id) => void purges.splice(purges.findIndex((purge) => purge.id === id), 1), // prettier-ignore
      log: undefined,
    },
    10,
  );
  // Nobody tells this node.
  purges.push({ id: 1, deviceKey: 7, fieldKey: 3, intoDeviceKey: 8 }, { id: 2, deviceKey: 9, fieldKey: null, intoDeviceKey: null }); // prettier-ignore
  await expect.poll(() => done).toEqual(['hand over 3', 'forget 7', 'forget 9']);
  await purger.stop();
  expect(purges).toEqual([]);
});
