import { randomBytes } from 'node:crypto';
import { EntityManager } from '@mikro-orm/core';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { writeUnknownCalls } from '../../src/domain/receiving/write-unknown-calls.ts';
import { uuidV7 } from '../../src/domain/text/uuid.ts';
import { piecesOfServer } from '../support/pieces.ts';
import { type OpenDomain, openDomain } from '../support/open-domain.ts';
import { callsOf, saveDecoder } from '../decoders/webhook-client.ts';
import {
  createDatabase,
  createProduct,
  DATABASES,
  EITHER_DATABASE,
  startServer,
  type TestDatabase,
  type TestServer,
} from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

interface Unknown {
  id: string;
  identifier: string;
  seen: number;
}

const redisUrl = inject('redisUrl');
const LIST = 'query ($w: ID) { unknownDevices(workspaceId: $w) { id identifier seen } }';
const ADOPT = 'mutation ($id: ID!, $p: ID!) { adoptUnknownDevice(id: $id, productId: $p, plan: "unlimited") { id } }';

/** An identifier that nobody has. */
const eui = (): string => randomBytes(8).toString('hex');

describe.each(DATABASES)('many calls of unknown devices on %s', (name) => {
  let database: TestDatabase;
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  beforeAll(async () => {
    database = await createDatabase(name);
    server = await startServer({ database, alone: true, watched: EITHER_DATABASE.includes(name) });
  });
  afterAll(async () => {
    await server?.stop();
    await database?.drop();
  });
  beforeEach(async () => {
    workspaceId = await createWorkspace(server, 'networks');
    token = (await createToken(server, server.adminToken, workspaceId, ['RECORD'])).secret;
  });

  /** The status; 0: no answer. */
  async function send(identifier: string, { to = server, time = '2026-01-01T00:00:00Z' } = {}): Promise<number> {
    const uplink = { f_port: 1, frm_payload: 'AQ==', decoded_payload: { t: 1 }, received_at: time };
    try {
      const { status } = await fetch(`${to.url}/integrations/lorawan/tti/`, {
        method: 'POST',
        headers: { authorization: `Token ${token}` },
        body: JSON.stringify({ end_device_ids: { dev_eui: identifier }, uplink_message: uplink }),
      });
      return status;
    } catch {
      return 0;
    }
  }

  /** By 64 senders, each one after the other. */
  async function sendAll(identifiers: readonly string[]): Promise<void> {
    const left = [...identifiers];
    const sender = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) expect(await send(next)).toBe(202);
    };
    await Promise.all(Array.from({ length: 64 }, sender));
  }

  const list = async (): Promise<Unknown[]> => (await server.gql(LIST, { w: workspaceId }))['unknownDevices'];
  const newProduct = async (): Promise<string> =>
    (await createProduct(server, { workspaceId, fields: { t: 'FLOAT' }, serialNumbers: [] })).id;
  const adopt = (id: string, productId: string): Promise<unknown> =>
    server.gql(ADOPT, {
      id,
      p: productId,
    });

  /** For the event loop, whichever database. */
  const onEither = EITHER_DATABASE.includes(name) ? test : () => {};

  onEither('hold up nobody', async () => {
    await sendAll(Array.from({ length: 20 }, eui));
    const earlier = (await list()).map(({ identifier }) => identifier);
    const identifiers = Array.from({ length: 260 }, eui);
    const pieces = await piecesOfServer(server, () => sendAll(identifiers));
    const listed = await list();
    expect(listed).toHaveLength(280);
    expect(new Set(listed.map(({ identifier }) => identifier))).toEqual(new Set([...earlier, ...identifiers]));
    expect(pieces).toBeGreaterThanOrEqual(10);
  });

  test('are all there once they are answered, however often an identifier is written in a round', async () => {
    const [one, other] = [eui(), eui()];
    await sendAll(Array.from({ length: 60 }, (_, at) => [one, one.toUpperCase(), other][at % 3]!));
    expect(new Map((await list()).map(({ identifier, seen }) => [identifier.toLowerCase(), seen]))).toEqual(
      new Map([
        [one, 40],
        [other, 20],
      ]),
    );
  });

  test('those that come while the device is adopted are in its log, none is left behind', async () => {
    for (let time = 0; time < 2; time += 1) {
      const identifier = eui();
      const productId = await newProduct();
      expect(await send(identifier)).toBe(202);
      const [unknown] = await list();
      const sent = Array.from({ length: 20 }, () => send(identifier));
      await new Promise((resolve) => setTimeout(resolve, 60));
      await adopt(unknown!.id, productId);
      for (const status of await Promise.all(sent)) expect([200, 202]).toContain(status);
      expect(await callsOf(server, productId)).toHaveLength(21);
    }
  });

  test('of several who adopt the same one at once one does; each call is in the log once', async () => {
    const identifier = eui();
    const productId = await newProduct();
    await sendAll(Array.from({ length: 10 }, () => identifier));
    const [unknown] = await list();
    const adopting = Array.from({ length: 4 }, () =>
      adopt(unknown!.id, productId).then(
        () => 'done',
        (error: Error) => /CONFLICT|NOT_FOUND/.exec(error.message)?.[0] ?? error.message,
      ),
    );
    const outcomes = await Promise.all(adopting);
    expect(outcomes).toContain('done');
    for (const outcome of outcomes) expect(['done', 'CONFLICT', 'NOT_FOUND']).toContain(outcome);
    expect(await callsOf(server, productId)).toHaveLength(10);
  });

  const makeByHand = (productId: string, serialNumber: string): Promise<unknown> =>
    server.gql(
      `mutation ($productId: ID!, $serialNumber: String!) {
        createDevices(productId: $productId, devices: [{ name: "by hand", serialNumber: $serialNumber }], plan: "unlimited") { id } }`,
      { productId, serialNumber },
    );

  test('whoever makes the device by hand meanwhile leaves the calls to who adopts it', async () => {
    const productId = await newProduct();
    const identifiers = Array.from({ length: 8 }, eui);
    await sendAll(identifiers);
    for (const { id, identifier } of await list())
      await Promise.all([
        adopt(id, productId),
        makeByHand(productId, identifier).catch((error: Error) => {
          expect(error.message).toContain('CONFLICT');
        }),
      ]);
    expect(await list()).toEqual([]);
    expect(await callsOf(server, productId)).toHaveLength(identifiers.length);
  });

  test('an identifier that a device of another product has by now is adopted into no second one', async () => {
    const identifier = eui();
    const [first, second] = [await newProduct(), await newProduct()];
    expect(await send(identifier)).toBe(202);
    const [unknown] = await list();
    await makeByHand(first, identifier);
    await expect(adopt(unknown!.id, second)).rejects.toThrow('CONFLICT');
    expect(await send(identifier)).toBe(200);
    await adopt(unknown!.id, first);
    expect([await callsOf(server, first), await callsOf(server, second)].map(({ length }) => length)).toEqual([2, 0]);
  });

  test('a token that is limited to some devices puts nothing aside, and nothing out of what the workspace keeps', async () => {
    expect(await send(eui())).toBe(202);
    const { deviceIds } = await createProduct(server, { workspaceId });
    token = (await createToken(server, server.adminToken, workspaceId, ['RECORD'], { deviceIds })).secret;
    expect(await send(eui())).toBe(404);
    expect(await list()).toHaveLength(1);
  });

  test('an identifier that is too long is refused alone', async () => {
    const [long, good] = await Promise.all([send('İ'.repeat(201)), send(eui())]);
    expect([long, good]).toEqual([400, 202]);
  });

  const end = (signal: 'SIGKILL' | 'SIGTERM'): Promise<unknown> =>
    signal === 'SIGKILL' ? server.process.stop(signal) : server.process.stop();

  // The first server has a process of its own, which can be killed; whichever comes after it is stopped.
  // Which of the two it was, the database does not learn.
  test.each(EITHER_DATABASE.includes(name) ? (['SIGKILL', 'SIGTERM'] as const) : (['SIGKILL'] as const))(
    'after %s whatever was answered is there, and an adoption that it has cut off goes on: each call is in the log once',
    async (signal) => {
      const slow = 'var until = Date.now() + 40; while (Date.now() < until); return { data: { t: input.bytes[0] } };';
      const input = { decoder: `function decodeUplink(input) { ${slow} }` };
      const [identifier, other] = [eui(), eui()];
      const shared = { workspaceId, fields: { t: 'FLOAT' }, serialNumbers: [], input };
      const { id: productId } = await createProduct(server, shared);
      await sendAll(Array.from({ length: 15 }, () => identifier));
      const [unknown] = await list();
      if (signal === 'SIGTERM') await makeByHand(productId, identifier);
      let answered = 0;
      const sender = async (): Promise<void> => {
        while ((await send(other)) === 202) answered += 1;
      };
      const senders = Array.from({ length: 4 }, sender);
      const cutOff = adopt(unknown!.id, productId).catch((error: Error) => error.message);
      const calls = async (): Promise<number> => (await callsOf(server, productId)).length;
      await expect.poll(calls, { interval: 40 }).toBeGreaterThan(2);
      await expect.poll(() => answered, { interval: 20 }).toBeGreaterThan(4);
      await Promise.all([end(signal), ...senders]);
      expect(await cutOff).toMatch(signal === 'SIGKILL' ? 'fetch failed' : 'UNAVAILABLE');
      server = await startServer({ database });
      expect(await calls()).toBeLessThan(15);
      const waiting = new Map((await list()).map((one) => [one.identifier, one]));
      expect([...waiting.keys()].toSorted()).toEqual([identifier, other].toSorted());
      expect(waiting.get(identifier)).toEqual(unknown);
      expect(waiting.get(other)!.seen).toBeGreaterThanOrEqual(answered);
      // What is in the log by then is told of as it was made of it at last.
      await saveDecoder(
        server,
        productId,
        'function decodeUplink(input) { return { data: { t: 1 + input.bytes[0] } }; }',
      );
      await adopt(unknown!.id, productId);
      expect((await list()).map((one) => one.identifier)).toEqual([other]);
      const versions = (await callsOf(server, productId)).map(({ decoderVersion }) => decoderVersion);
      expect(versions).toEqual(Array.from({ length: 15 }, () => 2));
    },
  );

  test('what waits when the domain is closed is written', async () => {
    const domain = await openDomain(name);
    const { id } = await domain.workspaces.create(domain.access, 'w');
    const request = { method: 'POST', path: '/', GET: {}, headers: [], body: '{}' };
    const keep = (identifier: string) => domain.unknownDevices.keep(id, 'tti', identifier, request);
    await keep(eui());
    const waiting = Promise.allSettled(Array.from({ length: 150 }, () => keep(eui())));
    await domain.close();
    expect(new Set((await waiting).map(({ status }) => status))).toEqual(new Set(['fulfilled']));
  });

  describe('in one domain,', () => {
    let domain: OpenDomain;
    beforeAll(async () => {
      domain = await openDomain(name);
    });
    afterAll(() => domain?.close());

    test('made-up ones put out none that calls again, nor those a new one', async () => {
      const { access, unknownDevices } = domain;
      const { id } = await domain.workspaces.create(access, 'w');
      // As rounds are written, without the fifth of a second between them.
      const keep = async (identifiers: readonly string[], perRound = 380): Promise<void> => {
        for (let from = 0; from < identifiers.length; from += perRound) {
          const receivedAt = (domain.clock.now += 200);
          const calls = identifiers.slice(from, from + perRound).map((identifier) => {
            const kept = { id: uuidV7(receivedAt), path: '/', query: '{}', headers: '[]', body: '{}' };
            return { network: 'tti' as const, identifier, isAmbiguous: false, receivedAt, kept };
          });
          const { database } = domain;
          const written = await database.write((em) =>
            writeUnknownCalls(em, database.dialect, id, calls, domain.outbox),
          );
          expect(new Set(written)).toEqual(new Set([true]));
        }
      };
      const kept = () => unknownDevices.list(access, id);
      const real = eui();
      for (let time = 0; time < 3; time += 1) await keep([real]);
      await keep(Array.from({ length: 1_050 }, eui));
      expect(await kept()).toHaveLength(1_000);
      expect(await kept()).toContainEqual(expect.objectContaining({ identifier: real, seen: 3 }));
      const twice = Array.from({ length: 760 }, eui);
      await keep(twice.flatMap((identifier) => [identifier, identifier]));
      // Many that are new, and call again behind all of these, find room for both.
      const late = Array.from({ length: 260 }, eui);
      for (let time = 0; time < 2; time += 1) await keep(late, 64);
      const seen = new Map((await kept()).map((one) => [one.identifier, one.seen]));
      expect(late.filter((identifier) => seen.get(identifier) !== 2)).toEqual([]);
    });

    test('few calls are in memory of an adoption that waits, and all of them are stored', async () => {
      const { access, products, unknownDevices, store } = domain;
      const identifier = eui();
      const { id: workspaceId } = await domain.workspaces.create(access, 'w');
      const { id: productId } = await products.create(access, { name: 'p', workspaceId });
      const uplink = { f_port: 1, frm_payload: 'AQ==', decoded_payload: { t: 1 } };
      const body = JSON.stringify({ end_device_ids: { dev_eui: identifier }, uplink_message: uplink });
      const request = { method: 'POST', path: '/integrations/lorawan/tti/', GET: {}, headers: [], body };
      const keeping = Array.from({ length: 35 }, () => unknownDevices.keep(workspaceId, 'tti', identifier, request));
      expect(new Set(await Promise.all(keeping))).toEqual(new Set([true]));
      const [unknown] = await unknownDevices.list(access, workspaceId);
      const finding = vi.spyOn(EntityManager.prototype, 'find');
      await unknownDevices.adopt(access, unknown!.id, productId, { plan: 'unlimited' });
      const found = await Promise.all(finding.mock.results.map(({ value }) => value as Promise<{ body?: string }[]>));
      finding.mockRestore();
      const withBodies = found.map((rows) => rows.filter((row) => row.body !== undefined).length);
      expect(Math.max(...withBodies)).toBe(10);
      const { key } = (await domain.ingestCache.product(productId))!;
      expect(await store.calls({ productKey: key, limit: 100 })).toHaveLength(35);
    });

    test('of a product that is being deleted no device is known any more: what is sent is kept', async () => {
      const { access, products, devices, unknownDevices, database } = domain;
      const identifier = eui();
      const { id: workspaceId } = await domain.workspaces.create(access, 'w');
      const { id: productId } = await products.create(access, { name: 'p', workspaceId });
      await devices.create(access, productId, [{ name: 'd', serialNumber: identifier }], 'unlimited');
      const request = { method: 'POST', path: '/', GET: {}, headers: [], body: '{}' };
      const keep = (): Promise<boolean> => unknownDevices.keep(workspaceId, 'tti', identifier, request);
      expect(await keep()).toBe(false);
      await database.write((em) => em.execute('update product set deleted_at = 1 where id = ?', [productId], 'run'));
      expect(await keep()).toBe(true);
    });

    test('what was kept is stored under its receipt time, whatever the device has had since', async () => {
      const { access, clock, ingestCache, products, unknownDevices } = domain;
      const identifier = eui();
      const workspace = await domain.workspaces.create(access, 'w');
      const product = await products.create(access, {
        name: 'p',
        workspaceId: workspace.id,
        fields: [{ identifier: 't', type: 'FLOAT' }],
      });
      const body = JSON.stringify({
        end_device_ids: { dev_eui: identifier },
        uplink_message: { f_port: 1, frm_payload: 'AQ==', decoded_payload: { t: 1 } },
      });
      const request = { method: 'POST', path: '/integrations/lorawan/tti/', GET: {}, headers: [], body };
      const keptAt = clock.now;
      for (let time = 0; time < 2; time += 1) await unknownDevices.keep(workspace.id, 'tti', identifier, request);
      const [unknown] = await unknownDevices.list(access, workspace.id);
      clock.now += 40 * 60_000;
      const [created] = await domain.devices.create(access, product.id, [{ name: 'd', serialNumber: identifier }]);
      const device = (await ingestCache.device(created!.id))!;
      await domain.recorder.record(device, [{ field: 't', value: 2 }], { limited: false, receivedAt: clock.now });
      await unknownDevices.adopt(access, unknown!.id, product.id, {});
      const fieldKey = device.product.fields.get('t')!.key;
      const all = { deviceKey: device.key, fieldKey, newestFirst: false, limit: 10 };
      const { timestamps } = await domain.store.range(all);
      expect([...timestamps]).toEqual([keptAt, keptAt + 1, clock.now]);
    });
  });

  if (name === 'postgres')
    describe.skipIf(redisUrl === null)('by two nodes', () => {
      let shared: TestDatabase;
      let nodes: TestServer[];
      let own: TestServer;
      beforeAll(async () => {
        shared = await createDatabase(name);
        const env = { REDIS_URL: redisUrl! };
        nodes = await Promise.all([startServer({ database: shared, env }), startServer({ database: shared, env })]);
        own = server;
        server = nodes[0]!;
      });
      afterAll(async () => {
        server = own;
        await Promise.all(nodes.map((node) => node.stop()));
        await shared.drop();
      });

      test('what both have seen adds up', async () => {
        const identifiers = Array.from({ length: 12 }, eui);
        const times = 3;
        const sendTo = async (to: TestServer, order: string[]): Promise<void> => {
          for (let time = 0; time < times; time += 1)
            expect(new Set(await Promise.all(order.map((identifier) => send(identifier, { to }))))).toEqual(
              new Set([202]),
            );
        };
        await Promise.all([sendTo(nodes[0]!, identifiers), sendTo(nodes[1]!, identifiers.toReversed())]);
        const listed = await list();
        expect(listed).toHaveLength(identifiers.length);
        expect(new Set(listed.map(({ seen }) => seen))).toEqual(new Set([2 * times]));
      });

      test('what both adopt at once into two products becomes one device', async () => {
        const products = [await newProduct(), await newProduct()];
        for (let time = 0; time < 3; time += 1) {
          const identifier = eui();
          expect(await send(identifier)).toBe(202);
          const [unknown] = await list();
          const adopting = products.map((productId, at) =>
            nodes[at]!.query(ADOPT, { id: unknown!.id, p: productId }).then(({ errors }) => errors?.[0] ?? null),
          );
          const errors = (await Promise.all(adopting)).filter((error) => error !== null);
          expect(errors).toHaveLength(1);
          // Whose request comes when the other has done it all finds it gone.
          const isLate = errors[0]!.message.includes(unknown!.id);
          expect(errors[0]!.extensions.code).toBe(isLate ? 'NOT_FOUND' : 'CONFLICT');
          expect(await send(identifier, { to: nodes[time % 2]! })).toBe(200);
        }
      });

      test('what either takes in while one adopts is in the log', async () => {
        for (let time = 0; time < 3; time += 1) {
          const identifier = eui();
          const productId = await newProduct();
          expect(await send(identifier)).toBe(202);
          const [unknown] = await list();
          const state = { isOver: false };
          let answered = 1;
          const sender = async (to: TestServer): Promise<void> => {
            while (!state.isOver) {
              const status = await send(identifier, { to });
              if (status === 200 || status === 202) answered += 1;
              else expect(status).toBe(503);
              await new Promise((resolve) => setTimeout(resolve, 40));
            }
          };
          const senders = nodes.map(sender);
          await new Promise((resolve) => setTimeout(resolve, 100 * time));
          await adopt(unknown!.id, productId);
          await new Promise((resolve) => setTimeout(resolve, 150));
          state.isOver = true;
          await Promise.all(senders);
          expect(await callsOf(server, productId)).toHaveLength(answered);
          expect(await list()).toEqual([]);
        }
      });
    });
});
