import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { RedisCluster } from '../../src/cluster/redis-cluster.ts';
import { RedisWriteLimiter } from '../../src/cluster/redis-write-limiter.ts';
import type { Change } from '../../src/domain/ports/cluster.ts';

const redisUrl = inject('redisUrl');

describe.skipIf(redisUrl === null)('two nodes around one Redis', () => {
  const prefix = `test:${randomUUID()}`;
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const connect = (): Promise<RedisCluster> => RedisCluster.connect({ url: redisUrl!, prefix, database: null, log });
  let a: RedisCluster;
  let b: RedisCluster;
  beforeAll(async () => {
    a = await connect();
    b = await connect();
  });
  beforeEach(() => {
    lines.length = 0;
  });
  afterAll(() => Promise.all([a?.stop(), b?.stop()]));

  test('a change of whatever kind has been heard by the other when the word is given, and nobody had to wait in vain', async () => {
    const heard: Change[] = [];
    b.onChanged((changes) => heard.push(...changes));
    const changes: Change[] = [
      { kind: 'token', id: 't' },
      { kind: 'user', id: 'u' },
      { kind: 'workspace', id: 'w' },
      { kind: 'product', id: 'p' },
      { kind: 'devices', productId: 'p', ids: ['d'] },
    ];
    await a.changed(changes);
    expect(heard).toEqual(changes);
    // An acknowledgement that does not come is waited for, and complained about.
    expect(lines).toEqual([]);
  });

  test('what is no message of ours is told in the log once, and nothing else comes of it', async () => {
    const heard: Change[] = [];
    b.onChanged((changes) => heard.push(...changes));
    const junk = ['', 'x', 'null', '[]', '{"id":"x","from":"y"}', '{"id":1,"from":"y","changes":[]}'];
    const changes = [
      'null',
      '{"kind":"token"}',
      '{"kind":"devices","productId":"p","ids":{"length":9}}',
      '{"kind":"x"}',
    ];
    junk.push(...changes.map((change) => `{"id":"x","from":"y","changes":[${change}]}`));
    for (const text of junk) await a.commands.run((client) => client.publish(`${prefix}:changed`, text));
    await a.changed([{ kind: 'token', id: 't' }]);
    expect(heard).toEqual([{ kind: 'token', id: 't' }]);
    expect(b.connected).toBe(true);
    // Both nodes say so.
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(Array(2).fill('a message from Redis is none of ours'));
  });

  test('a list that is too long is heard as everything, and one of somebody else is not even read', async () => {
    const [heard, called]: [Change[], string[]] = [[], []];
    b.onChanged((changes) => heard.push(...changes));
    b.onMessage('called', (message) => called.push(message));
    const list: Change = { kind: 'devices', productId: 'p', ids: Array.from({ length: 30_000 }, () => randomUUID()) };
    await a.changed([list]);
    expect(heard).toEqual([{ kind: 'everything' }]);
    expect(lines).toEqual([]);
    let missed = 0;
    b.onMissed(() => (missed += 1));
    const text = JSON.stringify({ id: 'x', from: 'y', changes: [list] });
    for (const channel of ['changed', 'called', 'recorded'])
      await a.commands.run((client) => client.publish(`${prefix}:${channel}`, text));
    await expect.poll(() => missed).toBe(3);
    expect(heard.map(({ kind }) => kind)).toEqual(Array(4).fill('everything'));
    expect(called).toEqual([]);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(Array(2).fill('a message from Redis is too long'));
  });

  test('that something was recorded is told to the other node, and not to oneself', async () => {
    const heard: string[] = [];
    a.onMessage('recorded', () => heard.push('a'));
    b.onMessage('recorded', () => heard.push('b'));
    a.publish('recorded', '');
    await expect.poll(() => heard).toEqual(['b']);
    b.publish('recorded', '');
    await expect.poll(() => heard).toEqual(['b', 'a']);
  });

  test('the write limit spans both; what is given back may be taken on either', async () => {
    const [onA, onB] = [a, b].map((cluster) => new RedisWriteLimiter(cluster.commands, prefix, log));
    expect(await onA!.reserve(1, [7, 7, 8], 60_000)).toEqual([true, false, true]);
    expect(await onB!.reserve(1, [7, 8], 60_000)).toEqual([false, false]);
    onA!.giveBack(1, [7]);
    await expect.poll(() => onB!.reserve(1, [7], 60_000)).toEqual([true]);
    expect(await onB!.reserve(1, [8], 60_000)).toEqual([false]);
  });

  test('a limit that was made wider holds at once for what was written under the one before', async () => {
    const limiter = new RedisWriteLimiter(a.commands, prefix, log);
    expect(await limiter.reserve(3, [7, 8], 60_000)).toEqual([true, true]);
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(await limiter.reserve(3, [7], 60_000)).toEqual([false]);
    expect(await limiter.reserve(3, [7], 100)).toEqual([true]);
    expect(await limiter.reserve(3, [7, 8, 8], 60_000)).toEqual([false, false, false]);
    expect(await limiter.reserve(3, [8, 8], 100)).toEqual([true, false]);
  });

  test('without Redis each node limits for itself', async () => {
    const gone = await connect();
    const limiter = new RedisWriteLimiter(gone.commands, prefix, log);
    await gone.stop();
    expect(await limiter.reserve(2, [7], 60_000)).toEqual([true]);
    expect(await limiter.reserve(2, [7, 8], 60_000)).toEqual([false, true]);
  });
});
