import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { RedisCluster } from '../../src/cluster/redis-cluster.ts';
import { RedisWriteLimiter } from '../../src/cluster/redis-write-limiter.ts';
import type { Change } from '../../src/domain/cluster.ts';
import type { DeviceInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import { Feed } from '../../src/domain/measurements/feed.ts';

const redisUrl = inject('redisUrl');

describe.skipIf(redisUrl === null)('two nodes around one Redis', () => {
  const prefix = `test:${randomUUID()}`;
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  let a: RedisCluster;
  let b: RedisCluster;
  beforeAll(async () => {
    a = await RedisCluster.connect(redisUrl!, prefix, log);
    b = await RedisCluster.connect(redisUrl!, prefix, log);
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

  test('live values reach subscribers of both nodes once, also when nobody listens where they were recorded', async () => {
    const [onA, onB] = [new Feed(a, Date.now), new Feed(b, Date.now)];
    const device = { id: 'd', key: 1, productId: 'p', workspaceId: 'w' } as DeviceInfo;
    const publish = (value: number): void => {
      const now = Date.now();
      onA.publish(device, { deviceKey: 1, receivedAt: now, fieldKeys: [1], timestamps: [now], values: [value] });
    };
    const accepts = (): boolean => true;
    const atB = onB.subscribe({ accepts });
    publish(1);
    expect((await atB.next()).value.values).toEqual([1]);
    const atA = onA.subscribe({ accepts });
    publish(2);
    expect((await atB.next()).value.values).toEqual([2]);
    // Redis has delivered 2 to both by now: what A is told next is 3, not its own 2 once more.
    publish(3);
    expect((await atB.next()).value.values).toEqual([3]);
    expect([(await atA.next()).value.values, (await atA.next()).value.values]).toEqual([[2], [3]]);
    await Promise.all([atA.return!(), atB.return!()]);
  });

  test('the write limit spans both; what is given back may be taken on either', async () => {
    const [onA, onB] = [a, b].map((cluster) => new RedisWriteLimiter(cluster.commands, prefix, log));
    expect(await onA!.reserve(1, [7, 7, 8], 60_000)).toEqual([true, false, true]);
    expect(await onB!.reserve(1, [7, 8], 60_000)).toEqual([false, false]);
    onA!.giveBack(1, [7]);
    await expect.poll(() => onB!.reserve(1, [7], 60_000)).toEqual([true]);
    expect(await onB!.reserve(1, [8], 60_000)).toEqual([false]);
  });

  test('without Redis each node limits for itself', async () => {
    const gone = await RedisCluster.connect(redisUrl!, prefix, log);
    const limiter = new RedisWriteLimiter(gone.commands, prefix, log);
    await gone.stop();
    expect(await limiter.reserve(2, [7], 60_000)).toEqual([true]);
    expect(await limiter.reserve(2, [7, 8], 60_000)).toEqual([false, true]);
  });
});
