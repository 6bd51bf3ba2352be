import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Connections } from './connections.ts';
import { ClientConnections } from './client-connections.ts';
import { createHttpServer } from './http-server.ts';

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
])('four requests wait for the one before them, a fifth ends the connection: %j', async (request) => {
  const server = createHttpServer({
    clients: new ClientConnections({ most: 0, trustedProxies: 0 }),
    isQuiet: () => false,
    endBehindAnswers: () => true,
  });
  const connections = new Connections(server, { listener: () => {}, ended: () => {} });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const open = () => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  const [few, many] = [open(), open()] as const;
  few.resume().write(request.repeat(5));
  await expect.poll(() => connections.unanswered).toBe(5);
  many.resume().write(request.repeat(6));
  await once(many, 'close');
  expect(connections.unanswered).toBe(5);
  few.destroy();
  server.close();
});
