import { once } from 'node:events';
import { connect } from 'node:net';
import { type Client, createClient } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createProduct, DATABASES, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { subscriptionsOf } from '../support/subscribe.ts';
import { createToken } from '../support/tenant.ts';

const LIVE = `subscription ($d: [ID!], $p: ID, $w: ID, $f: [String!], $after: String) {
  measurementsRecorded(deviceIds: $d, productId: $p, workspaceId: $w, fields: $f, after: $after) {
    cursor receivedAt device { id name product { name } } measurements { field { id identifier unit } timestamp value }
  }
}`;

interface Push {
  data?: Record<string, any> | null;
  errors?: readonly { message: string; extensions?: Record<string, unknown> }[];
}

/** Collects what is pushed; `next` waits for one more. */
class Pushes {
  readonly #waiting: ((push: Push) => void)[] = [];
  readonly #come: Push[] = [];

  add(push: Push): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(push);
    else this.#come.push(push);
  }

  next(withinMs = 120_000): Promise<Push> {
    const push = this.#come.shift();
    if (push) return Promise.resolve(push);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('nothing was pushed')), withinMs);
      this.#waiting.push((value) => {
        clearTimeout(timer);
        resolve(value);
      });
    });
  }

  get unread(): number {
    return this.#come.length;
  }
}

