import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createDatabase,
  createProduct,
  DATABASES,
  EITHER_DATABASE,
  startServer,
  type TestDatabase,
  type TestProduct,
  type TestServer,
} from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';
import { createMember, createToken } from '../support/tenant.ts';
import { callsOf, callWebhook, CALL_FIELDS, historyOf, latestOf, saveDecoder } from './webhook-client.ts';

const BROKEN = 'function Decoder(r) { return { device: "d1", field: "T", value: JSON.parse(r.body).temp } }';
const MENDED = 'function Decoder(r) { return { device: "d1", field: "T", value: +r.body } }';

describe.each(DATABASES)('replay on %s', (database) => {
  let stored: TestDatabase;
  let server: TestServer;
  let product: TestProduct;
  beforeAll(async () => {
    stored = await createDatabase(database);
    server = await startServer({ database: stored, env: { CALL_LOG_BODY_BYTES: '100' } });
  });
  afterAll(async () => {
    await server?.stop();
    await stored?.drop();
  });
  beforeEach(async () => {
    product = await createProduct(server, { fields: { T: 'FLOAT', N: 'FLOAT' }, serialNumbers: ['d1'] });
  });

  const replay = (args: Record<string, unknown>) =>
    server.query(
      `mutation ($id: ID!, $callIds: [ID!], $from: DateTime, $to: DateTime, $status: [CallStatus!], $dryRun: Boolean) {
         replayCalls(productId: $id, callIds: $callIds, from: $from, to: $to, status: $status, dryRun: $dryRun) {
           calls stored rejected failed results { call { id status body } run { ok error { kind } entries { value code timestamp } } } } }`,
      { id: product.id, ...args },
    );
  const codeOf = (answer: { errors?: { extensions: { code: string } }[] }) => answer.errors?.[0]?.extensions.code;
  const send = async (...bodies: string[]) => {
    for (const body of bodies) await callWebhook(server, product, { body });
  };

  test('from is inclusive and to exclusive, for calls that are named too', async () => {
    await saveDecoder(server, product.id, MENDED);
    await send('1');
    const [call] = await callsOf(server, product.id);
    const { id, receivedAt } = call!;
    const callsIn = async (args: Record<string, unknown>) => (await replay(args)).data?.['replayCalls'].calls;
    for (const named of [{ callIds: [id] }, {}]) {
      expect(await callsIn({ ...named, from: receivedAt })).toBe(1);
      expect(await callsIn({ ...named, to: receivedAt })).toBe(0);
      expect(await callsIn({ ...named, to: new Date(Date.parse(receivedAt) + 1).toISOString() })).toBe(1);
    }
  });

  test('failed calls go through the mended decoder, under their original receipt time', async () => {
    await saveDecoder(server, product.id, BROKEN);
    await send('{"temp":1}', 'oops', '3.5');
    await saveDecoder(server, product.id, MENDED);
    const answer = await replay({ status: ['DECODER_FAILED'] });
    expect(answer.data?.['replayCalls']).toMatchObject({
      calls: 1,
      stored: 0,
      rejected: 1,
      failed: 0,
      results: [
        { call: { status: 'NOTHING_STORED', body: 'oops' }, run: { ok: true, entries: [{ code: 'INVALID_VALUE' }] } },
      ],
    });
    // "3.5" has no temp: MISSING_VALUE is no failure of the decoder.
    const all = await replay({ status: ['NOTHING_STORED'] });
    expect(all.data?.['replayCalls']).toMatchObject({ calls: 2, stored: 1, rejected: 1 });
    const [last, middle, first] = await callsOf(server, product.id);
    expect([first, middle, last].map((call) => [call!.status, call!.decoderVersion, call!.httpStatus])).toEqual([
      ['STORED', 1, 200],
      ['NOTHING_STORED', 2, 202],
      ['STORED', 2, 200],
    ]);
    expect(await historyOf(server, product.deviceIds[0]!, 'T')).toEqual([
      [Date.parse(first!.receivedAt) / 1000, 1],
      [Date.parse(last!.receivedAt) / 1000, 3.5],
    ]);
  });

  test('replaying twice stores the same keys; dryRun stores and changes nothing', async () => {
    await send('1', '2');
    await saveDecoder(server, product.id, MENDED);
    const dry = await replay({ status: ['NO_DECODER'], dryRun: true });
    expect(dry.data?.['replayCalls']).toMatchObject({
      calls: 2,
      stored: 2,
      results: [{ call: { status: 'NO_DECODER' }, run: { entries: [{ value: 1, code: null }] } }, {}],
    });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({});
    expect((await callsOf(server, product.id)).map(({ status }) => status)).toEqual(['NO_DECODER', 'NO_DECODER']);
    await replay({ status: ['NO_DECODER'] });
    const before = await historyOf(server, product.deviceIds[0]!, 'T');
    expect((await replay({ from: '2000-01-01T00:00:00Z' })).data?.['replayCalls']).toMatchObject({
      calls: 2,
      stored: 2,
    });
    expect(await historyOf(server, product.deviceIds[0]!, 'T')).toEqual(before);
    expect(before).toHaveLength(2);
  });

  type Loss = (place: { workspaceId: string; tokenId: string; userId: string; otherId: string }) => [string, object];
  const LOSSES: [how: string, code: string, lose: Loss][] = [
    ['is revoked', 'UNAUTHENTICATED', ({ tokenId }) => ['revokeToken(id: $id)', { id: tokenId }]],
    [
      'is limited to another product',
      'NOT_FOUND',
      ({ tokenId, otherId }) => [
        'updateToken(id: $id, input: { productIds: [$p] }) { id }',
        { id: tokenId, p: otherId },
      ],
    ],
    [
      'is of a user who becomes a VIEWER',
      'FORBIDDEN',
      ({ workspaceId, userId }) => [
        'setMember(workspaceId: $w, userId: $u, role: VIEWER) { id }',
        { w: workspaceId, u: userId },
      ],
    ],
  ];

  // One at a time, as it mentions what is stored.
  const SLOW = `function Decoder(r) { measurements; var end = Date.now() + 60; while (Date.now() < end);
    return { device: "d1", field: "T", value: 42, timestamp: +r.body } }`;
  const progress = async () => {
    const query = 'query ($id: ID!) { product(id: $id) { replayProgress { calls stored endedBecause } } }';
    return (await server.gql(query, { id: product.id }))['product'].replayProgress;
  };

  /** For what is decided before the database is asked. */
  const onEither = EITHER_DATABASE.includes(database) ? test : () => {};

  onEither('a decoder that is saved meanwhile decodes what comes next', async () => {
    await saveDecoder(server, product.id, 'function Decoder() { return [] }');
    await send(...Array.from({ length: 30 }, (_, at) => String(1_000_000_000 + at)));
    await saveDecoder(server, product.id, SLOW);
    const replayed = replay({});
    await expect.poll(async () => (await progress())?.calls ?? 0, { interval: 20 }).toBeGreaterThan(2);
    await saveDecoder(server, product.id, MENDED.replace('+r.body', '43, timestamp: +r.body'));
    const done = (await progress())?.calls ?? 30;
    expect((await replayed).errors).toBeUndefined();
    const values = (await historyOf(server, product.deviceIds[0]!, 'T')).map(([, value]) => value);
    expect(values).toHaveLength(30);
    // The one under way was begun by the one before.
    expect(values.filter((value) => value === 42).length).toBeLessThanOrEqual(done + 1);
    expect(values.at(-1)).toBe(43);
  });

  // Who loses it, and how, the database does not learn.
  const losses = EITHER_DATABASE.includes(database) ? LOSSES : LOSSES.slice(0, 1);
  test.each(losses)('one whose token %s ends before its next commit, and says so', async (_how, code, lose) => {
    const CALLS = 30;
    const workspaceId: string = (await server.gql('{ workspaces { id } }'))['workspaces'][0].id;
    const { id: otherId } = await createProduct(server);
    const { userId, token } = await createMember(server, workspaceId, 'EDITOR');
    const individual = await createToken(server, server.adminToken, workspaceId, ['READ', 'CONFIGURE']);
    const secret = code === 'FORBIDDEN' ? token : individual.secret;
    await saveDecoder(server, product.id, 'function Decoder() { return [] }');
    await send(...Array.from({ length: CALLS }, (_, at) => String(1_000_000_000 + at)));
    await saveDecoder(server, product.id, SLOW);
    const running = 'mutation ($id: ID!) { replayCalls(productId: $id) { calls } }';
    const replayed = server.query(running, { id: product.id }, secret);
    await expect.poll(async () => (await progress())?.calls ?? 0, { interval: 20 }).toBeGreaterThan(2);
    expect((await progress()).endedBecause).toBeNull();
    const [mutation, variables] = lose({ workspaceId, tokenId: individual.id, userId, otherId });
    const names = Object.keys(variables).map((name) => `$${name}: ID!`);
    await server.gql(`mutation (${names.join()}) { ${mutation} }`, variables);
    const { calls } = await progress();
    const [error] = (await replayed).errors ?? [];
    expect(error?.extensions).toMatchObject({ code, calls: expect.any(Number), stored: expect.any(Number) });
    expect(error!.extensions['calls']).toBeLessThanOrEqual(calls + 1);
    const stored = (await historyOf(server, product.deviceIds[0]!, 'T')).length;
    expect(stored).toBe(error!.extensions['stored']);
    expect(stored).toBeLessThan(CALLS);
    const after = { calls: error!.extensions['calls'], stored, endedBecause: error!.message };
    expect(await progress()).toEqual(after);
    // Of one that runs all its calls nothing is left.
    await replay({ to: '2000-01-01T00:00:00Z' });
    expect(await progress()).toBeNull();
  });

  onEither('many calls of thousands of entries are all run, and as many shown as an answer holds', async () => {
    await saveDecoder(server, product.id, MENDED);
    await send('1', '2', '3', '4');
    const many =
      'function Decoder() { return Array.from({ length: 2500 }, (_, n) => ({ device: "d1", field: "T", value: n, timestamp: 1.7e9 + n })); }';
    await saveDecoder(server, product.id, many);
    const { calls, stored: values, results } = (await replay({ dryRun: true })).data!['replayCalls'];
    expect([calls, values, results.length]).toEqual([4, 10_000, 2]);
  });

  test("calls are chosen by id, time and status together; other products' calls are NOT_FOUND", async () => {
    await saveDecoder(server, product.id, MENDED);
    await send('1', '2', '3');
    const calls = await callsOf(server, product.id);
    const ids = calls.map(({ id }) => id);
    const chosen = async (args: Record<string, unknown>) =>
      (await replay({ dryRun: true, ...args })).data?.['replayCalls'].results.map((result: any) => result.call.id);
    expect(await chosen({ callIds: [ids[0], ids[2], ids[0]] })).toEqual([ids[2], ids[0]]);
    expect(await chosen({ callIds: ids, status: ['DECODER_FAILED'] })).toEqual([]);
    const middle = calls[1]!.receivedAt;
    expect(await chosen({ from: middle })).toEqual(
      calls
        .filter((call) => call.receivedAt >= middle)
        .map(({ id }) => id)
        .reverse(),
    );
    expect(await chosen({ to: middle })).toEqual(
      calls
        .filter((call) => call.receivedAt < middle)
        .map(({ id }) => id)
        .reverse(),
    );
    const other = await createProduct(server, { serialNumbers: [] });
    await callWebhook(server, other, { body: 'x' });
    const foreign = (await callsOf(server, other.id))[0]!.id;
    expect(codeOf(await replay({ callIds: [ids[0], foreign] }))).toBe('NOT_FOUND');
    expect(codeOf(await replay({ callIds: ['nonsense\u0000'] }))).toBe('NOT_FOUND');
  });

  test('without a choice every logged call is replayed', async () => {
    await send('1', '2', '3');
    await saveDecoder(server, product.id, MENDED);
    expect((await replay({})).data?.['replayCalls']).toMatchObject({ calls: 3, stored: 3, failed: 0 });
  });

  test('the log is rewritten in one commit for some calls', async () => {
    if (database === 'sqlite') return;
    await saveDecoder(server, product.id, MENDED);
    await send(...Array.from({ length: 25 }, (_, at) => `${at}`));
    const client = new pg.Client({ connectionString: stored.url });
    await client.connect();
    const commits = `SELECT count(DISTINCT call.xmin::text)::int4 AS count FROM webhook_call AS call
      JOIN product ON product.key = product_key WHERE product.id = $1`;
    const count = async (): Promise<number> => (await client.query(commits, [product.id])).rows[0].count;
    try {
      expect(await count()).toBe(25);
      expect((await replay({})).data?.['replayCalls']).toMatchObject({ calls: 25, stored: 25 });
      expect(await count()).toBe(3);
    } finally {
      await client.end();
    }
  });

  test('bad choices are refused', async () => {
    expect(codeOf(await replay({ status: ['NO_DECODER'] }))).toBe('BAD_USER_INPUT'); // no decoder yet
    await saveDecoder(server, product.id, MENDED);
    expect(codeOf(await replay({ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }))).toBe('BAD_USER_INPUT');
    expect(codeOf(await replay({ callIds: Array.from({ length: 1001 }, () => product.id) }))).toBe('BAD_USER_INPUT');
  });

  test('a call whose body was cut counts as failed, and the log keeps what it says', async () => {
    await saveDecoder(server, product.id, MENDED);
    await send(`${' '.repeat(200)}7`);
    const answer = await replay({ status: ['STORED'] });
    expect(answer.data?.['replayCalls']).toMatchObject({
      calls: 1,
      stored: 0,
      failed: 1,
      results: [{ call: { status: 'STORED' }, run: { ok: false, error: { kind: 'BODY_TRUNCATED' } } }],
    });
    expect(await callsOf(server, product.id)).toMatchObject([{ status: 'STORED', run: { ok: true } }]);
  });

  test('a decoder that looks at the last values sees those of the call before', async () => {
    await send('5', '8', '20');
    await saveDecoder(
      server,
      product.id,
      `function Decoder(r) {
         var last = measurements[deviceSerialToId.d1].T;
         return [{ device: "d1", field: "T", value: +r.body }, { device: "d1", field: "N", value: last.value === null ? -1 : r.body - last.value }];
       }`,
    );
    expect((await replay({ status: ['NO_DECODER'] })).data?.['replayCalls']).toMatchObject({ calls: 3, stored: 6 });
    expect((await historyOf(server, product.deviceIds[0]!, 'N')).map(([, value]) => value)).toEqual([-1, 3, 12]);
  });

  test('many pages of calls: all counted, live and in the log; one replay of a product at a time', async () => {
    const bodies = Array.from({ length: 80 }, (_, i) => String(1_700_000_001 + i));
    await Promise.all(bodies.map((body) => callWebhook(server, product, { body })));
    await saveDecoder(
      server,
      product.id,
      'function Decoder(r) { return { device: "d1", field: "T", value: +r.body, timestamp: +r.body } }',
    );
    const [one, two] = await Promise.all([replay({ status: ['NO_DECODER'] }), replay({ status: ['NO_DECODER'] })]);
    expect(new Set([codeOf(one), codeOf(two)])).toEqual(new Set(['CONFLICT', undefined]));
    expect((one.data ?? two.data)?.['replayCalls']).toMatchObject({ calls: 80, stored: 80, failed: 0 });
    expect(await historyOf(server, product.deviceIds[0]!, 'T')).toHaveLength(80);
    expect(await callsOf(server, product.id, ', status: [NO_DECODER]')).toEqual([]);
  });

  test("webhookCalled pushes a call after its commit, and only this product's", async () => {
    await saveDecoder(server, product.id, MENDED);
    const other = await createProduct(server, { serialNumbers: [] });
    const query = `subscription ($id: ID!) { webhookCalled(productId: $id) { ${CALL_FIELDS} } }`;
    const pushed = firstPush(server.url, server.adminToken, query, { id: product.id });
    const timer = setInterval(() => {
      void callWebhook(server, other, { body: 'other' });
      void callWebhook(server, product, { body: '12' });
    }, 100);
    const answer = await pushed.finally(() => clearInterval(timer));
    expect(answer?.data?.['webhookCalled']).toMatchObject({
      body: '12',
      status: 'STORED',
      run: { entries: [{ value: 12 }] },
    });
    expect(await callsOf(server, product.id)).toContainEqual(answer?.data?.['webhookCalled']);
  });
});

describe.each(DATABASES)('retention on %s', (name) => {
  test('calls that are too old go when the server starts', async () => {
    const database = await createDatabase(name);
    try {
      const first = await startServer({ database });
      const product = await createProduct(first, { serialNumbers: [] });
      for (let i = 0; i < 3; i += 1) await callWebhook(first, product, { body: String(i) });
      expect(await callsOf(first, product.id)).toHaveLength(3);
      await first.stop();
      const second = await startServer({ database, env: { CALL_LOG_DAYS: '0.000001' } });
      await expect.poll(async () => (await callsOf(second, product.id)).length).toBe(0);
      await second.stop();
    } finally {
      await database.drop();
    }
  });
});
