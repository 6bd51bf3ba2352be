import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(async () => {
  await server?.stop();
});

async function openSocket(): Promise<{ socket: WebSocket; wire: Socket }> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  const upgraded = once(socket, 'upgrade') as Promise<[IncomingMessage]>;
  await once(socket, 'open');
  return { socket, wire: (await upgraded)[0].socket };
}

/** Sends the text in so many frames. */
function sendIn(socket: WebSocket, frames: number, text: string): void {
  const size = Math.ceil(text.length / frames);
  for (let at = 0; at < frames; at += 1)
    socket.send(text.slice(at * size, (at + 1) * size), { fin: at === frames - 1, binary: false });
}

test('a message may come in a few hundred frames, a megabyte of four kilobytes each, and not in thousands', async () => {
  const { socket } = await openSocket();
  const answer = once(socket, 'message');
  sendIn(socket, 256, `{"type":"ping"}${' '.repeat(10_000)}`);
  expect(String((await answer)[0])).toBe('{"type":"pong"}');
  const closed = once(socket, 'close');
  sendIn(socket, 1000, `{"type":"ping"}${' '.repeat(2000)}`);
  expect((await closed)[0]).toBe(1008);
});

test('pings are answered', async () => {
  const { socket } = await openSocket();
  for (const data of ['one', 'two']) {
    const pong = once(socket, 'pong');
    socket.ping(data);
    expect(String((await pong)[0])).toBe(data);
  }
});

test('a broken frame is one line of the log without a stack, below a warning', async () => {
  const { socket, wire } = await openSocket();
  const before = server.process.lines.length;
  const closed = once(socket, 'close');
  // An unknown opcode, masked.
  const frame = Buffer.concat([Buffer.from([0x8f, 0x81]), randomBytes(5)]);
  wire.write(frame);
  expect((await closed)[0]).toBe(1002);
  const said = () => server.process.lines.slice(before).filter(({ msg }) => String(msg).startsWith('WebSocket'));
  await expect.poll(() => said().length).toBe(1);
  expect(said()[0]).toMatchObject({ level: 'info', reason: expect.stringContaining('opcode') });
  expect(JSON.stringify(said()[0])).not.toContain('node_modules');
});
