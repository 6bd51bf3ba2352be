import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { piecesOfServer } from '../support/pieces.ts';
import { startServer } from '../support/server.ts';

const CONNECTIONS = 5_000;
/** Opens them, sends half a head on each and prints a line; prints the first answer when all have been closed. */
const CLIENTS = `
  const [port, count] = process.argv.slice(1).map(Number);
  let open = 0, said = '';
  for (let at = 0; at < count; at += 1) {
    const socket = require('node:net').connect(port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\\r\\n');
      if ((open += 1) === count) console.log('open');
    });
    socket.on('error', () => {});
    socket.on('data', (data) => (said ||= data.toString()));
    socket.on('close', () => (open -= 1) === 0 && console.log(said));
  }`;

test('thousands of heads that reach their time-out at once are told so while others are heard', async () => {
  const server = await startServer({ database: 'sqlite', watched: true });
  onTestFinished(() => server.stop());
  const clients = spawn(process.execPath, ['-e', CLIENTS, String(server.process.port), String(CONNECTIONS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void clients.kill('SIGKILL'));
  await once(clients.stdout, 'data');
  let said = '';
  const pieces = await piecesOfServer(server, async () => {
    said = String(await once(clients.stdout, 'data'));
  });
  expect(said).toMatch(/^HTTP\/1\.1 408 /);
  expect(pieces).toBeGreaterThanOrEqual(5);
});
