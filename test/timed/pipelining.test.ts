import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLoopTime } from '../support/processor-time.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { expectAsFast } from './reference.ts';

let server: TestServer;
let device: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  device = (await createProduct(server)).deviceIds[0]!;
});
afterAll(() => server?.stop());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const entry = (value: number): string =>
  JSON.stringify({ field: 'temperature', value, timestamp: 1_700_000_000 + value });

function record(body: string): string {
  return `POST /v1/devices/${device}/record/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sends it in one piece; resolves with what comes until so many answers are there, or the server closes. */
async function exchange(text: string, count: number, socket = connect(server.process.port, '127.0.0.1')) {
  let said = '';
  socket.setEncoding('latin1').write(text);
  await new Promise<void>((resolve) => {
    socket.on('close', resolve);
    socket.on('data', (data: string) => {
      said += data;
      if (count < Infinity && /[}\n]$/.test(said.slice(-1)) && statuses(said).length === count) resolve();
    });
  });
  return said;
}

const statuses = (said: string): string[] => said.match(/HTTP\/1\.1 \d+/g) ?? [];
const times = (count: number, status: number): string[] => Array<string>(count).fill(`HTTP/1.1 ${status}`);

test('of large heads that stand behind each other a connection has two parsed at once, the rest in turns', async () => {
  const names = Array.from({ length: 480 }, (_, at) => `h${at}:\r\n`).join('');
  const heads = `GET /x HTTP/1.1\r\nHost: x\r\n${names}\r\n`.repeat(8);
  const open = (localAddress: string): Socket =>
    connect({ port: server.process.port, host: '127.0.0.1', localAddress }).on('error', () => {});
  const crowd = Array.from({ length: 400 }, () => open('127.0.0.1').resume());
  const mine = open('127.0.0.2');
  await Promise.all([mine, ...crowd].map((socket) => once(socket, 'connect')));
  const { child } = server.process;
  await exchange(record(entry(1)), 1, mine);
  // All of it is heard in one turn of its event loop.
  child.kill('SIGSTOP');
  for (const socket of crowd) socket.write(heads);
  const answer = exchange(record(entry(2)), 1, mine);
  await pause(100);
  const before = eventLoopTime(child.pid!).ranMs;
  child.kill('SIGCONT');
  expect(statuses(await answer)).toEqual(times(1, 200));
  const took = eventLoopTime(child.pid!).ranMs - before;
  for (const socket of crowd) socket.destroy();
  expectAsFast('a record beside 400 connections with eight large heads each', took);
});
