import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { sealWith } from '../../src/domain/text/sealed-text.ts';
import { Chance } from '../fuzz/chance.ts';
import { Cursors } from '../fuzz/cursors.ts';
import { cursorKeyOf } from '../support/cursor-key.ts';
import { createDatabase, createProduct, EITHER_DATABASE, startServer, type TestDatabase, type TestServer } from '../support/server.ts'; // oxfmt-ignore
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { firstPush } from '../support/subscribe.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

const FORGED = 320;
const AT_ONCE = 40;
const LIVE = `subscription ($after: String, $d: [ID!]) { measurementsRecorded(after: $after, deviceIds: $d) { cursor device { id } measurements { value } } }`;

interface Message {
  type: string;
  id?: string;
  payload?: any;
}

describe.each(EITHER_DATABASE)('cursors that the server did not give for this, %s', (name) => {
  let database: TestDatabase;
  let server: TestServer;
  const cursors = new Cursors();
  let real: string;
  /** What each of two tenants reads with, and the one device that it may see. */
  const tenants: { secret: string; deviceId: string }[] = [];

  beforeAll(async () => {
    database = await createDatabase(name);
    server = await startServer({ database });
    sealWith(await cursorKeyOf(database.url));
    for (const tenant of ['one', 'two']) {
      const workspaceId = await createWorkspace(server, tenant);
      const { deviceIds } = await createProduct(server, { workspaceId });
      const { secret } = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ']);
      tenants.push({ secret, deviceId: deviceIds[0]! });
    }
    for (const { secret } of tenants) await gather(secret);
  });
  afterAll(async () => {
    await server.stop();
    await database.drop();
  });

  async function open(token: string): Promise<WebSocket> {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { token } }));
    await once(socket, 'message');
    return socket;
  }

  const record = async (): Promise<void> => {
    for (const { deviceId } of tenants) await server.record(deviceId, { field: 'temperature', value: 1 });
  };

  /** Some real cursors of a tenant. */
  async function gather(token: string): Promise<void> {
    const socket = await open(token);
    socket.send(JSON.stringify({ type: 'subscribe', id: 'a', payload: { query: LIVE } }));
    // Answered behind it: from here on it follows.
    socket.send(JSON.stringify({ type: 'subscribe', id: 'b', payload: { query: '{ plans { slug } }' } }));
    const wanted = cursors.count + 5;
    socket.on('message', (data) => {
      const { id, payload } = JSON.parse(String(data as Buffer)) as Message;
      if (id === 'a') cursors.add((real = payload.data.measurementsRecorded.cursor));
    });
    while (cursors.count < wanted) await record();
    socket.close();
    await once(socket, 'close');
  }

  test('end in an error that says so, or in what the token may read; never in a 500 or a closed socket', async () => {
    const chance = new Chance(20_261_122);
    for (const { secret, deviceId } of tenants) {
      const socket = await open(secret);
      const outcomes: Record<string, number> = {};
      const forged = new Map<string, string>();
      const seen: unknown[] = [];
      let closed: number | null = null;
      socket.on('close', (code) => (closed = code));
      socket.on('message', (data) => {
        const { type, id = '', payload } = JSON.parse(String(data as Buffer)) as Message;
        const errors = type === 'error' ? payload : payload?.errors;
        const outcome = errors === undefined ? type : String(errors[0].extensions.code);
        if (!forged.has(id) || type === 'complete') return;
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        if (errors === undefined) seen.push(payload.data.measurementsRecorded.device.id);
        else if (!['CURSOR_EXPIRED', 'BAD_USER_INPUT'].includes(outcome))
          expect.soft({ outcome, cursor: forged.get(id)?.slice(0, 300) }).toBeNull();
        forged.delete(id);
      });
      for (let at = 0; at < FORGED; at += AT_ONCE) {
        for (let more = 0; more < AT_ONCE; more += 1) {
          const id = `${at + more}`;
          const after = cursors.forged(chance, []);
          const d = chance.of(0.5) ? [deviceId] : null;
          forged.set(id, after);
          socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query: LIVE, variables: { after, d } } }));
        }
        // Those who were taken in hear of it at the latest now.
        await expect.poll(async () => {
          if (closed === null) await record();
          return closed ?? forged.size;
        }).toBe(0); // oxfmt-ignore
        for (let one = 0; one < AT_ONCE; one += 1) socket.send(JSON.stringify({ type: 'complete', id: `${at + one}` }));
      }
      expect(new Set(seen)).toEqual(new Set([deviceId]));
      // All three ways were gone.
      expect(Object.keys(outcomes).sort()).toEqual(['BAD_USER_INPUT', 'CURSOR_EXPIRED', 'next']);
      socket.close();
    }
    expect(server.process.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('are none when a letter of a real one is another: nobody but the server can make them', async () => {
    const { secret } = tenants.at(-1)!;
    // The last letter may hold bits that say nothing.
    for (let at = 0; at < real.length - 1; at += 3) {
      const after = real.slice(0, at) + (real[at] === 'A' ? 'B' : 'A') + real.slice(at + 1);
      const answer = await firstPush(server.url, secret, LIVE, { after });
      expect(answer?.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    }
  });
});