/** A raw socket that speaks the protocol by hand. */
class Raw {
  readonly socket: WebSocket;
  readonly messages: Record<string, any>[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(url: string, headers: Record<string, string> = {}, protocol = 'graphql-transport-ws') {
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, protocol, { headers });
    this.socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as Record<string, any>));
    this.closed = new Promise((resolve) =>
      this.socket.once('close', (code: number, reason: Buffer) => resolve({ code, reason: reason.toString() })),
    );
    this.socket.on('error', () => {});
  }

  async open(payload?: Record<string, unknown>): Promise<this> {
    await once(this.socket, 'open');
    this.send({ type: 'connection_init', ...(payload ? { payload } : {}) });
    return this;
  }

  send(message: Record<string, unknown>): void {
    this.socket.send(JSON.stringify(message));
  }

  async until(accept: (message: Record<string, any>) => boolean, withinMs = 120_000): Promise<Record<string, any>> {
    const end = Date.now() + withinMs;
    for (;;) {
      const found = this.messages.find(accept);
      if (found) return found;
      if (Date.now() > end) throw new Error(`not among ${JSON.stringify(this.messages).slice(0, 2000)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

describe.each(DATABASES)('subscriptions on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let product: TestProduct;
  const clients: Client[] = [];
  const raws: Raw[] = [];

  beforeAll(async () => {
    server = await startServer({ alone: true, database });
    workspaceId = (await server.gql('{ workspaces { id } }'))['workspaces'][0].id;
    product = await createProduct(server, {
      fields: { temperature: 'FLOAT', on: 'BOOLEAN' },
      serialNumbers: ['one', 'two'],
    });
  });

  afterEach(async () => {
    await Promise.all(clients.splice(0).map(async (client) => client.dispose()));
    for (const raw of raws.splice(0)) raw.socket.terminate();
    // Who subscribes next counts one more.
    while ((await subscriptions()) > 0);
  });

  afterAll(async () => {
    await server?.stop();
  });

  function raw(...rest: [Record<string, string>?, string?]): Raw {
    const opened = new Raw(server.url, ...rest);
    raws.push(opened);
    return opened;
  }

  /** Subscribed when it resolves: a query behind it on the same socket was answered. */
  async function subscribe(
    query: string,
    variables: Record<string, unknown> = {},
    token = ADMIN_TOKEN,
  ): Promise<Pushes> {
    const url = `${server.url.replace(/^http/, 'ws')}/graphql`;
    const client = createClient({
      url,
      webSocketImpl: WebSocket,
      connectionParams: { token },
      retryAttempts: 0,
      lazy: false,
    });
    clients.push(client);
    const pushes = new Pushes();
    const send = (text: string, values: Record<string, unknown>, to: (push: Push) => void): void => {
      client.subscribe(
        { query: text, variables: values },
        {
          next: (push) => to(push as Push),
          error: (error) => to({ errors: (Array.isArray(error) ? error : [error]) as never }),
          complete: () => {},
        },
      );
    };
    const before = await subscriptions();
    send(query, variables, (push) => pushes.add(push));
    await new Promise<void>((resolve) => send('{ viewer { token { id } } }', {}, () => resolve()));
    // What is refused is told.
    await expect.poll(async () => pushes.unread > 0 || (await subscriptions()) > before, { interval: 5 }).toBe(true);
    return pushes;
  }

  const record = (device: string, entries: unknown) => server.record(device, entries);

  const subscriptions = (): Promise<number> => subscriptionsOf(server.url, ADMIN_TOKEN);

  test('pushes each recorded batch after its commit, as what was recorded', async () => {
    const [one] = product.deviceIds as [string];
    const pushes = await subscribe(LIVE, { d: [one] });
    await record(one, [
      { field: 'temperature', value: '21.5', timestamp: 1_767_225_600.125 },
      { field: 'on', value: 1, timestamp: 1_767_225_600 },
      { field: 'nope', value: 1 },
    ]);
    const { data } = await pushes.next();
    expect(data?.['measurementsRecorded']).toMatchObject({
      device: { id: one, name: 'device one', product: { name: 'product' } },
      measurements: [
        { field: { identifier: 'on' }, timestamp: '2026-01-01T00:00:00.000Z', value: true },
        { field: { identifier: 'temperature' }, timestamp: '2026-01-01T00:00:00.125Z', value: 21.5 },
      ],
    });
    expect(Date.parse(data?.['measurementsRecorded'].receivedAt)).toBeGreaterThan(Date.now() - 60_000);
  });

  test('narrows by device, product, workspace and fields, and what is left over is not pushed', async () => {
    const [one, two] = product.deviceIds as [string, string];
    const other = await createProduct(server, { serialNumbers: ['three'] });
    const [byDevice, byProduct, byWorkspace, byField] = [
      await subscribe(LIVE, { d: [two] }),
      await subscribe(LIVE, { p: product.id }),
      await subscribe(LIVE, { w: workspaceId }),
      await subscribe(LIVE, { p: product.id, f: ['on'] }),
    ];
    await record(one, { field: 'temperature', value: 1 });
    await record(other.deviceIds[0] as string, { field: 'temperature', value: 2 });
    await record(two, [
      { field: 'temperature', value: 3 },
      { field: 'on', value: false },
    ]);
    const idOf = async (pushes: Pushes) => (await pushes.next()).data?.['measurementsRecorded'].device.id;
    expect(await idOf(byDevice)).toBe(two);
    expect([await idOf(byProduct), await idOf(byProduct)]).toEqual([one, two]);
    expect([await idOf(byWorkspace), await idOf(byWorkspace), await idOf(byWorkspace)]).toEqual([
      one,
      other.deviceIds[0],
      two,
    ]);
    const fromField = (await byField.next()).data?.['measurementsRecorded'];
    expect(fromField.measurements).toEqual([expect.objectContaining({ value: false })]);
    for (const pushes of [byDevice, byProduct, byWorkspace, byField]) expect(pushes.unread).toBe(0);
  });

  test('goes on behind the cursor it is given, missing and repeating nothing', async () => {
    const [one] = product.deviceIds as [string];
    const first = await subscribe(LIVE, { d: [one] });
    await record(one, { field: 'temperature', value: 1 });
    const last = (await first.next()).data?.['measurementsRecorded'];
    await clients.splice(0)[0]?.dispose();
    await expect.poll(subscriptions, { interval: 5 }).toBe(0);
    await record(one, { field: 'temperature', value: 2 });
    const second = await subscribe(LIVE, { d: [one], after: last.cursor });
    await record(one, { field: 'temperature', value: 3 });
    const values = [await second.next(), await second.next()].map(
      (push) => push.data?.['measurementsRecorded'].measurements[0].value,
    );
    expect(values).toEqual([2, 3]);
    expect((await (await subscribe(LIVE, { after: 'nonsense' })).next()).errors?.[0]?.extensions?.['code']).toBe(
      'BAD_USER_INPUT',
    );
  });

  test('pushes the changed name of a device and the changed unit of a field at once', async () => {
    const changing = await createProduct(server, { serialNumbers: ['changing'] });
    const [device] = changing.deviceIds as [string];
    const pushes = await subscribe(LIVE, { d: [device] });
    await record(device, { field: 'temperature', value: 1 });
    const before = (await pushes.next()).data?.['measurementsRecorded'];
    expect([before.device.name, before.measurements[0].field.unit]).toEqual(['device changing', null]);
    await server.gql(
      `mutation ($d: ID!, $f: ID!) {
         updateDevice(id: $d, input: { name: "changed" }) { id } updateField(id: $f, input: { unit: "K" }) { id } }`,
      { d: device, f: before.measurements[0].field.id },
    );
    await record(device, { field: 'temperature', value: 2 });
    const after = (await pushes.next()).data?.['measurementsRecorded'];
    expect([after.device.name, after.measurements[0].field.unit]).toEqual(['changed', 'K']);
  });

  test('shows a token what it may read and nothing else', async () => {
    const [one, two] = product.deviceIds as [string, string];
    const limited = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ'], { deviceIds: [two] });
    const recording = await createToken(server, ADMIN_TOKEN, workspaceId, ['RECORD']);
    const codeOf = async (variables: Record<string, unknown>, token: string) =>
      (await (await subscribe(LIVE, variables, token)).next()).errors?.[0]?.extensions?.['code'];
    expect(await codeOf({ d: [one] }, limited.secret)).toBe('NOT_FOUND');
    expect(await codeOf({ d: [two, one] }, limited.secret)).toBe('NOT_FOUND');
    expect(await codeOf({ p: product.id }, limited.secret)).toBe('NOT_FOUND');
    expect(await codeOf({}, recording.secret)).toBe('FORBIDDEN');
    expect(await codeOf({ d: [] }, ADMIN_TOKEN)).toBe('BAD_USER_INPUT');
    expect(await codeOf({ p: product.id, f: ['nope'] }, ADMIN_TOKEN)).toBe('BAD_USER_INPUT');
    // Beside one that asks for the same and may see more.
    const all = await subscribe(LIVE, {});
    const pushes = await subscribe(LIVE, {}, limited.secret);
    await record(one, { field: 'temperature', value: 1 });
    await record(two, { field: 'temperature', value: 2 });
    const idOf = async (of: Pushes) => (await of.next()).data?.['measurementsRecorded'].device.id;
    expect([await idOf(all), await idOf(all)]).toEqual([one, two]);
    expect(await idOf(pushes)).toBe(two);
    expect(pushes.unread).toBe(0);
  });

  test('equal subscriptions are told the same, and of each token only what that one may see', async () => {
    const [one] = product.deviceIds as [string];
    const reading = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ']);
    const query =
      'subscription ($p: ID, $after: String) { measurementsRecorded(productId: $p, after: $after) { cursor device { product { webhookUrl } } } }';
    const all = [
      await subscribe(query, { p: product.id }),
      await subscribe(query, { p: product.id }),
      await subscribe(query, { p: product.id }, reading.secret),
      await subscribe(query, { p: product.id }, reading.secret),
    ];
    await record(one, { field: 'temperature', value: 1 });
    const [first, second, third, fourth] = await Promise.all(all.map((pushes) => pushes.next()));
    expect(first?.data?.['measurementsRecorded'].device.product.webhookUrl).toMatch(/^http/);
    expect(second).toEqual(first);
    for (const refused of [third, fourth]) {
      expect(refused?.data).toBeNull();
      expect(refused?.errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN');
    }
    // Wherever it begins.
    const resumed = await subscribe(query, {
      p: product.id,
      after: first?.data?.['measurementsRecorded'].cursor as string,
    });
    await record(one, { field: 'temperature', value: 2 });
    expect(await resumed.next()).toEqual(await all[0]!.next());
  });

  test('pushes the calls of one product', async () => {
    const called = await createProduct(server, { input: { decoder: 'function Decoder() { return [] }' } });
    const pushes = await subscribe(
      'subscription ($p: ID!) { webhookCalled(productId: $p) { method path body status } }',
      {
        p: called.id,
      },
    );
    await fetch(`${server.url}/integrations/api/${called.webhookId}/x`, { method: 'POST', body: 'hello' });
    expect((await pushes.next()).data?.['webhookCalled']).toEqual({
      method: 'POST',
      path: `/integrations/api/${called.webhookId}/x`,
      body: 'hello',
      status: 'NOTHING_STORED',
    });
  });

  describe('the socket', () => {
    /** Its time runs out while the others are tried. */
    let silent: Raw;
    beforeAll(async () => {
      silent = new Raw(server.url);
      await once(silent.socket, 'open');
    });

    test.each<[string, Record<string, unknown> | undefined, Record<string, string>]>([
      ['connectionParams.token', { token: ADMIN_TOKEN }, {}],
      ['connectionParams.token with a scheme', { token: `Bearer ${ADMIN_TOKEN}` }, {}],
      ['connectionParams.Authorization', { Authorization: `Token ${ADMIN_TOKEN}` }, {}],
      ['connectionParams.authorization', { authorization: `bearer ${ADMIN_TOKEN}` }, {}],
      ['the Authorization header', undefined, { Authorization: `Token ${ADMIN_TOKEN}` }],
    ])('takes the token from %s', async (_, params, headers) => {
      const socket = await raw(headers).open(params);
      await socket.until((message) => message['type'] === 'connection_ack');
      socket.send({ id: '1', type: 'subscribe', payload: { query: '{ workspaces { id } }' } });
      const { payload } = await socket.until((message) => message['id'] === '1');
      expect(payload).toEqual({ data: { workspaces: [{ id: workspaceId }] } });
    });

    test.each<[string, Record<string, unknown> | undefined]>([
      ['no token', undefined],
      ['an empty token', { token: '' }],
      ['an unknown token', { token: 'nobody-has-this-token-0123456789abcdef' }],
      ['a token that is no text', { token: { a: 1 } }],
    ])('is closed with 4403 and a reason for %s', async (_, params) => {
      const { code, reason } = await (await raw().open(params)).closed;
      expect(code).toBe(4403);
      expect(reason).not.toBe('');
    });

    test('is closed when it asks before it was acknowledged, speaks another protocol or sends rubbish', async () => {
      const early = raw();
      await once(early.socket, 'open');
      early.send({ id: '1', type: 'subscribe', payload: { query: '{ plans { slug } }' } });
      expect((await early.closed).code).toBe(4401);
      const rubbish = await raw().open({ token: ADMIN_TOKEN });
      rubbish.socket.send('{');
      expect((await rubbish.closed).code).toBe(4400);
      expect((await raw({}, 'graphql-ws').closed).code).toBeGreaterThan(1000);
    });

    test('is closed with the code of the protocol for each mistake, and answers pings', async () => {
      const twice = await raw().open({ token: ADMIN_TOKEN });
      await twice.until((message) => message['type'] === 'connection_ack');
      twice.send({ type: 'ping', payload: { n: 1 } });
      expect(await twice.until((message) => message['type'] === 'pong')).toEqual({ type: 'pong', payload: { n: 1 } });
      twice.send({ type: 'pong' });
      twice.send({ type: 'connection_init', payload: { token: ADMIN_TOKEN } });
      expect((await twice.closed).code).toBe(4429);

      for (const id of ['1', 'x'.repeat(300)]) {
        const same = await raw().open({ token: ADMIN_TOKEN });
        await same.until((message) => message['type'] === 'connection_ack');
        same.send({ id, type: 'subscribe', payload: { query: LIVE } });
        same.send({ id, type: 'subscribe', payload: { query: LIVE } });
        expect((await same.closed).code).toBe(4409);
      }

      const unknown = await raw().open({ token: ADMIN_TOKEN });
      await unknown.until((message) => message['type'] === 'connection_ack');
      unknown.send({ type: 'nonsense' });
      expect((await unknown.closed).code).toBe(4400);
    });

    test('refuses an operation whose variables are too deep or have too many keys, and goes on with the others', async () => {
      const socket = await raw().open({ token: ADMIN_TOKEN });
      await socket.until((message) => message['type'] === 'connection_ack');
      socket.send({ id: 'live', type: 'subscribe', payload: { query: LIVE, variables: { d: product.deviceIds } } });
      const keys = Array.from({ length: 20_000 }, (_, at) => `"k${at}":0`).join();
      const tooMuch = { deep: `${'['.repeat(50_000)}${']'.repeat(50_000)}`, many: `{${keys}}` };
      for (const [id, value] of Object.entries(tooMuch)) {
        const query = 'query ($x: JSON) { workspaces { id } }';
        const text = `{"id":"${id}","type":"subscribe","payload":{"query":"${query}","variables":{"x":${value}}}}`;
        socket.socket.send(text);
        const { type, payload } = await socket.until((message) => message['id'] === id);
        const message = expect.stringMatching(/is nested deeper than 600 levels|has too many keys/);
        expect({ type, payload }).toEqual({
          type: 'error',
          payload: [{ message, extensions: { code: 'BAD_USER_INPUT' } }],
        });
      }
      socket.send({ id: 'deep', type: 'subscribe', payload: { query: '{ workspaces { id } }' } });
      await socket.until(({ id, type }) => id === 'deep' && type === 'complete');
      await record(product.deviceIds[0]!, { field: 'temperature', value: 1 });
      await socket.until(({ id, type }) => id === 'live' && type === 'next');
    });

    test('takes an id again that its client has just ended: one subscription is there, and it is told', async () => {
      const socket = await raw().open({ token: ADMIN_TOKEN });
      await socket.until((message) => message['type'] === 'connection_ack');
      const query = `subscription ($d: [ID!], $isLast: Boolean!) {
        measurementsRecorded(deviceIds: $d) { ofLast: cursor @include(if: $isLast) measurements { value } }
      }`;
      const subscribe = (isLast: boolean): void =>
        socket.send({
          id: '1',
          type: 'subscribe',
          payload: { query, variables: { d: [product.deviceIds[0]], isLast } },
        });
      for (let time = 0; time < 8; time += 1) {
        subscribe(false);
        socket.send({ id: '1', type: 'complete' });
      }
      subscribe(true);
      const told = (): { value: number; ofLast: boolean }[] =>
        socket.messages
          .filter(({ type }) => type === 'next')
          .map(({ payload }) => payload.data.measurementsRecorded)
          .map(({ ofLast, measurements }) => ({ value: measurements[0].value, ofLast: ofLast !== undefined }));
      let value = 0;
      const tell = () => record(product.deviceIds[0]!, { field: 'temperature', value: (value += 1) });
      // One that was ended may be told until its end was read. When the last one has begun is seen by what it is told.
      while (!told().at(-1)?.ofLast) await tell();
      for (let more = 0; more < 3; more += 1) await tell();
      await expect.poll(() => told().at(-1)?.value).toBe(value);
      const since = told().slice(told().findIndex(({ ofLast }) => ofLast));
      expect(since).toEqual(since.map((_, index) => ({ value: value - since.length + 1 + index, ofLast: true })));
      expect(await subscriptions()).toBe(1);
      socket.socket.close();
      await expect.poll(subscriptions).toBe(0);
    });

    test('is closed for a message over the body limit', async () => {
      const socket = await raw().open({ token: ADMIN_TOKEN });
      await socket.until((message) => message['type'] === 'connection_ack');
      socket.send({ id: '1', type: 'subscribe', payload: { query: `{ plans { slug } } # ${'x'.repeat(1_100_000)}` } });
      expect((await socket.closed).code).toBe(1009);
    });

    test('answers queries and mutations with the limits, access and error codes of HTTP', async () => {
      const { secret } = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ']);
      const socket = await raw().open({ token: secret });
      await socket.until((message) => message['type'] === 'connection_ack');
      let id = 0;
      const ask = async (query: string, variables: Record<string, unknown> = {}): Promise<Record<string, any>> => {
        id += 1;
        const mine = String(id);
        socket.send({ id: mine, type: 'subscribe', payload: { query, variables } });
        return socket.until((message) => message['id'] === mine && message['type'] !== 'complete');
      };
      expect((await ask('{ plans { slug } }'))['payload'].data.plans).toHaveLength(3);
      const codeOf = async (query: string, variables?: Record<string, unknown>): Promise<unknown> => {
        const { payload } = await ask(query, variables);
        return (Array.isArray(payload) ? payload : payload.errors)[0].extensions.code;
      };
      expect(await codeOf('{ plans {')).toBe('GRAPHQL_PARSE_FAILED');
      expect(await codeOf('{ nope }')).toBe('GRAPHQL_VALIDATION_FAILED');
      expect(await codeOf('query ($n: Int) { products(first: $n) { edges { cursor } } }', { n: 'x' })).toBe(
        'BAD_USER_INPUT',
      );
      expect(await codeOf('{ products(first: 0) { edges { cursor } } }')).toBe('BAD_USER_INPUT');
      expect(await codeOf('mutation { createWorkspace(name: "x") { id } }')).toBe('FORBIDDEN');
      expect(await codeOf('query A { plans { slug } } query B { plans { slug } }')).toBe('BAD_USER_INPUT');
      expect(await codeOf(`{ ${'plans { slug } '.repeat(2000)} }`)).toBe('QUERY_TOO_COMPLEX');
      expect(
        await codeOf('{ products(first: 500) { edges { node { devices(first: 500) { edges { node { id } } } } } } }'),
      ).toBe('QUERY_TOO_COMPLEX');
    });

    test('of a subscription that leaves itself out nothing runs; the others on its socket do', async () => {
      const socket = await raw().open({ token: ADMIN_TOKEN });
      await socket.until((message) => message['type'] === 'connection_ack');
      const send = (id: string, query: string, variables: Record<string, unknown> = {}): void =>
        socket.send({ id, type: 'subscribe', payload: { query, variables } });
      const [one] = product.deviceIds as [string];
      send('other', LIVE, { d: [one] });
      const field = 'measurementsRecorded { cursor }';
      const deciding = `subscription ($v: Boolean!) { measurementsRecorded(deviceIds: ["${one}"]) @include(if: $v) { cursor } deviceStatusChanged @skip(if: $v) { at } }`;
      const refused: [string, Record<string, unknown>?][] = [
        [`subscription { measurementsRecorded @skip(if: true) { cursor } }`],
        [`subscription { measurementsRecorded @include(if: false) { cursor } }`],
        [`subscription { ...F @skip(if: true) } fragment F on Subscription { ${field} }`],
        [`subscription { ... @include(if: false) { ${field} } }`],
        [`subscription ($v: Boolean = false) { ... @include(if: $v) { ${field} } }`],
        [`subscription ($v: Boolean!) { measurementsRecorded @include(if: $v) { cursor } }`, { v: false }],
      ];
      for (const [query, variables] of refused) {
        send(query, query, variables);
        const { type, payload } = await socket.until(({ id }) => id === query);
        expect([type, payload[0].extensions.code]).toEqual(['error', 'BAD_USER_INPUT']);
        expect(payload[0].message).toContain('Nothing of this subscription is left to run');
      }
      const mistaken: [string, string, Record<string, unknown>?][] = [
        ['GRAPHQL_VALIDATION_FAILED', 'subscription { measurementsRecorded @skip { cursor } }'],
        ['BAD_USER_INPUT', 'subscription { measurementsRecorded @skip(if: 3) { cursor } }'],
        [
          'BAD_USER_INPUT',
          `subscription ($v: Boolean!) { ${field} deviceStatusChanged @skip(if: $v) { at } }`,
          { v: false },
        ],
        ['BAD_USER_INPUT', 'subscription ($v: Boolean!) { __typename @include(if: $v) }', { v: true }],
      ];
      for (const [code, query, variables] of mistaken) {
        send(query, query, variables);
        const { type, payload } = await socket.until(({ id }) => id === query);
        expect([query, type, payload[0].extensions.code]).toEqual([query, 'error', code]);
      }
      send('unfit', deciding, { v: 'x' });
      expect((await socket.until(({ id }) => id === 'unfit'))['payload'].errors[0].extensions.code).toBe(
        'BAD_USER_INPUT',
      );
      // What variables leave is listened to.
      send('deciding', deciding, { v: true });
      for (const [id, query] of [
        ['query', '{ viewer @skip(if: true) { token { id } } }'],
        ['mutation', 'mutation { createWorkspace(name: "never") @include(if: false) { id } }'],
      ] as const) {
        send(id, query);
        expect((await socket.until((message) => message['id'] === id))['payload']).toEqual({ data: {} });
        expect(await server.query(query)).toEqual({ data: {} });
      }
      await record(one, { field: 'temperature', value: 1 });
      for (const id of ['other', 'deciding'])
        expect(
          (await socket.until((message) => message['id'] === id))['payload'].data.measurementsRecorded,
        ).toBeTruthy();
      expect(server.process.lines.filter((line) => line['level'] === 'error' || line['level'] === 50)).toEqual([]);
    });

    test('runs at most 100 operations at once', async () => {
      const socket = await raw().open({ token: ADMIN_TOKEN });
      await socket.until((message) => message['type'] === 'connection_ack');
      for (let i = 0; i <= 100; i += 1) socket.send({ id: String(i), type: 'subscribe', payload: { query: LIVE } });
      const refused = await socket.until((message) => message['type'] === 'error');
      expect([refused['id'], refused['payload'][0].extensions.code]).toEqual(['100', 'OVERLOADED']);
    });

    test('is closed when its token is revoked or expires, and pushes nothing from then on', async () => {
      const [one] = product.deviceIds as [string];
      const revoked = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ']);
      const expiring = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ'], {
        expiresAt: new Date(Date.now() + 10_000).toISOString(),
      });
      const open = async (token: string): Promise<Raw> => {
        const socket = await raw().open({ token });
        await socket.until((message) => message['type'] === 'connection_ack');
        socket.send({ id: '1', type: 'subscribe', payload: { query: LIVE } });
        socket.send({ id: '2', type: 'subscribe', payload: { query: '{ plans { slug } }' } });
        await socket.until((message) => message['id'] === '2' && message['type'] === 'complete');
        return socket;
      };
      const [first, second] = [await open(revoked.secret), await open(expiring.secret)];
      await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: revoked.id });
      await record(one, { field: 'temperature', value: 1 });
      expect((await first.closed).code).toBe(4403);
      expect(first.messages.filter((message) => message['id'] === '1')).toEqual([]);
      await second.until((message) => message['id'] === '1');
      expect(await second.closed).toEqual({ code: 4403, reason: 'the token has expired' });
    });

    test('still answers the mutation by which a token revokes itself', async () => {
      const token = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ', 'ADMIN']);
      const socket = await raw().open({ token: token.secret });
      await socket.until((message) => message['type'] === 'connection_ack');
      socket.send({ id: '1', type: 'subscribe', payload: { query: `mutation { revokeToken(id: "${token.id}") }` } });
      expect((await socket.closed).code).toBe(4403);
      expect(socket.messages).toContainEqual({ id: '1', type: 'next', payload: { data: { revokeToken: token.id } } });
    });

    test('is not given to other paths', async () => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.write(
        'GET /other HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      );
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 404/);
      // Gone for good, although this side never ends.
      await once(socket, 'close');
    });

    test('is closed when it says nothing, and none of it is an error', async () => {
      expect((await silent.closed).code).toBe(4408);
      expect(server.process.lines.filter((line) => line['level'] === 'error' || line['level'] === 50)).toEqual([]);
    });
  });

  test('a subscriber that reads nothing is closed with a reason and the server stays small', async () => {
    const big = await createProduct(server, { fields: { text: 'STRING' }, serialNumbers: ['big'] });
    const [device] = big.deviceIds as [string];
    const socket = await raw().open({ token: ADMIN_TOKEN });
    await socket.until((message) => message['type'] === 'connection_ack');
    socket.send({ id: '1', type: 'subscribe', payload: { query: LIVE, variables: { d: [device] } } });
    socket.send({ id: '2', type: 'subscribe', payload: { query: '{ plans { slug } }' } });
    await socket.until((message) => message['id'] === '2');
    socket.socket.pause();
    const text = 'x'.repeat(2000);
    for (let round = 0; round < 60; round += 1) {
      const entries = Array.from({ length: 200 }, (_, i) => ({
        field: 'text',
        value: text,
        timestamp: 1.6e9 + round * 1000 + i,
      }));
      expect((await record(device, entries)).status).toBe(200);
    }
    // A healthy subscriber is served meanwhile.
    const healthy = await subscribe(LIVE, { d: [device] });
    await record(device, { field: 'text', value: 'short' });
    expect((await healthy.next()).data?.['measurementsRecorded'].measurements[0].value).toBe('short');
    expect(server.process.residentMb()).toBeLessThan(400);
    // It goes on from there until the queue that is kept for it is over its bound.
    for (let round = 0; round < 60; round += 1) {
      const entries = Array.from({ length: 500 }, (_, i) => ({
        field: 'text',
        value: 'y',
        timestamp: 1.7e9 + round * 1000 + i,
      }));
      await record(device, entries);
    }
    socket.socket.resume();
    expect(await socket.closed).toMatchObject({ code: 1013, reason: expect.stringContaining('too slow') as string });
  });
});

test('a stopping server answers what runs on a socket, then closes it so that clients connect again', async () => {
  const server = await startServer({ database: 'sqlite' });
  const product = await createProduct(server);
  const socket = new Raw(server.url);
  await socket.open({ token: ADMIN_TOKEN });
  await socket.until((message) => message['type'] === 'connection_ack');
  socket.send({ id: '1', type: 'subscribe', payload: { query: LIVE } });
  socket.send({
    id: '2',
    type: 'subscribe',
    payload: {
      query: `mutation { recordMeasurements(deviceId: "${product.deviceIds[0]}", entries: [{ field: "temperature", value: 1 }]) { stored } }`,
    },
  });
  const stopping = server.stop();
  expect((await socket.closed).code).toBe(1012);
  await stopping;
});
