import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

/** Beginnings of a megabyte each, more of them than the server keeps. */
const CROWD = 150;
const NEARLY = 1_000_000;

let server: TestServer;
let device: string;
beforeAll(async () => {
  server = await startServer({ alone: true, database: 'sqlite', env: { CLIENT_IDLE_SECONDS: '300' } });
  device = (await createProduct(server)).deviceIds[0]!;
});
afterAll(() => server?.stop());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks for a thing of no cost. */
async function health(): Promise<void> {
  await (await fetch(`${server.url}/healthz`)).text();
}

async function openSocket(token = ADMIN_TOKEN): Promise<WebSocket> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('open', resolve));
  const acknowledged = new Promise((resolve) => socket.once('message', resolve));
  socket.send(JSON.stringify({ type: 'connection_init', payload: { token } }));
  await acknowledged;
  return socket;
}

test('bodies that never end give way to those that do', async () => {
  const before = server.process.residentMb();
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${NEARLY + 8}\r\n\r\n`;
  const begin = (): { socket: Socket; answer: Promise<string> } => {
    const socket = connect(server.process.port, '127.0.0.1');
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(data.toString()));
      socket.on('error', () => resolve(''));
    });
    socket.write(head + ' '.repeat(NEARLY));
    return { socket, answer };
  };
  const crowd = Array.from({ length: CROWD }, begin);
  expect(await crowd[0]!.answer).toMatch(/^HTTP\/1\.1 503[^]*OVERLOADED/);
  const whole = await server.record(device, `[{"field":"temperature","value":1}]${' '.repeat(NEARLY)}`);
  expect(whole.status).toBe(200);
  crowd.at(-1)!.socket.write('{"a":1}\n');
  expect(await crowd.at(-1)!.answer).toMatch(/^HTTP\/1\.1 [24]00/);
  for (const { socket } of crowd) socket.destroy();
  expect(server.process.residentMb() - before).toBeLessThan(400);
});

/** A megabyte all but its end, from that address. */
function beginFrom(localAddress: string): { socket: Socket; answer: Promise<string> } {
  const socket = connect({ port: server.process.port, host: '127.0.0.1', localAddress });
  const answer = new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(data.toString()));
    socket.on('error', () => resolve(''));
    socket.once('close', () => resolve(''));
  });
  const head = `POST /v1/devices/${device}/record/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\nContent-Length: ${NEARLY + 50}\r\n\r\n`;
  socket.write(head + ' '.repeat(NEARLY));
  return { socket, answer };
}

test('an address that sends too much at once gives way itself: others who began before it get theirs in', async () => {
  const slow = Array.from({ length: 3 }, (_, at) => beginFrom(`127.0.0.${2 + at}`));
  await Promise.all(slow.map(({ socket }) => new Promise((resolve) => socket.write(' ', resolve))));
  const crowd: ReturnType<typeof beginFrom>[] = [];
  for (let at = 0; at < CROWD; at += 1) {
    crowd.push(beginFrom('127.0.0.1'));
    if (at % 10 === 9) await health();
  }
  expect(await crowd[0]!.answer).toMatch(/^HTTP\/1\.1 503[^]*OVERLOADED/);
  for (const { socket, answer } of slow) {
    socket.write('[{"field":"temperature","value":3}]'.padStart(49));
    expect(await answer).toMatch(/^HTTP\/1\.1 200/);
  }
  for (const { socket } of [...slow, ...crowd]) socket.destroy();
});

test('a body in pieces of a byte takes no more than its size', async () => {
  const before = server.process.residentMb();
  const socket = connect(server.process.port, '127.0.0.1');
  socket.on('error', () => {});
  const path = `/v1/devices/${device}/record/`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  await new Promise((resolve) => socket.write('1\r\n \r\n'.repeat(NEARLY), resolve));
  await health();
  expect(server.process.residentMb() - before).toBeLessThan(60);
  socket.destroy();
});

test('connections that send requests by thousands are cut off, and one that asks once is answered', async () => {
  let closed = 0;
  const crowd = Array.from({ length: 40 }, () => {
    const socket = connect(server.process.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('close', () => (closed += 1));
    socket.on('data', () => {});
    socket.write('GET /x HTTP/1.1\r\nHost:x\r\n\r\n'.repeat(2_000));
    return socket;
  });
  expect((await server.record(device, { field: 'temperature', value: 2 })).status).toBe(200);
  await expect.poll(() => closed).toBe(crowd.length);
});

test('messages that never end give way to those that do', async () => {
  const crowd = await Promise.all(Array.from({ length: CROWD }, () => openSocket()));
  let closed = 0;
  for (const socket of crowd) {
    socket.once('close', () => (closed += 1));
    socket.send(' '.repeat(NEARLY), { fin: false });
  }
  await expect.poll(() => closed).toBeGreaterThan(CROWD - 140);
  const last = crowd.at(-1)!;
  const pong = new Promise<string>((resolve) => last.once('message', (data) => resolve(String(data as Buffer))));
  last.send('{"type":"ping"}', { fin: true });
  expect(await pong).toBe('{"type":"pong"}');
  for (const socket of crowd) socket.terminate();
});

test('a flood of messages whose answers nobody reads stops, and nobody waits for it', async () => {
  const from = server.process.residentMb();
  const grownMb = (): number => server.process.residentMb() - from;
  let sent = 0;
  const sockets = await Promise.all(Array.from({ length: 4 }, () => openSocket()));
  const state = { isOver: false };
  // Its answer holds as much as it does.
  const ping = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(2_000) } });
  const floods = sockets.map(async (socket) => {
    socket.pause();
    while (!state.isOver) {
      for (let at = 0; at < 200 && socket.bufferedAmount < 100_000; at += 1, sent += 1) socket.send(ping);
      await pause(1);
    }
  });
  // Five looks in a row at which nothing more was taken.
  for (let [before, still] = [-1, 0]; still < 5; await pause(100)) {
    await health();
    for (const { readyState } of sockets) expect(readyState).toBe(WebSocket.OPEN);
    expect(grownMb()).toBeLessThan(100);
    still = sent === before ? still + 1 : 0;
    before = sent;
  }
  state.isOver = true;
  await Promise.all(floods);
  for (const socket of sockets) socket.terminate();
});
