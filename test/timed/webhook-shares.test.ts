import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { callWebhook } from '../decoders/webhook-client.ts';
import { createProduct, DATABASES, startServer } from '../support/server.ts';
import { createMember, createWorkspace } from '../support/tenant.ts';

test.each(DATABASES)('long forms at one webhook leave others most of what they record on %s', async (database) => {
  const server = await startServer({ database });
  onTestFinished(() => server.stop());
  const product = await createProduct(server);
  const workspaceId = await createWorkspace(server, 'forms');
  const decoder = 'function Decoder() { return [] }';
  const { token } = await createMember(server, workspaceId, 'ADMIN');
  const forms = await createProduct(server, { workspaceId, token, input: { decoder } });
  const recorded = async (): Promise<number> => {
    let count = 0;
    for (const end = performance.now() + 1_500; performance.now() < end; count += 1)
      expect((await server.record(product.deviceIds[0]!, [{ field: 'temperature', value: count }])).status).toBe(200);
    return count;
  };
  const before = await recorded();
  const body = Array.from({ length: 80_000 }, (_, at) => `a${at}=%ff`).join('&');
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const sending = { isOver: false };
  const senders = Array.from({ length: 8 }, async () => {
    while (!sending.isOver) await callWebhook(server, forms, { headers, body });
  });
  await pause(1_000);
  const beside = await recorded();
  sending.isOver = true;
  await Promise.all(senders);
  expect(beside / Math.min(before, await recorded())).toBeGreaterThan(0.3);
});
