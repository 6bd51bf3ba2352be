import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const MOST = 0.05;
/** Each answer comes so much later that what stands there before is painted. */
const LATE_MS = 150;

let server: TestServer;
let device: string;
let product: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  const fields = { temperature: 'FLOAT', door: 'BOOLEAN', place: 'GEOLOCATION' };
  const decoder = 'function Decoder(request) {\n  return JSON.parse(request.body).values.length;\n}\n';
  const serialNumbers = Array.from({ length: 40 }, (_, at) => `serial-${at}`);
  const made = await createProduct(server, { fields, serialNumbers, input: { decoder } });
  [device, product] = [made.deviceIds[0]!, made.id];
  await server.gql('mutation ($id: ID!) { updateDevice(id: $id, input: { tags: ["roof"] }) { id } }', { id: device });
  for (let call = 0; call < 30; call += 1)
    await fetch(`${server.url}/integrations/api/${made.webhookId}/`, { method: 'POST', body: `{"call":${call}}` });
  const now = Math.floor(Date.now() / 1_000);
  const values = Array.from({ length: 100 }, (_, at) => ({
    field: 'temperature',
    value: at,
    timestamp: now - at * 60,
  }));
  await server.record(device, [
    ...values,
    { field: 'door', value: true },
    { field: 'place', value: '(52.52,13.405)' },
    { field: 'wind', value: 3 },
  ]);
});
afterAll(() => server.stop());

/** In the page: how far what was seen has jumped since it was loaded, by the browser's own measure, and what did. */
const JUMPS = `new Promise((resolve) => {
  const shifts = [];
  new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: 'layout-shift', buffered: true });
  // What was buffered is told after the next frame.
  requestAnimationFrame(() =>
    setTimeout(() => {
      const sum = shifts.reduce((all, { value }) => all + value, 0);
      const placeOf = ({ node }) => node?.parentElement?.className + ' > ' + node?.className;
      resolve({ sum, what: shifts.map(({ value, sources }) => value.toFixed(4) + ' ' + sources.map(placeOf)) });
    }, 100),
  );
})`;

const screens = (): [name: string, path: string, ready: (page: Page) => Promise<unknown>][] => [
  ['devices', '/devices', (page) => page.getByText('device serial-1', { exact: true }).waitFor()],
  [
    'device',
    `/devices/${device}`,
    (page) => page.getByRole('region', { name: 'temperature' }).getByText('99').first().waitFor(),
  ],
  ['products', '/products', (page) => page.getByRole('link', { name: 'version 1' }).waitFor()],
  ['product', `/products/${product}`, (page) => page.getByLabel('Role of door').waitFor()],
  ['rule', `/products/${product}/rules/new`, (page) => page.getByText('Fill in what is watched').waitFor()],
  ['decoder', `/products/${product}/decoder`, (page) => page.getByText('THREW').waitFor()],
  ['calls', `/products/${product}/calls`, (page) => page.getByText('POST {"call":29}').waitFor()],
  ['alerts', '/alerts', (page) => page.getByText('Nothing fires.').waitFor()],
  ['endpoints', '/endpoints', (page) => page.getByText('Nobody is told yet.').waitFor()],
  ['access', '/access', (page) => page.getByText('this session').waitFor()],
];

describeInBrowser('while it loads', () => {
  test.each([
    ['a laptop', { phone: false }],
    ['a phone', { phone: true }],
  ])('nothing jumps on %s', async (_where, options) => {
    const page = await openConsole(server, '/nowhere', options);
    const devtools = await page.context().newCDPSession(page);
    const slowTo = (rate: number): Promise<unknown> => devtools.send('Emulation.setCPUThrottlingRate', { rate });
    await page.route('**/graphql', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, LATE_MS));
      await route.continue().catch(() => {});
    });
    for (const [name, path, ready] of screens()) {
      // As on a slow machine, on which each step of what comes is painted. It takes all of a processor: once is enough,
      // where less fits on the screen.
      if (options.phone) await slowTo(4);
      await page.goto(`${server.url}/console${path}`);
      await ready(page);
      if (options.phone) await slowTo(1);
      await page.waitForLoadState('networkidle');
      const { sum, what } = await page.evaluate<{ sum: number; what: string[] }>(JUMPS);
      expect(sum, `${name}: ${what.join(', ')}`).toBeLessThan(MOST);
    }
  });
});
