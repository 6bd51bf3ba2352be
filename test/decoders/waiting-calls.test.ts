import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { CallRunner } from '../../src/domain/decoders/call-runner.ts';
import type { DecoderRequest } from '../../src/domain/decoders/decoder-request.ts';
import type { Access } from '../../src/domain/access/access.ts';
import { NetworkReceiver } from '../../src/domain/calls/network-receiver.ts';
import type { UnknownDevices } from '../../src/domain/calls/unknown-devices.ts';
import { WebhookReceiver } from '../../src/domain/calls/webhook-receiver.ts';
import type { DeviceFinder } from '../../src/domain/ingest-cache/device-finder.ts';

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
  const ingestCache = { serials: () => ({ version: '1', load: async () => '{}' }) };
  const deps = { engine, ingestCache } as unknown as ConstructorParameters<typeof CallRunner>[0];
  const runner = new CallRunner(deps);
  const device = { product: { id: 'p', decoder: { source: 'x' }, configuration: [] }, configuration: {} };
  const devices = { forUplink: async () => device } as unknown as DeviceFinder;
  const webhooks = { ingestCache: { revision: 0 }, runner, now: () => 0 };
  const webhookReceiver = new WebhookReceiver(webhooks as unknown as ConstructorParameters<typeof WebhookReceiver>[0]);
  const receiver = new NetworkReceiver(devices, webhookReceiver, {} as UnknownDevices);
  const whose = async () => ({ workspaceIdsWith: () => ['w'] }) as unknown as Access;
  const request: DecoderRequest = { method: 'POST', path: '', GET: {}, headers: [], body: BODY };
  const before = heapMb();
  for (let at = 0; at < CALLS; at += 1) void receiver.receive(whose, 'tti', request);
  await expect.poll(() => inputs.length, { timeout: 20_000 }).toBe(CALLS);
  // Each as objects: 2 MB and more; each as text: 0.3 MB, and no gateways but the first.
  expect(Math.max(...inputs)).toBeLessThan(1.1 * BODY.length);
  expect(heapMb() - before).toBeLessThan(CALLS);
  expect(waiting).toHaveLength(CALLS);
});
