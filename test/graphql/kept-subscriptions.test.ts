import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { memoryOf } from '../../src/graphql/operation/held-requests.ts';
import type { AdmittedOperation } from '../../src/graphql/operation/operations.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { KeptSubscriptions } from '../../src/graphql/transport/kept-subscriptions.ts';
import { UntilIdle } from '../../src/graphql/transport/until-idle.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

/** A subscription with so many characters in a variable. */
const admitted = (
  characters: number,
  { checked = { bytes: 1000 }, tokenId = 'token', tenant = 'w' } = {},
): AdmittedOperation =>
  ({
    checked,
    context: { access: { tokenId, tenant } },
    bytes: memoryOf({ a: 'x'.repeat(characters) }),
  }) as never;

describe('what subscriptions keep', () => {
  test('is bounded for one, in characters and in values', () => {
    const kept = new KeptSubscriptions();
    expect(() => kept.keep({}, admitted(130_000))).not.toThrow();
    const many = { ...admitted(0), bytes: memoryOf({ x: Array.from({ length: 21_000 }, () => ({})) }) };
    for (const operation of [admitted(132_000), many as never])
      expect(() => kept.keep({}, operation)).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }) as Error);
  });

  test.each([
    ['connection', 32, (one: object) => one, () => 'token'],
    ['token', 258, () => ({}), () => 'token'],
    ['tenant', 1_035, () => ({}), (at: number) => `token ${at % 5}`],
  ])('is bounded for all of a %s, and what has ended is free again', (whose, most, connectionOf, tokenOf) => {
    const kept = new KeptSubscriptions();
    const one = {};
    let at = 0;
    const keep = (): (() => void) => kept.keep(connectionOf(one), admitted(125_000, { tokenId: tokenOf((at += 1)) }));
    const ends = Array.from({ length: most }, keep);
    expect(keep).toThrow(new RegExp(`subscriptions of one ${whose}`));
    expect(() => kept.keep({}, admitted(125_000, { tokenId: 'other', tenant: 'x' }))).not.toThrow();
    ends[3]!();
    ends[3] = keep();
    expect(keep).toThrow(expect.objectContaining({ code: 'OVERLOADED' }) as Error);
    for (const end of ends) end();
    for (let time = 0; time < most; time += 1) keep();
    expect(keep).toThrow();
  });

  test('counts a document once, however many use it', () => {
    const kept = new KeptSubscriptions();
    const connection = {};
    const large = (): AdmittedOperation => admitted(0, { checked: { bytes: 3_000_000 } });
    const same = large();
    const ends = Array.from({ length: 100 }, () => kept.keep(connection, same));
    kept.keep(connection, large());
    expect(() => kept.keep(connection, large())).toThrow(/one connection/);
    for (const end of ends) end();
    expect(() => kept.keep(connection, large())).not.toThrow();
  });

  test('is a little of each, however small, as long as anything works for it', async () => {
    const kept = new KeptSubscriptions();
    const checked = { bytes: 1000 };
    const keep = (): UntilIdle => new UntilIdle(kept.keep({}, admitted(0, { checked })));
    let over = (): void => {};
    const opened = new Promise<void>((resolve) => (over = resolve));
    const gone = Array.from({ length: 8_000 }, keep);
    const opening = gone.map((one) => one.during(() => opened));
    for (const one of gone) one.end();
    expect(() => Array.from({ length: 200 }, keep)).toThrow(/one token/);
    over();
    await Promise.all(opening);
    for (const one of Array.from({ length: 7_900 }, keep)) one.end();
    for (const one of Array.from({ length: 7_900 }, keep)) one.end();
  });

  test('is of the variables those that it declares, and its text once', async () => {
    const operations = new Operations(createSchema(null), new FairScheduler());
    const access = { tokenId: 'token', tenant: 'tenant' };
    const ask = (query: string): Promise<AdmittedOperation> =>
      operations.admit(
        { query, variables: { id: 'a', other: 'x' } },
        new GraphqlContext(access as never, '', {} as never, {} as never),
      );
    const query = 'subscription ($id: ID!) { webhookCalled(productId: $id) { id } }';
    const { request, checked } = await ask(query);
    expect({ ...request.variables }).toEqual({ id: 'a' });
    expect(request.query).toBe(checked.query);
    expect(request.query).toBe(query);
  });
});

describe('a connection', () => {
  let server: TestServer;
  const sockets: WebSocket[] = [];

  beforeAll(async () => {
    server = await startServer({ alone: true, database: 'sqlite' });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.terminate();
  });
  afterAll(async () => {
    await server?.stop();
  });

  /** Sends a message, and gives the next that comes. */
  async function connect(): Promise<(message: object) => Promise<any>> {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    sockets.push(socket);
    await once(socket, 'open');
    const ask = async (message: object): Promise<any> => {
      socket.send(JSON.stringify(message));
      const [data] = (await once(socket, 'message')) as [Buffer];
      return JSON.parse(data.toString());
    };
    expect(await ask({ type: 'connection_init', payload: { token: ADMIN_TOKEN } })).toEqual({ type: 'connection_ack' });
    return ask;
  }

  const QUERY = `subscription ($z: String) { deviceStatusChanged { device {
    history(from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z", timeZone: $z) { truncated } } } }`;
  const subscribe = (id: string, variables: object, more: object = {}) => ({
    id,
    type: 'subscribe',
    payload: { query: QUERY, variables, ...more },
  });

  test('with many subscriptions keeps nothing that they do not declare', async () => {
    const ask = await connect();
    const before = server.process.residentMb();
    const other = Array.from({ length: 120_000 }, () => ({}));
    const message = JSON.stringify(subscribe('0', { other }, { extensions: { other } }));
    for (let at = 0; at < 60; at += 1) sockets.at(-1)!.send(message.replace('"id":"0"', `"id":"${at}"`));
    expect(await ask({ type: 'ping' })).toEqual({ type: 'pong' });
    // Each took 8 MB.
    expect(server.process.residentMb() - before).toBeLessThan(250);
  });

  test('has room for so much together, and again for what has ended or was refused', async () => {
    const ask = await connect();
    const socket = sockets.at(-1)!;
    const variables = { z: 'x'.repeat(125_000) };
    const refused = await ask(subscribe('much', { z: 'x'.repeat(200_000) }));
    expect(refused).toMatchObject({ id: 'much', type: 'error', payload: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
    for (let at = 0; at < 32; at += 1) socket.send(JSON.stringify(subscribe(`${at}`, variables)));
    for (const id of ['32', '33'])
      expect(await ask(subscribe(id, variables))).toMatchObject({
        id,
        type: 'error',
        payload: [{ extensions: { code: 'OVERLOADED' }, message: expect.stringContaining('one connection') }],
      });
    socket.send(JSON.stringify({ id: '7', type: 'complete' }));
    expect(await ask({ type: 'ping' })).toEqual({ type: 'pong' });
    socket.send(JSON.stringify(subscribe('35', variables)));
    expect(await ask({ type: 'ping' })).toEqual({ type: 'pong' });
    expect(await ask(subscribe('36', variables))).toMatchObject({ id: '36', type: 'error' });
    // Those that were refused are none of them.
    const running = async (): Promise<unknown> => {
      const response = await fetch(`${server.url}/metrics`, { headers: { Authorization: `Token ${ADMIN_TOKEN}` } });
      return /^inlet_subscriptions (\d+)/m.exec(await response.text())?.[1];
    };
    await expect.poll(running).toBe('32');
  });
});
