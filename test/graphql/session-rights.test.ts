import { expect, test } from 'vitest';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import { SessionRights } from '../../src/graphql/transport/session-rights.ts';
import type { SocketSession } from '../../src/graphql/transport/socket-session.ts';

test('thousands of tokens that change together are one pass through the sessions', async () => {
  const ended: string[] = [];
  const sessions = new Set(
    Array.from({ length: 5 }, (_, at) => ({
      access: { tokenId: `t${at}`, userId: at === 4 ? 'u' : null },
      beginsToEnd: () => {},
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
  await expect.poll(() => ended).toEqual(['t2', 't3', 't4']);
  expect(passes).toBe(1);
  expect(rights.revision).toBe(6_001);
});

test('of thousands of sockets the rights end at once, and the sockets some at a time', async () => {
  const counts = { ending: 0, endingAtFirst: 0, ended: 0 };
  const session = {
    access: { tokenId: 't', userId: null },
    beginsToEnd: () => (counts.ending += 1),
    end: () => {
      counts.endingAtFirst ||= counts.ending;
      counts.ended += 1;
    },
  };
  const sessions = new Set(Array.from({ length: 3_000 }, () => ({ ...session }) as unknown as SocketSession));
  const cluster = new LocalCluster();
  const authenticator = { accessesOf: async () => new Map() };
  const rights = new SessionRights({ sessions, authenticator, cluster, onError: () => {} });
  await cluster.changed([{ kind: 'token', id: 't' }]);
  let turns = 0;
  for (; counts.ended < 3_000; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(counts).toEqual({ ending: 3_000, endingAtFirst: 3_000, ended: 3_000 });
  expect(turns).toBeGreaterThan(10);
  expect(rights.revision).toBe(1);
});

test('what may have changed is asked for few tokens at a time where these are limited to thousands, once for all of their sockets', async () => {
  const ids = new Set(Array.from({ length: 2_000 }, (_, at) => String(at)));
  const compared: string[] = [];
  const accessOf = (tokenId: string, isLong: boolean) => ({
    tokenId,
    userId: null,
    ...(isLong
      ? { productIds: ids, deviceIds: null, workspaces: 1 }
      : { productIds: null, deviceIds: null, workspaces: 1 }),
    changedSince: () => {
      compared.push(tokenId);
      return null;
    },
  });
  const accesses = Array.from({ length: 200 }, (_, at) => accessOf(`t${at}`, at < 20));
  const sessions = new Set(
    [...accesses, ...accesses].map((access) => ({ access, ending: false }) as unknown as SocketSession),
  );
  const pages: string[][] = [];
  const authenticator = {
    accessesOf: async (tokenIds: readonly string[]) => {
      pages.push([...tokenIds]);
      return new Map();
    },
  };
  const cluster = new LocalCluster();
  const rights = new SessionRights({ sessions, authenticator, cluster, onError: () => {} });
  await cluster.changed([{ kind: 'everything' }]);
  await expect.poll(() => pages.flat().length).toBe(200);
  await expect.poll(() => compared).toEqual(accesses.map(({ tokenId }) => tokenId));
  expect(pages[0]!.length).toBeLessThan(12);
  expect(pages.length).toBeLessThan(5);
  expect(rights.revision).toBe(1);
});
