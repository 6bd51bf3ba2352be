import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';

const VALUES = 10_000;
const REQUESTS = 12;
/** 67 ms each, of three tenths of the time; 50 ms are free, and the last is not waited for. */
const LEAST_MS = (((REQUESTS - 1) * VALUES) / 150 - 50) / 0.3;

describe.each(DATABASES)('a workspace that stores ten thousand values at a time, %s', (name) => {
  let server: TestServer;
  let single: string;
  let much: string;
  let webhook: string;
  beforeAll(async () => {
    server = await startServer({ database: name, env: { WRITE_RATE_PER_FIELD: '0' } });
    single = (await createProduct(server, { workspaceId: await createWorkspace(server, 'single') })).deviceIds[0]!;
    const decoder = `function Decoder() { const at = Date.now(); return Array.from({ length: ${VALUES} }, (_, i) =>
      ({ device: 'a', field: 'temperature', value: i, timestamp: at / 1000 - i })) }`;
    const workspaceId = await createWorkspace(server, 'much');
    const product = await createProduct(server, { workspaceId, serialNumbers: ['a'], input: { decoder } });
    much = product.deviceIds[0]!;
    webhook = product.webhookId;
  });
  afterAll(() => server.stop());

  const post = async (path: string, body: string): Promise<number> => {
    const headers = { Authorization: `Token ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' };
    const answer = await fetch(server.url + path, { method: 'POST', headers, body });
    return ((await answer.json()) as { stored: number }).stored;
  };

  const bodies = (): string =>
    JSON.stringify(
      Array.from({ length: VALUES }, (_, at) => ({ field: 'temperature', value: at, timestamp: 1_700_000_000 + at })),
    );

  test.each([
    ['records', () => post(`/v1/devices/${much}/record/`, bodies())],
    ['calls a webhook', () => post(`/integrations/api/${webhook}/`, '{}')],
  ])('has three tenths of the time beside others when it %s', async (_, send) => {
    const state = { isOver: false, stored: 0 };
    const others = (async () => {
      while (!state.isOver)
        state.stored += await post(`/v1/devices/${single}/record/`, '{"field":"temperature","value":1}');
    })();
    const from = performance.now();
    try {
      for (let at = 0; at < REQUESTS; at += 1) expect(await send()).toBe(VALUES);
    } finally {
      state.isOver = true;
      await others;
    }
    expect(performance.now() - from).toBeGreaterThan(LEAST_MS * 0.95);
    expect(state.stored).toBeGreaterThan(0);
  });
});
