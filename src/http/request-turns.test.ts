import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { RequestTurns } from './request-turns.ts';

const CONNECTIONS = 40;
let server: Server;
let held: Set<Socket>;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a request on each of the connections before the server looks at the first. */
async function sendAtOnce(serve: RequestListener): Promise<Socket[]> {
  const turns = new RequestTurns(() => ({ tenant: 'a', tokenId: 'a' }));
  server = createServer(turns.listener(serve));
  held = new Set();
  server.on('connection', (socket: Socket) => held.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await expect.poll(() => held.size).toBe(CONNECTIONS);
  for (const socket of sockets) socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return sockets;
}

function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('between requests that fill a turn of the event loop it goes on', async () => {
  let [answered, looks] = [0, 0];
  const look = (): void => {
    looks += 1;
    if (answered < CONNECTIONS) setImmediate(look);
  };
  await sendAtOnce((_request, response) => {
    if (answered === 0) setImmediate(look);
    busy(2);
    answered += 1;
    response.end();
  });
  await expect.poll(() => answered).toBe(CONNECTIONS);
  // All in one turn without.
  expect(looks).toBeGreaterThan(CONNECTIONS / 2);
});

test('who has gone while waiting is not served', async () => {
  let served = 0;
  let gone = 0;
  const sockets = await sendAtOnce((request) => {
    served += 1;
    busy(2);
    // The first is served while the others are being heard; from the second on they wait, and go.
    if (served < 2) return;
    for (const socket of held) if (socket !== request.socket) socket.destroy();
  });
  for (const socket of sockets) socket.on('close', () => (gone += 1));
  await expect.poll(() => gone).toBeGreaterThanOrEqual(CONNECTIONS - 5);
  // Each turn looks at one that waits.
  for (let turn = 0; turn < 2 * CONNECTIONS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(served).toBeLessThan(CONNECTIONS / 2);
});
