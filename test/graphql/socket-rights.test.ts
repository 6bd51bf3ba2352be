import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSchema, parse } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { MemberSchema } from '../../src/domain/entities/member.ts';
import { TokenSchema } from '../../src/domain/entities/token.ts';
import type { CreatedToken } from '../../src/domain/accounts/token-service.ts';
import { noDatabase } from '../../src/errors.ts';
import type { Operations } from '../../src/graphql/operation/operations.ts';
import { GraphqlSockets, type GraphqlSocketsDeps } from '../../src/graphql/transport/graphql-sockets.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';

let domain: OpenDomain;
let server: Server;
let sockets: GraphqlSockets;
/** What comes between reading a token's rights and using them. */
let between: (() => Promise<void>) | null = null;
const clients: WebSocket[] = [];
const operations: Record<string, unknown> = { shares: { spend: () => {}, begin: async () => {} } };
/** How often the database does not answer who asks for many. */
const database = { refuses: 0 };
/** For how many tokens the database was asked at a time. */
const asked: number[] = [];

beforeAll(async () => {
  domain = await openDomain('sqlite');
  const authenticate = async (secret: string) => {
    const access = await domain.authenticator.authenticate(secret);
    const [now] = [between];
    between = null;
    await now?.();
    return access;
  };
  const accessesOf = async (tokenIds: string[]) => {
    if (database.refuses-- > 0) throw noDatabase(new Error('away'));
    asked.push(tokenIds.length);
    return domain.authenticator.accessesOf(tokenIds);
  };
  sockets = new GraphqlSockets({
    authenticator: { authenticate, accessesOf } as unknown as GraphqlSocketsDeps['authenticator'],
    cluster: domain.cluster,
    anonymous: {
      begin: () => {},
      wasKnown: () => {},
      failed: (_, error) => {
        throw error;
      },
      addressOf: () => '',
    },
    secretOf: (text) => text ?? null,
    sessionSecretOf: () => null,
    refusedPage: () => null,
    requestIdOf: () => 'request',
    maxMessageBytes: 1_000_000,
    bodies: { hold: () => {}, release: () => {} },
    now: Date.now,
    log: { error: () => {}, info: () => {}, warn: () => {} },
    operations: operations as unknown as Operations,
    sources: {} as GraphqlSocketsDeps['sources'],
    live: {} as GraphqlSocketsDeps['live'],
  });
  server = createServer();
  sockets.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate();
});
afterAll(async () => {
  await sockets.stop();
  server.close();
  await domain.close();
});

interface Connected {
  client: WebSocket;
  acknowledged: Promise<unknown>;
  closed: Promise<number>;
}

async function connect(token: string): Promise<Connected> {
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws');
  clients.push(client);
  const acknowledged = once(client, 'message');
  acknowledged.catch(() => {});
  const closed = once(client, 'close').then(([code]) => code as number);
  await once(client, 'open');
  client.send(JSON.stringify({ type: 'connection_init', payload: { token } }));
  return { client, acknowledged, closed };
}

/** Whether it answers when all that was to end has ended: that would be told before. */
async function isOpen({ client, closed }: Connected): Promise<boolean> {
  const answered = once(client, 'pong').then(() => true);
  client.ping();
  return Promise.race([answered, closed.then(() => false)]);
}

test('a token that is revoked while its socket connects gets no connection', async () => {
  const { token, secret } = await domain.tokens.create(domain.access, { name: 't', kind: 'PERSONAL' });
  between = async () => {
    await domain.tokens.revoke(domain.access, token.id);
  };
  expect(await (await connect(secret)).closed).toBe(4403);
});

test('changed rights of a user end the sockets of this user, and of nobody else', async () => {
  const people = await Promise.all(
    ['ada', 'bob'].map(async (name) => {
      const { id } = await domain.users.create(domain.access, { email: `${name}@x.org`, password: `password ${name}` });
      const { secret } = await domain.users.signIn(`${name}@x.org`, `password ${name}`, name);
      return { id, secret };
    }),
  );
  const [ada, bob] = [await connect(people[0]!.secret), await connect(people[1]!.secret)];
  await Promise.all([ada.acknowledged, bob.acknowledged]);
  await domain.users.update(domain.access, people[0]!.id, { operator: true });
  expect(await ada.closed).toBe(1012);
  expect(await isOpen(bob)).toBe(true);
});

