import { expect, test } from 'vitest';
import type { Watched } from './status-rows.ts';
import { WatchedDevices } from './watched-devices.ts';

const device = (deviceKey: number, workspaceId: string): Watched =>
  ({ deviceKey, deviceId: `d${deviceKey}`, workspaceId }) as Watched;

test('a workspace has at most half of what the others leave free, so there is always room for a small one', async () => {
  const watched = new WatchedDevices(100);
  let key = 0;
  const add = (workspaceId: string, count: number): number => {
    let added = 0;
    while (added < count && watched.add(device((key += 1), workspaceId))) added += 1;
    return added;
  };
  expect([add('large', 100), add('other', 100), add('small', 5), add('large', 1)]).toEqual([50, 25, 5, 0]);
  // It tells nothing of how many there are of others.
  expect(watched.tooMany()).toMatchObject({ code: 'OVERLOADED', message: /^\D+$/ });
  await watched.forget(({ workspaceId, deviceKey }) => workspaceId === 'large' && deviceKey > 10);
  expect(watched.all()).toHaveLength(40);
  expect([add('other', 100), watched.get(1)?.workspaceId, watched.get(11)]).toEqual([18, 'large', undefined]);
  // Those of one workspace alone, and one by its id.
  await watched.forget(() => true, 'large');
  watched.forgetOne('d52');
  expect([watched.get(1), watched.get(52), watched.all().length]).toEqual([undefined, undefined, 47]);
});
