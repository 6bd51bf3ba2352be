import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startServer, type TestServer } from '../support/server.ts';
import { createMember, createWorkspace, PASSWORD } from '../support/tenant.ts';

describe('sign-ins from several addresses', () => {
  let server: TestServer;
  let email: string;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', env: { ANONYMOUS_PER_MINUTE: '0' }, slowPasswords: true });
    ({ email } = await createMember(server, await createWorkspace(server, 'w'), 'VIEWER'));
  });
  afterAll(() => server?.stop());

  /** The whole of the machine's loopback network is its own: each of its addresses may send. */
  function signIn(localAddress: string, address: string, password: string): Promise<any> {
    return new Promise((resolve, reject) => {
      const asking = request(
        `${server.url}/graphql`,
        { method: 'POST', localAddress, headers: { 'Content-Type': 'application/json' } },
        (answer) => {
          let text = '';
          answer.on('data', (part: Buffer) => (text += part.toString()));
          answer.on('end', () => resolve(JSON.parse(text)));
        },
      );
      asking.on('error', reject);
      const query = 'mutation ($e: String!, $p: String!) { signIn(email: $e, password: $p) { secret } }';
      asking.end(JSON.stringify({ query, variables: { e: address, p: password } }));
    });
  }

  test('one that guesses is refused, over whatever it asks; whose account it is signs in from another', async () => {
    const codeOf = async (localAddress: string, password: string): Promise<string | undefined> =>
      (await signIn(localAddress, email, password)).errors?.[0].extensions.code;
    // So long that it is wrong without being hashed.
    const wrong = 'x'.repeat(1_025);
    for (let at = 0; at < 10; at += 1) expect(await codeOf('127.0.0.1', wrong)).toBe('UNAUTHENTICATED');
    expect(await codeOf('127.0.0.1', PASSWORD)).toBe('RATE_LIMITED');
    const overSocket = (localAddress: string): Promise<any> =>
      new Promise((resolve, reject) => {
        const url = `${server.url.replace('http', 'ws')}/graphql`;
        const socket = new WebSocket(url, 'graphql-transport-ws', { localAddress });
        const query = `mutation { signIn(email: "${email}", password: "${PASSWORD}") { secret } }`;
        socket.on('open', () =>
          socket.send(JSON.stringify({ type: 'connection_init', payload: { token: server.adminToken } })),
        );
        socket.on('message', (data: Buffer) => {
          const { type, payload } = JSON.parse(data.toString()) as { type: string; payload: unknown };
          if (type === 'connection_ack')
            socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
          else socket.close();
          if (type === 'next') resolve(payload);
        });
        socket.on('error', reject);
      });
    expect((await overSocket('127.0.0.1')).errors[0].extensions.code).toBe('RATE_LIMITED');
    expect((await overSocket('127.0.0.3')).data.signIn.secret).toMatch(/^inl_/);
    expect(await codeOf('127.0.0.2', PASSWORD)).toBeUndefined();
  });

  test('one that floods the queue neither fills it for another nor is served before it', async () => {
    const ending = new AbortController();
    let answered = 0;
    const codes = new Set<string>();
    let number = 0;
    const gone = (error: Error) => {
      if (ending.signal.aborted) return { errors: [{ extensions: { code: 'GONE' } }] };
      throw error;
    };
    const flood = Array.from({ length: 40 }, async () => {
      while (!ending.signal.aborted) {
        number += 1;
        const { errors } = await signIn('127.0.0.1', `nobody${number}@example.org`, 'wrong password').catch(gone);
        codes.add(errors[0].extensions.code);
        if (errors[0].extensions.code === 'UNAUTHENTICATED') answered += 1;
        else await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    await expect.poll(() => codes.has('OVERLOADED')).toBe(true);
    for (let round = 0; round < 3; round += 1) {
      const before = answered;
      const { data, errors } = await signIn('127.0.0.2', email, PASSWORD);
      expect(errors).toBeUndefined();
      expect(data.signIn.secret).toMatch(/^inl_/);
      // The one that is being looked at, and one whose turn it was already.
      expect(answered - before).toBeLessThanOrEqual(3);
    }
    ending.abort();
    // Those that still wait would take it twenty seconds.
    await server.process.stop('SIGKILL');
    await Promise.all(flood);
  });
});

describe('WebSockets of strangers', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', env: { ANONYMOUS_PER_MINUTE: '20' } });
  });
  afterAll(() => server?.stop());

  /** The status of a refused upgrade, or the code that the connection was closed with; 0: it was let in. */
  function connect(token: string): Promise<number> {
    return new Promise((resolve) => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { token } })));
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? -1));
      socket.on('message', () => {
        socket.close();
        resolve(0);
      });
      socket.on('close', (code) => resolve(code));
      socket.on('error', () => {});
    });
  }

  test('count to what their address may ask for; those with a token do not', async () => {
    for (let at = 0; at < 40; at += 1) expect(await connect(server.adminToken)).toBe(0);
    const codes: number[] = [];
    const from = performance.now();
    for (let at = 0; at < 40 || !codes.includes(429); at += 1) codes.push(await connect('inl_nobody'));
    // As many as a minute has, and those that came back meanwhile.
    const most = 21 + Math.ceil((performance.now() - from) / 3_000);
    expect(codes.slice(0, 15)).toEqual(Array(15).fill(4403));
    expect(codes.filter((code) => code === 4403).length).toBeLessThanOrEqual(most);
    expect(new Set(codes)).toEqual(new Set([4403, 429]));
    // It is the same account that requests are on.
    const answer = await fetch(`${server.url}/graphql`, { method: 'POST', body: '{}' });
    expect([429, 400]).toContain(answer.status);
    await expect.poll(async () => (await server.record('x', [], { token: 'inl_nobody' })).status).toBe(429);
  });
});

describe('what a stranger writes where a proxy’s address should stand', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', env: { TRUSTED_PROXIES: '2', ANONYMOUS_PER_MINUTE: '20' } });
  });
  afterAll(() => server?.stop());

  const LIES = ['1:2:3:4:5::6:7:8:9', '::'.repeat(2000), ':', '%', '1.2.3.4.5', 'unknown', '[::1:80', '[x]:80'];
  const spoken = (lie: string): Record<string, string> => ({
    'Content-Type': 'application/json',
    'X-Forwarded-For': `${lie}, 203.0.113.9`,
  });

  test('is no address: it ends nothing, fails nothing, and is all on one account', async () => {
    const statuses = new Set<number>();
    const send = async (path: string, lie: string, body: string | ReadableStream): Promise<void> => {
      const init = { method: 'POST', headers: spoken(lie), body, duplex: 'half' } as const;
      statuses.add((await fetch(server.url + path, init)).status);
    };
    for (let round = 0; round < 2; round += 1)
      for (const lie of LIES) {
        // In pieces, of a length that nobody knows before.
        await send('/graphql', lie, new Blob([' '.repeat(60_000)]).stream());
        await send('/graphql', lie, '{"query":"{ __typename }"}');
        await send(`/integrations/api/${'x'.repeat(24)}/`, lie, '');
        const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
          headers: spoken(lie),
        });
        socket.on('open', () => socket.send(' '.repeat(60_000)));
        await new Promise((resolve) => socket.on('close', resolve).on('error', () => {}));
      }
    expect([...statuses].toSorted()).toEqual([200, 400, 404, 429]);
    expect(server.process.lines.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});
