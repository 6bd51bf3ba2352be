import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { fuzz } from './fuzz.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { ANONYMOUS_PER_MINUTE: '0', GRAPHQL_COMPILE: 'seen' } });
});
afterAll(() => server?.stop());

test(
  'nothing that anyone sends is answered 500, stops or freezes the server, or is an error in its log',
  { timeout: 120_000 },
  async () => {
    const { findings, inputs } = await fuzz(server, { seed: 20_261_121, inputs: 3_000, withinMs: 45_000 });
    expect(findings).toEqual([]);
    expect(inputs).toBeGreaterThan(300);
  },
);
