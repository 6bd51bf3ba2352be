import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { DecoderEngine } from '../../src/domain/decoders/decoder-engine.ts';
import type { Delivery } from '../../src/domain/outgoing/delivery-rows.ts';
import { DeliveryFeed } from '../../src/domain/outgoing/delivery-feed.ts';
import { FiringAlerts } from '../../src/domain/outgoing/firing-alerts.ts';
import type { CreatedEndpoint, EndpointInput } from '../../src/domain/outgoing/endpoint-service.ts';
import type { OutgoingEvent } from '../../src/domain/outgoing/outbox.ts';
import { Sender } from '../../src/domain/outgoing/sender.ts';
import { sweepDeliveries } from '../../src/domain/outgoing/sweep-deliveries.ts';
import type { OutgoingRequest, TransmissionResult, Transmitter } from '../../src/domain/ports/transmitter.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A way out that is told how each call ends; a call without an end hangs. */
class Wire implements Transmitter {
  readonly sendsMail = true;
  readonly sent: OutgoingRequest[] = [];
  calls = 0;
  mostCalls = 0;
  readonly #hanging: (() => void)[] = [];
  end: (request: OutgoingRequest) => Partial<TransmissionResult> | null = () => ({});

  async post(request: OutgoingRequest): Promise<TransmissionResult> {
    this.sent.push(request);
    this.mostCalls = Math.max(this.mostCalls, (this.calls += 1));
    const end = this.end(request);
    if (end === null) await new Promise<void>((resolve) => this.#hanging.push(resolve));
    // Calls take a moment, as others do.
    await new Promise((resolve) => setImmediate(resolve));
    this.calls -= 1;
    const { httpStatus = 200 } = end ?? { httpStatus: 504 };
    const isDone = httpStatus !== null && httpStatus < 300;
    return { isDone, error: null, answer: '', retryAfterMs: null, ...end, httpStatus };
  }

  mail(): Promise<TransmissionResult> {
    throw new Error('not sent here');
  }

  /** Ends the calls that hang, so that no stop waits for them. */
  letGo(): void {
    for (const goOn of this.#hanging.splice(0)) goOn();
  }

  get ids(): string[] {
    return this.sent.map(({ headers }) => headers['webhook-id']!);
  }

  /** `data.n` of what was sent. */
  get numbers(): unknown[] {
    return this.sent.map(({ body }) => JSON.parse(body).data.n);
  }
}

describe.each(DATABASES)('sending on %s', (name) => {
  let domain: OpenDomain;
  let wire: Wire;
  let workspaceId: string;

  beforeEach(async () => {
    wire = new Wire();
    domain = await openDomain(name, {} as DecoderEngine, wire);
    workspaceId = domain.access.workspaceIds()[0]!;
    domain.sender.start();
  });
  afterEach(() => {
    wire.letGo();
    return domain?.close();
  });

  const create = (input: Partial<EndpointInput> = {}): Promise<CreatedEndpoint> =>
    domain.endpoints.create(domain.access, workspaceId, {
      name: 'hook',
      kind: 'WEBHOOK',
      url: `http://receiver.example/${randomUUID()}`,
      events: ['device.offline'],
      ...input,
    });

  const write = async (...events: Partial<OutgoingEvent>[]): Promise<void> => {
    await domain.database.write((em) =>
      domain.outbox.write(
        em,
        events.map((event) => ({
          key: randomUUID(),
          type: 'device.offline',
          workspaceId,
          productId: null,
          deviceId: null,
          tags: [],
          endpointIds: null,
          at: new Date(domain.clock.now),
          data: {},
          ...event,
        })),
      ),
    );
    domain.outbox.wake();
  };

  const deliveries = async ({ endpoint }: CreatedEndpoint): Promise<Delivery[]> =>
    (
      await domain.deliveries.page(domain.access, endpoint, ['WAITING', 'DELIVERED', 'DEAD'], 100, null)
    ).items.toReversed();

  const statuses = async (created: CreatedEndpoint): Promise<string[]> =>
    (await deliveries(created)).map(({ status }) => status);

  const turn = (ms: number): void => {
    domain.clock.now += ms;
    domain.sender.wake();
  };

  /** Waits until so many calls were made and written down, and the deliveries are as expected. */
  const settled = async (created: CreatedEndpoint, calls: number, expected: string[]): Promise<void> => {
    await eventually(async () => {
      const rows = await domain.database.read().execute<{ attempts: string }[]>('select attempts from delivery');
      expect(rows.flatMap(({ attempts }) => JSON.parse(attempts))).toHaveLength(calls);
    });
    expect(await statuses(created)).toEqual(expected);
  };

  test('an event comes once to each endpoint that wants it, signed; a second one with its key is nothing', async () => {
    const hook = await create();
    await create({ events: ['device.online'] });
    await create({ enabled: false });
    await write({ key: 'a', data: { n: 1 } }, { key: 'a', data: { n: 2 } });
    await write({ key: 'a', data: { n: 3 } });
    await settled(hook, 1, ['DELIVERED']);
    const { headers, body } = wire.sent[0]!;
    expect(new Webhook(hook.secret!).verify(body, headers)).toEqual({
      type: 'device.offline',
      timestamp: new Date(domain.clock.now).toISOString(),
      data: { n: 1 },
    });
  });

  test('products, tags and rules say which endpoints an event is for', async () => {
    const product = await domain.products.create(domain.access, { name: 'p', workspaceId });
    const url = (path: string): string => `http://receiver.example/${path}`;
    const events = ['device.offline', 'alert.fired'];
    await create({ url: url('all'), events });
    await create({ url: url('product'), events, productIds: [product.id] });
    await create({ url: url('tags'), events, tags: ['cold', 'cellar'] });
    const named = await create({ url: url('named'), events: [], productIds: [product.id], tags: ['x'] });
    const resolved = await create({ url: url('resolved'), events: ['alert.resolved'] });
    await write(
      { data: { n: 'bare' } },
      { productId: product.id, tags: ['cellar', 'old', 'cold'], data: { n: 'device' } },
      {
        type: 'alert.fired',
        endpointIds: [named.endpoint.id, resolved.endpoint.id],
        productId: product.id,
        tags: ['cold', 'cellar'],
        data: { n: 'rule' },
      },
    );
    await eventually(() => expect(wire.sent.length).toBeGreaterThanOrEqual(5));
    const told = wire.sent.map((request) => `${new URL(request.url).pathname} ${JSON.parse(request.body).data.n}`);
    expect(told.toSorted()).toEqual(['/all bare', '/all device', '/named rule', '/product device', '/tags device']);
  });

  test('a message is tried again by the table, then DEAD, and can be sent again with the secret of today', async () => {
    const hook = await create();
    wire.end = () => ({ httpStatus: 500 });
    await write({ data: { n: 1 } });
    const delays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    for (const [tries, delay] of delays.entries()) {
      await settled(hook, tries + 1, ['WAITING']);
      const [{ nextAttemptAt }] = (await deliveries(hook)) as [Delivery];
      const after = (nextAttemptAt! - domain.clock.now) / SECOND;
      expect(after).toBeGreaterThanOrEqual(delay * 0.8 - 0.001);
      expect(after).toBeLessThanOrEqual(delay * 1.2);
      turn(after * SECOND);
    }
    await settled(hook, 10, ['DEAD']);
    expect(new Set(wire.ids).size).toBe(1);
    expect(new Set(wire.sent.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10);

    const { secret } = await domain.endpoints.rotateSecret(domain.access, hook.endpoint.id);
    turn(2 * DAY);
    wire.end = () => ({});
    const { id } = hook.endpoint;
    expect(await domain.deliveries.retry(domain.access, id, { dryRun: true })).toBe(1);
    expect(await domain.deliveries.retry(domain.access, id, { to: domain.clock.now - 10 * DAY })).toBe(0);
    expect(await domain.deliveries.retry(domain.access, id, {})).toBe(1);
    await settled(hook, 11, ['DELIVERED']);
    const { headers, body } = wire.sent.at(-1)!;
    // The judge looks at the real clock.
    vi.setSystemTime(domain.clock.now);
    new Webhook(secret!).verify(body, headers);
    expect(() => new Webhook(hook.secret!).verify(body, headers)).toThrow();
    vi.useRealTimers();
  });

  test('the order of a device is kept, and a message that fails holds up its own device alone', async () => {
    const hook = await create();
    const [one, two] = [randomUUID(), randomUUID()];
    let isBroken = true;
    wire.end = ({ body }) => ({ httpStatus: isBroken && JSON.parse(body).data.n === 'one 1' ? 400 : 200 });
    await write(
      ...[1, 2, 3].flatMap((n) => [
        { deviceId: one, data: { n: `one ${n}` } },
        { deviceId: two, data: { n: `two ${n}` } },
      ]),
    );
    await eventually(() => expect(wire.numbers).toContain('two 3'));
    await eventually(async () => expect((await statuses(hook)).filter((each) => each === 'DELIVERED')).toHaveLength(3));
    expect(wire.numbers.filter((n) => n !== 'one 1')).toEqual(['two 1', 'two 2', 'two 3']);
    // Only the first of a device says when it is tried.
    expect((await deliveries(hook)).filter(({ nextAttemptAt }) => nextAttemptAt !== null)).toHaveLength(1);
    isBroken = false;
    turn(6 * SECOND);
    await eventually(() => expect(wire.numbers.slice(-3)).toEqual(['one 1', 'one 2', 'one 3']));
  });

  test('a receiver that says when gets it then', async () => {
    const hook = await create();
    wire.end = () => ({ httpStatus: 429, retryAfterMs: 90 * SECOND });
    await write({});
    await settled(hook, 1, ['WAITING']);
    expect((await deliveries(hook))[0]!.nextAttemptAt).toBe(domain.clock.now + 90 * SECOND);
    // Nor is anything else sent until then.
    await write({});
    turn(80 * SECOND);
    await settled(hook, 1, ['WAITING', 'WAITING']);
    wire.end = () => ({});
    turn(11 * SECOND);
    await settled(hook, 3, ['DELIVERED', 'DELIVERED']);
  });

  test('410 switches the endpoint off; nothing more is sent, what waits is kept, and sent once it is on again', async () => {
    const hook = await create();
    wire.end = () => ({ httpStatus: 410 });
    const device = { deviceId: randomUUID() };
    await write(device, device);
    await eventually(async () =>
      expect(await domain.endpoints.get(domain.access, hook.endpoint.id)).toMatchObject({
        enabled: false,
        disabledReason: expect.stringContaining('410'),
      }),
    );
    await write(device);
    turn(DAY);
    await settled(hook, 1, ['WAITING', 'WAITING']);
    const log = await domain.auditLog.list(domain.access, workspaceId, { operation: 'disableEndpoint' }, 10, null);
    expect(log.items).toMatchObject([{ tokenName: 'the server', subjects: JSON.stringify([hook.endpoint.id]) }]);
    wire.end = () => ({});
    const { name: called, kind } = hook.endpoint;
    await domain.endpoints.update(domain.access, hook.endpoint.id, { name: called, kind, events: [], enabled: true });
    await settled(hook, 3, ['DELIVERED', 'DELIVERED']);
  });

  test('an endpoint that has only failed for five days is switched off; one that succeeds now and then is not', async () => {
    const hook = await create();
    wire.end = () => ({ httpStatus: null, error: 'refused' });
    const present = () => domain.endpoints.get(domain.access, hook.endpoint.id);
    await write({});
    await settled(hook, 1, ['WAITING']);
    const began = domain.clock.now;
    expect((await present()).failingSince).toBe(began);
    turn(4 * DAY);
    await settled(hook, 2, ['WAITING']);
    wire.end = () => ({});
    await write({});
    await eventually(async () => expect((await present()).failingSince).toBeNull());
    wire.end = () => ({ httpStatus: 503 });
    turn(2 * DAY);
    await settled(hook, 4, ['WAITING', 'DELIVERED']);
    turn(4 * DAY);
    await settled(hook, 5, ['WAITING', 'DELIVERED']);
    expect(await present()).toMatchObject({ enabled: true });
    turn(DAY + 1);
    await eventually(async () =>
      expect(await present()).toMatchObject({ enabled: false, disabledReason: expect.stringContaining('five days') }),
    );
  });

  test('a receiver that hangs delays nobody else, and has four calls at once', async () => {
    await create({ url: 'http://hangs.example/' });
    const hook = await create();
    wire.end = ({ url }) => (url.includes('hangs') ? null : {});
    await write(...Array.from({ length: 50 }, (_, n) => ({ data: { n } })));
    await eventually(async () => expect(new Set(await statuses(hook))).toEqual(new Set(['DELIVERED'])));
    expect(wire.sent.filter(({ url }) => url.includes('hangs'))).toHaveLength(4);
    expect(wire.mostCalls).toBeLessThanOrEqual(8);
  });

  test('however many endpoints of others hang, one that answers has its turn', async () => {
    const { workspaces, access } = domain;
    wire.end = ({ url }) => (url.includes('hangs') ? { httpStatus: 500 } : {});
    const crowds = await Promise.all(['one', 'two'].map((crowd) => workspaces.create(access, crowd)));
    for (const { id } of crowds)
      for (let at = 0; at < 48; at += 1)
        await domain.endpoints.create(access, id, {
          name: `hook ${at}`,
          kind: 'WEBHOOK',
          url: `http://hangs.example/${at}`,
          events: ['device.offline'],
        });
    const hook = await create();
    const toAll = (): Promise<void> => write(...crowds.map(({ id }) => ({ workspaceId: id, deviceId: randomUUID() })));
    // Each fails once, and hangs from then on.
    await toAll();
    await eventually(() => expect(wire.sent).toHaveLength(96));
    wire.end = ({ url }) => (url.includes('hangs') ? null : {});
    await toAll();
    await eventually(() => expect(wire.sent.length).toBeGreaterThan(120));
    await write({});
    await eventually(async () => expect(await statuses(hook)).toEqual(['DELIVERED']));
  });

  test('several nodes share the work; each message is sent once, in order', async () => {
    const hook = await create();
    const { database, cluster, auditLog: _, ...rest } = domain;
    const others = [1, 2].map(
      () =>
        new Sender({
          ...rest,
          database,
          cluster: { shared: true },
          transmitter: wire,
          feed: new DeliveryFeed({ database, cluster, onError: console.error }),
          firing: new FiringAlerts(database),
          tellAudit: async () => {},
          onTried: () => {},
          onSwitchedOff: () => {},
          onError: console.error,
          now: () => domain.clock.now,
        }),
    );
    for (const other of others) other.start();
    const devices = Array.from({ length: 20 }, () => randomUUID());
    for (let n = 0; n < 10; n += 1) {
      await write(...devices.map((deviceId) => ({ deviceId, data: { n: `${deviceId} ${n}` } })));
      for (const other of others) other.wake();
    }
    await eventually(async () => expect(wire.sent.length).toBeGreaterThanOrEqual(200));
    await eventually(async () => expect(new Set(await statuses(hook))).toEqual(new Set(['DELIVERED'])));
    expect(wire.sent).toHaveLength(200);
    for (const deviceId of devices)
      expect(wire.numbers.filter((each) => String(each).startsWith(deviceId))).toEqual(
        Array.from({ length: 10 }, (_each, n) => `${deviceId} ${n}`),
      );
    for (const other of others) await other.stop();
  });

  test('what a node had taken when it died is sent by another one after a minute', async () => {
    const hook = await create();
    wire.end = () => null;
    await write({ data: { n: 1 } });
    await eventually(() => expect(wire.sent).toHaveLength(1));
    wire.end = () => ({});
    const { database, cluster } = domain;
    const other = new Sender({
      database,
      cluster: { shared: true },
      transmitter: wire,
      feed: new DeliveryFeed({ database, cluster, onError: console.error }),
      firing: new FiringAlerts(database),
      tellAudit: async () => {},
      onTried: () => {},
      onSwitchedOff: () => {},
      onError: console.error,
      now: () => domain.clock.now,
    });
    other.start();
    domain.clock.now += 59 * SECOND;
    other.wake();
    expect(await statuses(hook)).toEqual(['WAITING']);
    domain.clock.now += 2 * SECOND;
    other.wake();
    await settled(hook, 1, ['DELIVERED']);
    expect(new Set(wire.ids).size).toBe(1);
    await other.stop();
  });

  test('what is old is forgotten, and what is left of deleted endpoints', async () => {
    const hook = await create();
    await write({}, {});
    await settled(hook, 2, ['DELIVERED', 'DELIVERED']);
    const sweep = (): Promise<void> =>
      sweepDeliveries({ database: domain.database, now: () => domain.clock.now }, () => false);
    domain.clock.now += 6 * DAY;
    await sweep();
    expect(await statuses(hook)).toHaveLength(2);
    domain.clock.now += 2 * DAY;
    await sweep();
    expect(await statuses(hook)).toHaveLength(0);
    wire.end = () => ({ httpStatus: 500 });
    await write({});
    await settled(hook, 1, ['WAITING']);
    await domain.database.write((em) => em.execute('delete from endpoint', [], 'run'));
    await sweep();
    for (const table of ['delivery', 'delivery_lane'])
      expect(await domain.database.read().execute(`select 1 from ${table}`)).toEqual([]);
  });
});
