import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { AppError } from '../../src/errors.ts';
import { Receiver } from '../support/receiver.ts';
import {
  createDatabase,
  createProduct,
  DATABASES,
  type DatabaseName,
  startServer,
  type TestDatabase,
  type TestServer,
} from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';
import type { DecoderEngine } from '../../src/domain/decoders/decoder-engine.ts';
import type { OutgoingRequest, TransmissionResult, Transmitter } from '../../src/domain/ports/transmitter.ts';
import { openDomain } from '../support/open-domain.ts';

interface Entry {
  device: { serialNumber: string };
  product: { key: string };
  field: string;
  value: unknown;
  timestamp: string;
}

describe.each(DATABASES)('measurements.recorded on %s', (name: DatabaseName) => {
  let database: TestDatabase;
  let server: TestServer;
  let receiver: Receiver;

  const start = async (): Promise<void> => {
    server = await startServer({ database, env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } });
  };

  beforeEach(async () => {
    database = await createDatabase(name);
    receiver = await Receiver.start();
    await start();
  });
  afterEach(async () => {
    await server?.stop();
    receiver?.stop();
    await database?.drop();
  });

  const create = async (workspaceId: string, more: Record<string, unknown> = {}): Promise<string> => {
    const input = { name: 'stream', kind: 'WEBHOOK', url: receiver.url, events: ['measurements.recorded'], ...more };
    const { createEndpoint } = await server.gql(
      'mutation ($w: ID, $input: EndpointInput!) { createEndpoint(workspaceId: $w, input: $input) { endpoint { id } } }',
      { w: workspaceId, input },
    );
    return createEndpoint.endpoint.id;
  };

  const entries = (): Entry[] => receiver.bodies.flatMap(({ data }) => data['entries'] as Entry[]);
  const values = (): unknown[] => entries().map(({ value }) => value);

  test('what is recorded comes once, in order, and goes on behind a failure and a restart', async () => {
    const workspaceId = await createWorkspace(server, 'stream');
    const serialNumbers = ['a', 'b'];
    const { deviceIds } = await createProduct(server, { workspaceId, serialNumbers, input: { key: 'sensors' } });
    const other = await createProduct(server, { workspaceId, serialNumbers: ['c'] });
    const foreign = await createProduct(server, {
      workspaceId: await createWorkspace(server, 'foreign'),
      serialNumbers: ['d'],
    });
    const { product } = await server.gql('query ($k: String, $w: ID) { product(key: $k, workspaceId: $w) { id } }', {
      k: 'sensors',
      w: workspaceId,
    });
    await server.record(deviceIds[0]!, { field: 'temperature', value: -1 });
    await create(workspaceId, { productIds: [product.id] });
    const record = async (value: number): Promise<void> => {
      for (const [at, id] of [...deviceIds, other.deviceIds[0]!, foreign.deviceIds[0]!].entries())
        await server.record(id, { field: 'temperature', value: value + at / 10 });
    };
    // The first that is told of shows where it began: values from then on, none twice.
    let sent = 0;
    while (values().length === 0) {
      await record((sent += 1));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const first = values()[0] as number;
    const expected = (to: number): number[] => {
      const list: number[] = [];
      for (let value = 1; value <= to; value += 1) list.push(value, value + 0.1);
      return list.filter((value) => value >= first);
    };
    await expect.poll(values).toEqual(expected(sent));
    expect(entries()[0]).toMatchObject({
      device: { serialNumber: expect.stringMatching(/^[ab]$/) },
      product: { id: product.id, key: 'sensors', name: 'product' },
      field: 'temperature',
      timestamp: expect.stringMatching(/Z$/),
    });

    receiver.answer = (response) => response.writeHead(503, { 'retry-after': '1' }).end();
    const before = receiver.received.length;
    await record((sent += 1));
    await expect.poll(() => receiver.received.length).toBeGreaterThan(before);
    await server.stop();
    receiver.received.length = before;
    receiver.answer = (response) => response.writeHead(204).end();
    await start();
    await record((sent += 1));
    await expect.poll(values).toEqual(expected(sent));
  });
});

/** A way out that takes everything. */
class Taking implements Transmitter {
  readonly sendsMail = false;
  readonly sent: OutgoingRequest[] = [];

  async post(request: OutgoingRequest): Promise<TransmissionResult> {
    this.sent.push(request);
    return { isDone: true, httpStatus: 204, error: null, answer: '', retryAfterMs: null };
  }

  mail(): Promise<TransmissionResult> {
    throw new Error('not sent here');
  }
}

test('behind the live window an endpoint gets one gap event that says where to read', async () => {
  const out = new Taking();
  const domain = await openDomain('sqlite', {} as DecoderEngine, out);
  const subscribe = vi.spyOn(domain.feed, 'subscribe');
  subscribe.mockRejectedValueOnce(new AppError('CURSOR_EXPIRED', 'too old'));
  const workspaceId = domain.access.workspaceIds()[0]!;
  const product = await domain.products.create(domain.access, { name: 'p', workspaceId });
  await domain.endpoints.create(domain.access, workspaceId, {
    name: 'stream',
    kind: 'WEBHOOK',
    url: 'http://receiver.example/',
    events: ['measurements.recorded'],
    productIds: [product.id],
  });
  const at = new Date(domain.clock.now).toISOString();
  domain.recordedSender.start();
  await eventually(() => expect(subscribe).toHaveBeenCalledTimes(2));
  expect(out.sent.map(({ body }) => JSON.parse(body))).toEqual([
    {
      type: 'measurements.recorded',
      timestamp: at,
      data: {
        gap: { from: at, to: at, url: expect.stringContaining(`/v1/export.ndjson?workspace=${workspaceId}&from=`) },
      },
    },
  ]);
  expect(JSON.parse(out.sent[0]!.body).data.gap.url).toContain(`product=${product.id}`);
  await domain.close();
});
