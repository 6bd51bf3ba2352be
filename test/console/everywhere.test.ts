import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, leave, openConsole, shoot } from '../support/browser.ts';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';
import { createToken } from '../support/tenant.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** Packed by gzip in KB, where it is not 60: 40 of the first screen, 90 with charts, 210 with the editor. */
const BUDGETS: Record<string, number> = { home: 40, device: 90, product: 90, rule: 90, dashboard: 90, decoder: 210 };

let database: TestDatabase;
let server: TestServer;
let device: string;
let product: string;
let dashboard: string;
/** The token of a public link. */
let link: string;
beforeAll(async () => {
  database = await createDatabase('sqlite');
  server = await startServer({ database });
  const fields = { temperature: 'FLOAT', door: 'BOOLEAN', place: 'GEOLOCATION' };
  const decoder = 'function Decoder(request) {\n  return JSON.parse(request.body).values.length;\n}\n';
  const made = await createProduct(server, { fields, serialNumbers: ['one', 'two'], input: { decoder } });
  [device, product] = [made.deviceIds[0]!, made.id];
  await fetch(`${server.url}/integrations/api/${made.webhookId}/`, { method: 'POST', body: '{}' });
  const { workspaces } = await server.gql('{ workspaces { id } }');
  const shown = { deviceIds: [device], fields: ['temperature', 'door', 'place'] };
  link = (await createToken(server, server.adminToken, workspaces[0].id, ['READ'], shown)).secret;
  const widgets = ['value', 'gauge', 'line', 'table'].map((kind, at) => ({
    kind,
    fields: kind === 'value' ? ['temperature', 'door'] : ['temperature'],
    place: { x: 3 * at, y: 0, width: 3, height: 3 },
    options: { thresholds: [{ above: 20, color: 'amber' }] },
    source: { productId: product },
  }));
  const map = { kind: 'map', fields: ['place'], place: { x: 0, y: 3, width: 6, height: 5 } };
  const text = { kind: 'text', place: { x: 6, y: 3, width: 6, height: 2 }, options: { text: 'https://example.org' } };
  const save = 'mutation ($w: JSON!) { saveDashboard(name: "Whole house", widgets: $w) { id } }';
  const all = [...widgets, { ...map, source: { deviceIds: [device] } }, text];
  dashboard = (await server.gql(save, { w: all }))['saveDashboard'].id;
  const now = Math.floor(Date.now() / 1_000);
  await server.record(
    device,
    Array.from({ length: 200 }, (_, i) => ({
      field: 'temperature',
      value: 20 + Math.sin(i / 9),
      timestamp: now - i * 400,
    })),
  );
  await server.record(device, [
    { field: 'door', value: true },
    { field: 'place', value: '(52.52,13.405)' },
  ]);
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

/** What axe finds that is serious or worse: rule and where. */
async function seriousOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  });
}

/** How many files of the console it asked for, and their size in KB as packed. */
async function loaded(page: Page): Promise<[files: number, kilobytes: number]> {
  const asked = await page.evaluate<string[]>('performance.getEntriesByType("resource").map(({ name }) => name)');
  const files = asked.map((url) => new URL(url).pathname).filter((file) => file.startsWith('/console/assets/'));
  return [files.length, files.reduce((sum, file) => sum + readFileSync(`dist${file}.gz`).length, 0) / 1_024];
}

const fits = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

