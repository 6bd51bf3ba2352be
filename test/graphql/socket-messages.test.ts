import { EventEmitter } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { EventLoopQueue } from '../../src/scheduling/event-loop-queue.ts';
import { LANES } from '../../src/scheduling/lanes.ts';
import type { Caller } from '../../src/scheduling/caller.ts';
import type { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { SocketMessages } from '../../src/graphql/transport/socket-messages.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const waiting: (() => void)[] = [];

type Shares = Pick<FairScheduler, 'begin' | 'spend'>;
const PARTY: Caller = { tokenId: 't', tenant: 'w' };

/** A socket that can be paused, and what was received from it by those who never answer. */
function open(
  shares: Shares = { begin: async () => {}, spend: () => {} },
  caller: Caller | null = PARTY,
): {
  socket: EventEmitter & { isPaused: boolean };
  received: unknown[];
  pongs: { data: string; left: () => void }[];
  closed: number[];
} {
  const pongs: { data: string; left: () => void }[] = [];
  const closed: number[] = [];
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    isPaused: false,
    pause: () => (socket.isPaused = true),
    resume: () => (socket.isPaused = false),
    pong: (data: Buffer, _mask: boolean, left: () => void) => pongs.push({ data: data.toString(), left }),
    close: (code: number) => closed.push(code),
  });
  const received: unknown[] = [];
  new SocketMessages({
    socket: socket as unknown as WebSocket,
    turns: new EventLoopQueue(LANES.socketMessages),
    shares,
    caller: () => caller,
    hold: () => () => {},
    receive: (message) => {
      received.push(message);
      // Whoever is to answer holds on to what waits for it.
      return new Promise((resolve) => waiting.push(resolve));
    },
    onRead: () => {},
    onFailed: () => {},
  }).read();
  return { socket, received, pongs, closed };
}

const turnsOfTheLoop = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve));
};

const subscribe = (padding: number): Buffer =>
  Buffer.from(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: 'x'.repeat(padding) } }));

test('a long message that begins a subscription does not keep its connection from being read', async () => {
  const { socket, received } = open();
  socket.emit('message', subscribe(70_000));
  expect(socket.isPaused).toBe(true);
  await expect.poll(() => received.length).toBe(1);
  expect(socket.isPaused).toBe(false);
});

test('with 200 that are not yet answered it is read no further', async () => {
  const { socket, received } = open();
  for (let at = 0; at < 200; at += 1) socket.emit('message', subscribe(1));
  await expect.poll(() => received.length).toBe(200);
  expect(socket.isPaused).toBe(true);
});

test('the bytes of a message are not kept as long as its subscription runs', async () => {
  const { socket, received } = open();
  const messages = Array.from({ length: 10 }, () => new WeakRef(subscribe(60_000)));
  for (const message of messages) socket.emit('message', message.deref()!);
  await expect.poll(() => received.length).toBe(10);
  const kept = (): number => {
    collect();
    return messages.filter((message) => message.deref() !== undefined).length;
  };
  await expect.poll(kept).toBeLessThan(2);
});

test("a long message is read in its caller's turn and on its account, and what is behind it later", async () => {
  const happened: unknown[] = [];
  let begin = (): void => {};
  const turn = new Promise<void>((resolve) => (begin = resolve));
  const { socket, received } = open({
    begin: (party) => (happened.push(['begin', party]), turn),
    spend: (party, ms) => void happened.push(['spend', party, ms > 0]),
  });
  socket.emit('message', subscribe(20_000));
  socket.emit('message', subscribe(1));
  await turnsOfTheLoop(20);
  expect(happened).toEqual([['begin', PARTY]]);
  expect(received).toEqual([]);
  begin();
  await expect.poll(() => received.length).toBe(2);
  expect(received[1]).toMatchObject({ payload: { query: 'x' } });
  expect(happened.slice(1)).toEqual([
    ['spend', PARTY, true],
    ['spend', PARTY, true],
  ]);
});

test('of many pings the last is answered, and no more than one pong waits to be sent', async () => {
  const { socket, pongs } = open();
  for (let at = 0; at < 10_000; at += 1) socket.emit('ping', Buffer.from(`${at}`));
  await turnsOfTheLoop(20);
  expect(pongs.length).toBe(1);
  pongs[0]!.left();
  if (pongs[0]!.data !== '9999') await expect.poll(() => pongs.length).toBe(2);
  expect(pongs.at(-1)!.data).toBe('9999');
  pongs.at(-1)!.left();
  const before = pongs.length;
  socket.emit('ping', Buffer.from('later'));
  await expect.poll(() => pongs.length).toBe(before + 1);
  expect(pongs.at(-1)!.data).toBe('later');
});

test.each(['ping', 'pong'])('who has shown no token may not send %ss without end', (frame) => {
  const { socket, closed } = open(undefined, null);
  for (let at = 0; at < 100; at += 1) socket.emit(frame, Buffer.alloc(1));
  expect(closed).toEqual([]);
  for (let at = 0; at < 10_000; at += 1) socket.emit(frame, Buffer.alloc(1));
  expect(closed[0]).toBe(4401);
});
