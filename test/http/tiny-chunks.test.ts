import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

/** A megabyte of chunks of a byte: the server reads as much of a connection in one turn of its event loop, if it may. */
const PIECE = Buffer.from('1\r\n \r\n'.repeat(176_000));
const SENDERS = 6;
const RECORDS = 5;

let server: TestServer;
let device: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite', watched: true });
  const fields = { temperature: 'FLOAT', note: 'STRING' };
  device = (await createProduct(server, { fields })).deviceIds[0]!;
});
afterAll(() => server?.stop());

/** Chunks of a byte without an end, begun again whenever the server has enough of them. */
function sendTo(path: string): void {
  let [isOver, socket] = [false, null as Socket | null];
  const begin = (): void => {
    if (isOver) return;
    const mine = connect(server.process.port, '127.0.0.1')
      .on('error', () => {})
      .resume();
    const go = (): void => void (mine.writable && mine.write(PIECE));
    mine.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: text/csv\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n\r\n`,
    );
    mine.on('drain', go).on('close', () => setTimeout(begin, 1));
    go();
    socket = mine;
  };
  begin();
  onTestFinished(() => {
    isOver = true;
    socket?.destroy();
  });
}

test.each(['/v1/devices/D/record/', '/v1/devices/D/import', '/nowhere'])(
  'bodies in chunks of a byte, POST %s: who records beside them has turns',
  async (path) => {
    for (let at = 0; at < SENDERS; at += 1) sendTo(path.replace('D', device));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await expectPieces(5, () =>
      piecesOfServer(server, async () => {
        for (let at = 0; at < RECORDS; at += 1)
          expect((await server.record(device, { field: 'temperature', value: at })).status).toBe(200);
      }),
    );
  },
);

test('of a chunked body that nobody reads yet no more is taken in than of any other', async () => {
  const socket = connect(server.process.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  // An answer that is not read holds up what comes behind it: nobody looks at its body.
  const text = 'x'.repeat(4_000);
  const rows = Array.from({ length: 2_500 }, (_, at) => `${1_700_000_000 + at},${text}\n`);
  const headers = { Authorization: `Token ${ADMIN_TOKEN}`, 'Content-Type': 'text/csv' };
  const body = `timestamp,note\n${rows.join('')}`;
  expect((await fetch(`${server.url}/v1/devices/${device}/import`, { method: 'POST', headers, body })).status).toBe(
    200,
  );
  const authorization = `Authorization: Token ${ADMIN_TOKEN}`;
  const ahead = `GET /v1/devices/${device}/history.ndjson HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`;
  socket.pause();
  socket.write(`${ahead}POST /v1/import HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'a'), Buffer.from('\r\n')]);
  let sent = 0;
  const go = (): void => {
    while (sent < 200e6 && socket.writable) {
      sent += chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on('drain', go);
  go();
  for (let before = -1; before < sent; await new Promise((resolve) => setTimeout(resolve, 500))) before = sent;
  expect(sent).toBeLessThan(50e6);
});
