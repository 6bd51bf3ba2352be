import { connect } from 'node:net';
import { piecesOfServer } from './pieces.ts';
import { eventLoopTime } from './processor-time.ts';
import type { TestServer } from './server.ts';
import { ADMIN_TOKEN, type ServerProcess } from './server-process.ts';

/** Somebody who has sent all but the end of something large. */
export interface Sender {
  end: () => void;
  answered: Promise<unknown>;
}

const LOOK_MS = 100;

/** A POST of JSON by the admin, up to the last byte of its body; `answered`: its status. */
export async function posting({ port }: ServerProcess, path: string, body: string): Promise<Sender> {
  const socket = connect(port, '127.0.0.1');
  const answered = new Promise<number>((resolve, reject) => {
    socket.once('data', (data) => {
      resolve(Number(data.toString('latin1', 9, 12)));
      socket.destroy();
    });
    socket.once('error', reject);
  });
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: here',
    `Authorization: Token ${ADMIN_TOKEN}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  await new Promise((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`, resolve));
  return { end: () => socket.write(body.slice(-1)), answered };
}

/** In how many pieces (`pieces.ts`) a server that was started with `watched` works on what ends in one turn of its event loop. */
export async function piecesTogether(server: TestServer, senders: readonly Sender[]): Promise<number> {
  const { child } = server.process;
  await untilAllIsRead(child.pid!);
  return piecesOfServer(server, async () => {
    child.kill('SIGSTOP');
    for (const sender of senders) sender.end();
    child.kill('SIGCONT');
    await Promise.all(senders.map(({ answered }) => answered));
  });
}

async function untilAllIsRead(pid: number): Promise<void> {
  for (let [before, now] = [-Infinity, 0]; now - before > 2;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    [before, now] = [now, eventLoopTime(pid).ranMs];
  }
}
