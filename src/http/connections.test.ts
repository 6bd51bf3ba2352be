import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Connections } from './connections.ts';
import { ClientConnections } from './client-connections.ts';
import { createHttpServer } from './http-server.ts';

test('of very many requests that wait for another those are given up that have waited for longest', async () => {
  const server = createServer();
  server.on('clientError', () => {});
  const connections = new Connections(server, { listener: () => {}, ended: () => {} });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const closed: number[] = [];
  // 1,250 times 16 wait, and ten more.
  const crowd = Array.from({ length: 1_260 }, (_, at) =>
    connect((server.address() as AddressInfo).port, '127.0.0.1')
      .on('error', () => {})
      .on('close', () => closed.push(at)),
  );
  await Promise.all(crowd.map((socket) => once(socket, 'connect')));
  for (const socket of crowd) socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
  await expect.poll(() => closed.length, { timeout: 20_000 }).toBe(10);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(closed).toHaveLength(10);
  expect(connections.unanswered).toBe(1_250 * 17);
  for (const socket of crowd) socket.destroy();
  server.close();
}, 30_000);

test.each(['Content-Length: 2\r\n\r\n{}', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'])(
  'of a request that has been answered nothing is kept, however long its connection stays open: %j',
  async (rest) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const server = createServer();
    server.on('clientError', () => {});
    const requests: WeakRef<IncomingMessage>[] = [];
    const connections = new Connections(server, {
      listener: (request, response) => {
        requests.push(new WeakRef(request));
        request.resume().on('end', () => response.end('x'));
      },
      ended: () => {},
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${rest}`);
    await once(socket, 'data');
    const isKept = (): boolean => {
      collect();
      return requests[0]!.deref() !== undefined;
    };
    await expect.poll(isKept, { timeout: 3_000 }).toBe(false);
    expect(connections.size).toBe(1);
    socket.destroy();
    server.close();
  },
);

test.each([
  'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nExpect: y\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n',
  'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: b\r\n\r\n',
])('no request is made that is not counted: %j', async (request) => {
  let made = 0;
  const server = createHttpServer({
    clients: new ClientConnections({ most: 0, trustedProxies: 0 }),
    isQuiet: () => false,
    endBehindAnswers: () => true,
  });
  const connections = new Connections(server, { listener: () => {}, ended: () => {} });
  server.on('connection', (socket: any) => {
    const { parser } = socket;
    const make = parser.onIncoming;
    parser.onIncoming = (...of: unknown[]) => {
      made += 1;
      return make(...of);
    };
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  socket.resume().write(request.repeat(1_000));
  await expect.poll(() => made).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([made, connections.unanswered]).toEqual([17, 17]);
  socket.destroy();
  server.close();
});
