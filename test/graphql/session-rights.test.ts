import { expect, test } from 'vitest';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import { SessionRights } from '../../src/graphql/transport/session-rights.ts';
import type { SocketSession } from '../../src/graphql/transport/socket-session.ts';

test('thousands of tokens that change together are one pass through the sessions', async () => {
  const ended: string[] = [];
  const sessions = new Set(
    Array.from({ length: 5 }, (_, at) => ({
      access: { tokenId: `t${at}`, userId: at === 4 ? 'u' : null },
      end: () => ended.push(`t${at}`),
    })),
  );
  let passes = 0;
  const counted = {
    [Symbol.iterator]: () => {
      passes += 1;
      return sessions[Symbol.iterator]();
    },
  } as unknown as ReadonlySet<SocketSession>;
  const cluster = new LocalCluster();
  const authenticator = { accessesOf: async () => new Map() };
  const rights = new SessionRights({ sessions: counted, authenticator, cluster, onError: () => {} });
  const tokens = Array.from({ length: 6_000 }, (_, at) => ({ kind: 'token' as const, id: `t${at + 2}` }));
  await cluster.changed([...tokens, { kind: 'user', id: 'u' }, { kind: 'workspace', id: 't0' }]);
  expect(ended).toEqual(['t2', 't3', 't4']);
  expect(passes).toBe(1);
  expect(rights.revision).toBe(6_001);
});