test('an operation that fails in a way nobody expected is told so, and its connection stays open', async () => {
  const broken = (): never => {
    throw new TypeError('undefined is not iterable');
  };
  const schema = buildSchema('type Query { a: Int } type Subscription { b: Int }');
  const checked = { document: parse('subscription { b }') };
  const admitted = { operation: { operation: 'subscription' }, checked, sharing: '' };
  const { secret } = await domain.tokens.create(domain.access, { name: 't', kind: 'PERSONAL' });
  const { client, acknowledged } = await connect(secret);
  await acknowledged;
  const answers: { id: string; type: string; payload: { extensions: { code: string } }[] }[] = [];
  client.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString()) as (typeof answers)[number]));
  for (const [id, meeting] of [
    ['asked', { admit: broken }],
    ['listened', { admit: async () => admitted, subscribe: async () => broken() }],
    ['at once', { admit: async () => admitted, subscribe: broken }],
  ] as const) {
    Object.assign(operations, { schema, ...meeting });
    client.send(JSON.stringify({ id, type: 'subscribe', payload: { query: 'subscription { b }' } }));
    await expect
      .poll(() => answers.find((answer) => answer.id === id))
      .toMatchObject({
        type: 'error',
        payload: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
      });
  }
  expect([client.readyState, sockets.load.subscriptions]).toEqual([WebSocket.OPEN, 0]);
});

describe('changes that may have been missed', () => {
  const missed = (): Promise<void> => domain.cluster.changed([{ kind: 'everything' }]);
  const ofWorkspace = (): Promise<CreatedToken> =>
    domain.tokens.create(domain.access, { name: 'w', kind: 'INDIVIDUAL', scopes: ['READ'] });
  const opened = async (secret: string) => {
    const socket = await connect(secret);
    await socket.acknowledged;
    return socket;
  };

  test('end what a told change would have ended, as it would have, and nothing else', async () => {
    const { id } = await domain.users.create(domain.access, { email: 'eve@x.org', password: 'password eve' });
    const eve = await opened((await domain.users.signIn('eve@x.org', 'password eve', 'eve')).secret);
    const tokens = await Promise.all([ofWorkspace(), ofWorkspace(), ofWorkspace(), ofWorkspace()]);
    const [same, gone, over, narrowed] = await Promise.all(tokens.map(({ secret }) => opened(secret)));
    // Nobody is told.
    await domain.database.write(async (em) => {
      await em.nativeDelete(TokenSchema, { id: tokens[1]!.token.id });
      await em.nativeUpdate(TokenSchema, { id: tokens[2]!.token.id }, { expiresAt: domain.clock.now - 1 });
      await em.nativeUpdate(TokenSchema, { id: tokens[3]!.token.id }, { productIds: [] });
      const [workspace] = domain.access.workspaceIds() as [string];
      em.create(MemberSchema, { workspace, user: id, role: 'VIEWER' });
    });
    await missed();
    const ended = [eve, gone!, over!, narrowed!].map(({ closed }) => closed);
    expect(await Promise.all(ended)).toEqual([1012, 4403, 4403, 4403]);
    expect(await isOpen(same!)).toBe(true);
  });

  test('are asked for again until the database answers', async () => {
    const { token, secret } = await ofWorkspace();
    const [gone, same] = [await opened(secret), await opened((await ofWorkspace()).secret)];
    await domain.database.write((em) => em.nativeDelete(TokenSchema, { id: token.id }));
    database.refuses = 2;
    await missed();
    expect(await gone.closed).toBe(4403);
    expect(await isOpen(same)).toBe(true);
  });

  test('are asked for by pages, once for what is missed meanwhile', async () => {
    const { token, secret } = await ofWorkspace();
    const many = await Promise.all(Array.from({ length: 450 }, () => opened(secret)));
    await domain.database.write((em) => em.nativeDelete(TokenSchema, { id: token.id }));
    asked.length = 0;
    for (let time = 0; time < 20; time += 1) await missed();
    expect(new Set(await Promise.all(many.map(({ closed }) => closed)))).toEqual(new Set([4403]));
    expect(asked.length).toBeLessThan(10);
  });

  test('are not overlooked by a socket that connects meanwhile', async () => {
    const { token, secret } = await ofWorkspace();
    between = async () => {
      await domain.database.write((em) => em.nativeDelete(TokenSchema, { id: token.id }));
      await missed();
    };
    expect(await (await connect(secret)).closed).toBe(4403);
  });
});

// The last one: it stops the server.
test('who connects while the server begins to stop is told to come again, and not that it may not', async () => {
  const { secret } = await domain.tokens.create(domain.access, { name: 't', kind: 'PERSONAL' });
  // They are closed some at a time, in the order in which they came.
  const others = await Promise.all(Array.from({ length: 100 }, () => connect(secret)));
  await Promise.all(others.map(({ acknowledged }) => acknowledged));
  between = async () => void sockets.stop();
  expect(await (await connect(secret)).closed).toBe(1012);
});