const screens = (): [name: string, path: string, ready: (page: Page) => Promise<unknown>][] => [
  ['sign-in', '/devices', (page) => page.getByLabel('Token').waitFor()],
  ['home', '/', (page) => page.getByRole('region', { name: 'Map' }).waitFor()],
  ['unknown', '/unknown', (page) => page.getByText('None waits.').waitFor()],
  ['start', '/start', (page) => page.getByRole('button', { name: 'Create product and device' }).waitFor()],
  ['devices', '/devices', (page) => page.getByText('device two').waitFor()],
  ['device', `/devices/${device}`, (page) => page.getByRole('region', { name: 'door' }).locator('strong').waitFor()],
  ['products', '/products', (page) => page.getByRole('link', { name: 'version 1' }).waitFor()],
  ['product', `/products/${product}`, (page) => page.getByLabel('Role of door').waitFor()],
  ['rule', `/products/${product}/rules/new`, (page) => page.getByText('Fill in what is watched').waitFor()],
  ['decoder', `/products/${product}/decoder`, (page) => page.getByText('THREW').waitFor()],
  ['calls', `/products/${product}/calls`, (page) => page.getByText('POST {}').waitFor()],
  ['dashboards', '/dashboards', (page) => page.getByRole('link', { name: 'Whole house' }).waitFor()],
  ['dashboard', `/dashboards/${dashboard}`, (page) => page.getByRole('application').waitFor()],
  ['alerts', '/alerts', (page) => page.getByText('Nothing fires.').waitFor()],
  ['endpoints', '/endpoints', (page) => page.getByText('Nobody is told yet.').waitFor()],
  ['access', '/access', (page) => page.getByText('this session').waitFor()],
  ['share', `/share#${link}`, (page) => page.getByRole('region', { name: 'door' }).first().getByText('true').waitFor()],
];

describeInBrowser('every screen', () => {
  test.each([
    ['a laptop in light', {}],
    ['a phone in dark', { phone: true, dark: true }],
  ])(
    'on %s: what is loaded fits into its budget, axe finds nothing serious, and nothing sticks out',
    async (where, options) => {
      for (const [name, path, ready] of screens()) {
        const page = await openConsole(server, path, { ...options, signedIn: !['sign-in', 'share'].includes(name) });
        await ready(page);
        await shoot(page, `${name}-${where.replaceAll(' ', '-')}`);
        const [files, kilobytes] = await loaded(page);
        expect(files, name).toBeGreaterThan(1);
        expect(kilobytes, name).toBeLessThan(BUDGETS[name] ?? 60);
        expect(await seriousOf(page), name).toEqual([]);
        expect(await fits(page), name).toBe(true);
        await leave(page);
      }
    },
  );

  test('a lost connection is told by the badge; it comes back by itself, with what was missed', async () => {
    const page = await openConsole(server, `/devices/${device}`);
    await page.getByText('Live', { exact: true }).waitFor();
    const port = new URL(server.url).port;
    await server.stop();
    await page.getByText('Retrying', { exact: true }).waitFor();
    server = await startServer({ database, env: { PORT: port } });
    await server.record(device, [{ field: 'temperature', value: 42.75 }]);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('list', { name: 'Latest values' }).getByText('42.75').waitFor();
  });

  test('a session that is over leads to the sign-in page, and back to where one was', async () => {
    const { createToken } = await server.gql(
      'mutation { createToken(input: { name: "short", kind: PERSONAL }) { secret token { id } } }',
    );
    const page = await openConsole(server, '/access', { signedIn: false });
    const signIn = async (secret: string): Promise<void> => {
      await page.getByRole('button', { name: 'Token' }).click();
      await page.getByLabel('Token').fill(secret);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('this session').waitFor();
    };
    await signIn(createToken.secret);
    await page.getByText('Live', { exact: true }).waitFor();
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: createToken.token.id });
    // Nobody has to touch anything: the connection says so.
    await page.getByRole('heading', { name: 'Inlet' }).waitFor();
    await signIn(server.adminToken);
    expect(new URL(page.url()).pathname).toBe('/console/access');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Inlet' }).waitFor();
    expect((await page.context().cookies()).map(({ name }) => name)).toEqual([]);
  });

  test('the search box finds devices, serial numbers, products and fields, by the keyboard alone', async () => {
    const page = await openConsole(server, '/access');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('door');
    await page.getByRole('option', { name: /field of product/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('two');
    await page.getByRole('option', { name: /device two/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'device two' }).waitFor();
    await expect.poll(() => page.title()).toBe('device two · Inlet');
  });
});
