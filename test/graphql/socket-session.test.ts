import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { BacklogMemory } from '../../src/scheduling/backlog-memory.ts';
import { BoundedStream } from '../../src/scheduling/bounded-stream.ts';
import { EventLoopQueue } from '../../src/scheduling/event-loop-queue.ts';
import { LANES } from '../../src/scheduling/lanes.ts';
import { LiveStream } from '../../src/graphql/live/live-stream.ts';
import { WorkBudget } from '../../src/graphql/context/work-budget.ts';
import { EventPush } from '../../src/graphql/transport/event-push.ts';
import { SocketSession } from '../../src/graphql/transport/socket-session.ts';
import { UntilIdle } from '../../src/graphql/transport/until-idle.ts';
import { countTurns } from '../support/loop-turns.ts';

let server: WebSocketServer;
let client: WebSocket;
let session: SocketSession;
/** What the server's WebSocket writes to. */
let wire: Duplex;

/** A client, and the server's end of its socket as a session. */
async function connect(options: { autoPong?: boolean } = {}): Promise<void> {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  const [socket, request] = (await accepted) as [WebSocket, IncomingMessage];
  wire = request.socket;
  session = new SocketSession(socket, wire, Date.now, 'request');
  if (client.readyState !== client.OPEN) await once(client, 'open');
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  client.terminate();
  server.close();
});

test('who answers pings stays connected, who does not is gone at the next one', async () => {
  await connect();
  for (let minute = 0; minute < 4; minute += 1) {
    const pinged = once(client, 'ping');
    const answered = once(session.socket, 'pong');
    vi.advanceTimersByTime(15_000);
    await pinged;
    await answered;
  }
  expect(session.socket.readyState).toBe(WebSocket.OPEN);
  client.terminate();
  server.close();

  await connect({ autoPong: false });
  const pinged = once(client, 'ping');
  vi.advanceTimersByTime(15_000);
  await pinged;
  expect(session.socket.readyState).toBe(WebSocket.OPEN);
  const closed = once(session.socket, 'close');
  vi.advanceTimersByTime(15_000);
  await closed;
});

test('what is pushed in one turn of the event loop goes out in one write, and is waited for', async () => {
  await connect();
  const received: string[] = [];
  client.on('message', (data: Buffer) => received.push(data.toString()));
  expect(wire.writableCorked).toBe(0);
  for (const text of ['one', 'two', 'three']) session.push(text);
  expect(wire.writableCorked).toBe(1);
  await session.sent();
  expect(wire.writableCorked).toBe(0);
  await expect.poll(() => received).toEqual(['one', 'two', 'three']);
});

const newStream = (maxUnread: number): BoundedStream<number> =>
  new BoundedStream<number>({
    sizeOf: () => 1,
    read: (item) => item,
    maxUnread,
    tooSlow: '',
    backlog: new BacklogMemory().of('tenant'),
    onEnd: () => {},
  });

test('of a reader that reads nothing no more events are answered than its socket takes, and those of one batch', async () => {
  await connect();
  client.pause();
  const unread = newStream(10_000);
  let answered = 0;
  const payload = JSON.stringify('x'.repeat(100_000));
  const push = new EventPush({
    id: '1',
    session,
    turns: new EventLoopQueue(LANES.socketMessages),
    kept: new UntilIdle(() => {}),
    budget: new WorkBudget(),
    events: new LiveStream(unread, () => ({ of: null, value: () => null })),
    payloadOf: () => ((answered += 1), payload),
    onPushed: () => {},
  });
  const ended = push.next();
  for (let round = 0; round < 100; round += 1) {
    for (let item = 0; item < 10; item += 1) unread.offer(item);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(session.ending).toBe(false);
  // Linux takes some megabytes.
  expect(answered).toBeGreaterThan(0);
  expect(answered).toBeLessThan(200);
  await push.return();
  client.terminate();
  expect(await ended).toEqual({ value: undefined, done: true });
});

test('who has something to send when others have sent for long waits for the next turn of the event loop', async () => {
  await connect();
  const turns = new EventLoopQueue(LANES.socketMessages);
  void turns.run(async () => {
    const end = performance.now() + 25;
    while (performance.now() < end);
  });
  const events = newStream(100);
  events.offer(1);
  let hasTurned = false;
  const pushed = new Promise<boolean>((resolve) => {
    const push = new EventPush({
      id: '1',
      session,
      turns,
      kept: new UntilIdle(() => {}),
      budget: new WorkBudget(),
      events: new LiveStream(events, () => ({ of: null, value: () => null })),
      payloadOf: () => '{}',
      onPushed: () => resolve(hasTurned),
    });
    void push.next();
  });
  setImmediate(() => (hasTurned = true));
  expect(await pushed).toBe(true);
});

test('an event that fails while those before it wait for their turn is told of, and nobody else hears of it', async () => {
  await connect();
  const turns = new EventLoopQueue(LANES.socketMessages);
  const events = newStream(100);
  for (const item of [1, 2]) events.offer(item);
  const payloads = [
    async () => {
      // From now on others send.
      void turns.run(() => new Promise((resolve) => setTimeout(resolve, 50)));
      return '{}';
    },
    async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('the database is away');
    },
  ];
  const push = new EventPush({
    id: '1',
    session,
    turns,
    kept: new UntilIdle(() => {}),
    budget: new WorkBudget(),
    events: new LiveStream(events, () => ({ of: null, value: () => null })),
    payloadOf: () => payloads.shift()!(),
    onPushed: () => {},
  });
  // What nobody waits for for a turn fails the whole run.
  await expect(push.next()).rejects.toThrow('the database is away');
});

test('events of a subscription that is over are not answered any more', async () => {
  await connect();
  const events = newStream(100);
  for (let item = 0; item < 10; item += 1) events.offer(item);
  const budget = new WorkBudget();
  session.budgets.set('1', budget);
  let answered = 0;
  const push = new EventPush({
    id: '1',
    session,
    turns: new EventLoopQueue(LANES.socketMessages),
    kept: new UntilIdle(() => {}),
    budget,
    events: new LiveStream(events, () => ({ of: null, value: () => null })),
    payloadOf: async () => {
      answered += 1;
      await new Promise((resolve) => setImmediate(resolve));
      if (answered === 3) session.over('1', {});
      return '{}';
    },
    onPushed: () => {},
  });
  const ended = push.next();
  await expect.poll(() => answered).toBe(3);
  await push.return();
  expect(await ended).toEqual({ value: undefined, done: true });
  expect(answered).toBe(3);
});

test('what may wait for a reader that reads nothing is bounded', async () => {
  await connect();
  client.pause();
  const closed = once(session.socket, 'close');
  let most = 0;
  for (let at = 0; at < 100 && !session.ending; at += 1) {
    session.push('x'.repeat(1_000_000));
    most = Math.max(most, session.socket.bufferedAmount);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(session.ending).toBe(true);
  expect(most).toBeLessThan(19_000_000);
  await closed;
});

test('of many sockets that close at the same moment some are freed at a time', async () => {
  await connect();
  const turns = countTurns();
  const inTurns: number[] = [];
  const others = Array.from({ length: 20 }, () => {
    const other = new SocketSession(session.socket.setMaxListeners(100), wire, Date.now, 'request');
    other.keep({}, () => inTurns.push(turns.turns));
    return other;
  });
  await Promise.all(others.map((other) => other.gone()));
  turns.stop();
  expect(inTurns).toHaveLength(20);
  expect(new Set(inTurns).size).toBeGreaterThan(10);
});
