import { WebSocket } from 'ws';
import type { TestServer } from '../support/server.ts';
import type { Reader } from './targets.ts';

/** A subscription that nothing is sent to ends when so many have recorded: on a busy machine that takes as much longer. */
const ROUNDS = 20;
const LIVE = `subscription ($after: String, $d: [ID!], $w: ID) {
  measurementsRecorded(after: $after, deviceIds: $d, workspaceId: $w) { cursor receivedAt device { id } measurements { timestamp value } }
}`;

/** How a subscription may end: the last four are of the machine, or of what others deleted. */
const ENDS = ['CURSOR_EXPIRED', 'BAD_USER_INPUT', 'NOT_FOUND', 'OVERLOADED', 'UNAVAILABLE', 'QUERY_TOO_COMPLEX'];

/** What a subscription is resumed with. */
export interface Resumption {
  reader: Reader;
  after: string | null;
  /** Named devices and workspace, or none. */
  narrowed: { d?: string[]; w?: string };
  /** Makes something happen for everybody. */
  record: () => Promise<void>;
  /** Told the cursors of the events. */
  onCursor: (cursor: string) => void;
}

/**
 * Subscribes to `measurementsRecorded` and resolves with the first thing that comes back, as the fuzzer reads it: what the
 * reader may not see begins with "leak".
 */
export function resume(
  server: TestServer,
  { reader, after, narrowed, record, onCursor }: Resumption,
  limit: AbortSignal,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    let answer = '';
    limit.addEventListener('abort', () => socket.terminate(), { once: true });
    const recordOn = async (): Promise<void> => {
      for (let left = ROUNDS; left > 0 && socket.readyState === socket.OPEN; left -= 1) await record();
      socket.close();
    };
    socket.on('open', () => {
      socket.send(JSON.stringify({ type: 'connection_init', payload: { token: reader.secret } }));
      const payload = { query: LIVE, variables: { after, ...narrowed } };
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
      void recordOn();
    });
    socket.on('message', (data) => {
      const { type, payload } = JSON.parse(String(data as Buffer)) as { type: string; payload?: any };
      if (!['next', 'error', 'complete'].includes(type)) return;
      const errors = type === 'error' ? payload : payload?.errors;
      const event = payload?.data?.measurementsRecorded;
      if (errors !== undefined) answer += verdictOf(String(errors[0]?.extensions?.code), String(errors[0]?.message));
      else if (event != null && !reader.sees.has(event.device.id)) answer = `leak: ${JSON.stringify(event)}`;
      else if (event != null) {
        onCursor(event.cursor);
        answer ||= 'HTTP/1.1 200 streamed';
      }
      socket.close();
    });
    socket.on('error', () => {});
    socket.on('close', (code) => resolve(answer || `${code} `));
  });
}

function verdictOf(code: string, message: string): string {
  return ENDS.includes(code) ? `refused: ${code}` : `wrong end: ${code} ${message}`;
}
