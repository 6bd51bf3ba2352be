import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { LIBRARY } from './library/library.ts';
import { callsOf, callWebhook } from './webhook-client.ts';

test('the library has at least 25 decoders, each with calls', () => {
  expect(LIBRARY.length).toBeGreaterThanOrEqual(25);
  expect(new Set(LIBRARY.map(({ name }) => name)).size).toBe(LIBRARY.length);
  for (const { calls } of LIBRARY) expect(calls.length).toBeGreaterThan(0);
});

describe.each(EITHER_DATABASE)('decoders of the library on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  test.each(LIBRARY)('$name', async ({ source, fields, serialNumbers, calls }) => {
    const product = await createProduct(server, { fields, serialNumbers, input: { decoder: source } });
    for (const { expected, ...call } of calls) {
      const stored = expected.filter(({ code }) => code === undefined).length;
      const answer = await callWebhook(server, product, call);
      const [logged] = await callsOf(server, product.id);
      expect(logged?.run?.error).toBeNull();
      const came = logged?.run?.entries.map((entry, at) => {
        const wanted = expected[at] ?? { field: '' };
        return {
          ...(wanted.device === undefined ? {} : { device: entry.device }),
          field: entry.field,
          ...('value' in wanted ? { value: entry.value } : {}),
          ...(wanted.timestamp === undefined ? {} : { timestamp: Date.parse(entry.timestamp ?? '') / 1000 }),
          ...(entry.code === null ? {} : { code: entry.code }),
        };
      });
      expect(came).toEqual(expected);
      expect(answer).toMatchObject({ status: 200, body: { stored, rejected: expected.length - stored } });
      const accepted = logged?.run?.entries.filter(({ code }) => code === null) ?? [];
      for (const entry of accepted) {
        expect(product.deviceIds).toContain(entry.matchedDevice?.id);
        expect(entry.matchedField?.identifier).toBe(entry.field);
      }
    }
  });
});
