import { connect } from 'node:net';
import { WebSocket } from 'ws';
import type { TestServer } from '../support/server.ts';

/** How long a WebSocket, and a bare socket whose request is only a beginning, stays. */
const SOCKET_MS = 150;
const RAW_MS = 50;

/** Messages on a WebSocket; resolves with its closing code and everything that came back. */
export function sendFrames(
  server: TestServer,
  frames: readonly (string | Buffer)[],
  { protocol, token, isCut }: { protocol: string; token: string | null; isCut: boolean },
): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, protocol);
    let text = '';
    const timer = setTimeout(() => socket.terminate(), SOCKET_MS);
    socket.on('open', () => {
      if (token !== null) socket.send(JSON.stringify({ type: 'connection_init', payload: { token } }));
      for (const frame of frames) socket.send(frame);
      if (isCut) socket.terminate();
      else socket.send(JSON.stringify({ type: 'ping', payload: { last: true } }));
    });
    socket.on('message', (data) => {
      const message = String(data as Buffer);
      text += message;
      // It has read all of them; what they began may go on for a moment.
      if (message.includes('"last":true')) setTimeout(() => socket.close(), 10);
    });
    socket.on('error', () => {});
    socket.on('close', (code) => {
      clearTimeout(timer);
      resolve(`${code} ${text}`);
    });
  });
}

/** Bytes on a connection of their own; resolves with everything that came back. */
export function sendBytes(server: TestServer, text: string, isEnded: boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(server.process.port, '127.0.0.1', () => {
      if (isEnded) socket.end(text);
      else socket.write(text);
    });
    let answer = '';
    // What was sent may be only a beginning, for which the server rightly waits.
    const timer = setTimeout(() => socket.destroy(), RAW_MS);
    socket.on('data', (data) => (answer += data.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
  });
}
