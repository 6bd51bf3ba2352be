import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { CallRunner } from '../../src/domain/decoders/call-runner.ts';
import type { DecoderJob } from '../../src/domain/decoders/decoder-engine.ts';
import type { DecoderRequest } from '../../src/domain/decoders/decoder-request.ts';
import type { Access } from '../../src/domain/access/access.ts';
import { NetworkReceiver } from '../../src/domain/receiving/network-receiver.ts';
import type { UnknownDevices } from '../../src/domain/receiving/unknown-devices.ts';
import { WebhookReceiver } from '../../src/domain/receiving/webhook-receiver.ts';
import type { ChargedTurns } from '../../src/scheduling/charged-turns.ts';
import type { DeviceFinder } from '../../src/domain/ingest-cache/device-finder.ts';
import type { ProductInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import { ActiveTenants } from '../../src/scheduling/active-tenants.ts';

const CALLS = 10;
const BODY = `{"end_device_ids":{"dev_eui":"70B3D57ED0000001"},"uplink_message":{"frm_payload":"AQ==","f_port":1,"rx_metadata":[${'{"rssi":[-1]},'.repeat(24_000)}{}]}}`;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapMb(): number {
  collect();
  return process.memoryUsage().heapUsed / 1_048_576;
}

test("a network's message is not held as objects while its decoder is waited for", async () => {
  const inputs: number[] = [];
  const waiting: unknown[] = [];
  const engine = {
    run: ({ input }: { input: string }) => {
      inputs.push(input.length);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
  const ingestCache = { serials: () => ({ version: '1', load: async () => [Buffer.from('{}')] }) };
  const deps = { engine, ingestCache } as unknown as ConstructorParameters<typeof CallRunner>[0];
  const runner = new CallRunner(deps);
  const device = { product: { id: 'p', decoder: { source: 'x' }, configuration: [] }, configuration: {} };
  const devices = { forUplink: async () => [device] } as unknown as DeviceFinder;
  const webhooks = { ingestCache: { revision: 0 }, runner, now: () => 0 };
  const webhookReceiver = new WebhookReceiver(webhooks as unknown as ConstructorParameters<typeof WebhookReceiver>[0]);
  const receiver = new NetworkReceiver(devices, webhookReceiver, {} as UnknownDevices);
  const whose = async () => ({ workspaceIdsWith: () => ['w'] }) as unknown as Access;
  const request: DecoderRequest = { method: 'POST', path: '', GET: {}, headers: [], body: BODY };
  const before = heapMb();
  for (let at = 0; at < CALLS; at += 1) void receiver.receive(whose, 'tti', request);
  await expect.poll(() => inputs.length).toBe(CALLS);
  // Each as objects: 2 MB and more; each as text: 0.3 MB, and no gateways but the first.
  expect(Math.max(...inputs)).toBeLessThan(1.1 * BODY.length);
  expect(heapMb() - before).toBeLessThan(CALLS);
  expect(waiting).toHaveLength(CALLS);
});

test('of a call that waits to be stored what its decoder said is held as the log keeps it, not as objects', async () => {
  const waiting: unknown[] = [];
  const shares = { turn: () => new Promise((resolve) => waiting.push(resolve)) };
  const run = async () => {
    const entries = Array.from({ length: 10_000 }, (_, index) => ({ index, field: 'x', message: `no field ${index}` }));
    const ran = { output: '[]', console: [], error: null, durationMs: 1, entries };
    return { status: 'NOTHING_STORED', run: ran, raw: entries, batches: [], stored: 0, rejected: 10_000 };
  };
  const ingestCache = { revision: 0 };
  const deps = { ingestCache, runner: { run }, shares, bodyBytes: 65_536, now: () => 0 };
  const receiver = new WebhookReceiver(deps as unknown as ConstructorParameters<typeof WebhookReceiver>[0]);
  const decoder = { source: 'x', version: 1 };
  const answers = { always200: false, webhook: null };
  const product = { id: 'p', key: 1, workspaceId: 'w', decoder, answers } as unknown as ProductInfo;
  const request: DecoderRequest = { method: 'POST', path: '/integrations/api/x/', GET: {}, headers: [], body: '' };
  const before = heapMb();
  for (let at = 0; at < CALLS; at += 1) void receiver.receive(async () => ({ product }), request);
  await expect.poll(() => waiting.length).toBe(CALLS);
  // Each as objects: 1.2 MB; the beginning of it as text: 0.15 MB.
  expect(heapMb() - before).toBeLessThan(0.4 * CALLS);
  expect(waiting).toHaveLength(CALLS);
});

const FORM: DecoderRequest = {
  method: 'POST',
  path: '/integrations/api/x/',
  GET: {},
  headers: [['Content-Type', 'application/x-www-form-urlencoded']],
  body: 'a=%ff&'.repeat(4_000),
};
const MANY_NAMES = Array.from({ length: 500 }, (_, at) => `${at}`);

test('serial numbers that are read again and again are held against the workspace: others have most of the time', async () => {
  const senders = new ActiveTenants();
  const others = setInterval(() => senders.note('other'), 10);
  onTestFinished(() => clearInterval(others));
  const [PIECES, PIECE_MS] = [40, 5];
  const load = async (_: number, turns: ChargedTurns): Promise<readonly Buffer[]> => {
    for (let piece = 0; piece < PIECES; piece += 1)
      await turns.run(async () => {
        for (const from = performance.now(); performance.now() - from < PIECE_MS;);
      });
    return [Buffer.from('{}')];
  };
  const engine = {
    run: async ({ serials }: DecoderJob) => {
      await serials.load(1_000_000);
      return { output: null, console: [], error: null, durationMs: 0 };
    },
  };
  const ingestCache = { serials: () => ({ version: '1', load }) };
  const deps = { engine, ingestCache, senders } as unknown as ConstructorParameters<typeof CallRunner>[0];
  const runner = new CallRunner(deps);
  const request = { method: 'GET', path: '/', GET: {}, headers: [], body: '' } as DecoderRequest;
  const run = (): Promise<unknown> => {
    const product = { id: 'p', workspaceId: 'w', fields: new Map() } as unknown as ProductInfo;
    return runner.run({ product, source: 'x', request, receivedAt: 0, counted: true });
  };
  const from = performance.now();
  await run();
  // 50 ms at once, then a fifth of the time.
  expect(performance.now() - from).toBeGreaterThan((PIECES * PIECE_MS - 50) / 0.25);
});

test('forms wait for no serial numbers that the database does not give', async () => {
  const reading = Promise.withResolvers<void>();
  const load = async (_: number, turns: ChargedTurns): Promise<readonly Buffer[]> => {
    await turns.run(() => reading.promise);
    return [];
  };
  const engine = {
    run: async ({ productId, serials }: DecoderJob) => {
      if (productId === 'looks up') await serials.load(1_000_000);
      return { output: null, console: [], error: null, durationMs: 0 };
    },
  };
  const ingestCache = { serials: () => ({ version: '1', load }) };
  const deps = { engine, ingestCache, senders: new ActiveTenants() } as unknown as ConstructorParameters<
    typeof CallRunner
  >[0];
  const runner = new CallRunner(deps);
  const run = (id: string, request: DecoderRequest): Promise<unknown> => {
    const product = { id, workspaceId: id, fields: new Map() } as unknown as ProductInfo;
    return runner.run({ product, source: 'x', request, receivedAt: 0, counted: true });
  };
  const waiting = run('looks up', { ...FORM, body: '' });
  await pause(20);
  const formsDone = Promise.all([run('other', FORM), run('another', { ...FORM, body: 'a=1' })]).then(() => 'done');
  expect(await Promise.race([formsDone, pause(2_000, 'waits')])).toBe('done');
  reading.resolve();
  await waiting;
});

test.each([
  ['on a long form', FORM, []],
  ['that looks up very much', { ...FORM, body: '' }, MANY_NAMES],
])('who tries a decoder %s is not refused for what others send to the webhook', async (_, request, names) => {
  const senders = new ActiveTenants();
  const engine = {
    run: async ({ lookUp }: DecoderJob) => {
      for await (const told of lookUp(names)) expect(told[1]).toBeNull();
      return { output: null, console: [], error: null, durationMs: 0 };
    },
  };
  const serials = () => ({ version: '1', load: async () => [Buffer.from('{}')] });
  const ingestCache = { serials, devicesOfProduct: async () => new Map() };
  const history = { latestOfMany: async () => [] };
  const deps = { engine, ingestCache, history, senders } as unknown as ConstructorParameters<typeof CallRunner>[0];
  const runner = new CallRunner(deps);
  const product = { id: 'p', workspaceId: 'w', fields: new Map() } as unknown as ProductInfo;
  const run = (counted: boolean): Promise<unknown> =>
    runner.run({ product, source: 'x', request, receivedAt: 0, counted });
  const others = setInterval(() => senders.note('other'), 10);
  const sending = { isOver: false, refused: 0 };
  const send = async (): Promise<void> => {
    while (!sending.isOver)
      await run(true).catch(async () => {
        sending.refused += 1;
        await pause(1);
      });
  };
  const calls = Array.from({ length: 5 }, send);
  onTestFinished(async () => {
    sending.isOver = true;
    clearInterval(others);
    await Promise.all(calls);
  });
  await pause(500);
  for (let more = 0; more < 95; more += 1) calls.push(send());
  await expect.poll(() => sending.refused).toBeGreaterThan(0);
  for (let tries = 0; tries < 3; tries += 1) await run(false);
});
