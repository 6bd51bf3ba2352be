import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
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
  const open = (at: number) =>
    connect((server.address() as AddressInfo).port, '127.0.0.1')
      .on('error', () => {})
      .on('close', () => closed.push(at));
  const send = (socket: Socket) => socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
  // 1,250 times 16 wait, and ten more.
  const crowd = Array.from({ length: 1_260 }, (_, at) => open(at));
  await Promise.all(crowd.map((socket) => once(socket, 'connect')));
  for (const socket of crowd) send(socket);
  await expect.poll(() => closed.length).toBe(10);
  await expect.poll(() => connections.unanswered).toBe(1_250 * 17);
  // One more takes the place of one: until then no other had gone.
  crowd.push(open(crowd.length));
  send(crowd.at(-1)!);
  await expect.poll(() => closed.length).toBe(11);
  expect(connections.unanswered).toBe(1_250 * 17);
  for (const socket of crowd) socket.destroy();
  server.close();
});

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
    await expect.poll(isKept).toBe(false);
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
  const open = () => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  const sockets = [open(), open()] as const;
  sockets[0].resume().write(request.repeat(1_000));
  await expect.poll(() => made).toBe(17);
  // By when another one was heard it would be more.
  sockets[1].resume().write(request);
  await expect.poll(() => made).toBe(18);
  expect(connections.unanswered).toBe(18);
  for (const socket of sockets) socket.destroy();
  server.close();
});
