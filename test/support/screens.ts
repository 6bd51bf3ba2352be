import type { Page } from 'playwright-core';
import { createProduct, type TestServer } from './server.ts';
import { createToken } from './tenant.ts';

/** Something to see on every screen. */
export interface Seen {
  device: string;
  product: string;
  dashboard: string;
  /** The token of a public link. */
  link: string;
}

/** A screen of the console, at its path, with what shows that it is whole. */
export interface Screen {
  name: string;
  path: string;
  ready: (page: Page) => Promise<unknown>;
  /** False: seen by those who are not signed in. */
  signedIn?: false;
}

/** Makes a product with a decoder that fails, two devices with values, a call and a public link. */
export async function fillScreens(server: TestServer): Promise<Seen> {
  const fields = { temperature: 'FLOAT', door: 'BOOLEAN', place: 'GEOLOCATION' };
  const decoder = 'function Decoder(request) {\n  return JSON.parse(request.body).values.length;\n}\n';
  const made = await createProduct(server, { fields, serialNumbers: ['one', 'two'], input: { decoder } });
  const [device, product] = [made.deviceIds[0]!, made.id];
  await fetch(`${server.url}/integrations/api/${made.webhookId}/`, { method: 'POST', body: '{}' });
  const { workspaces } = await server.gql('{ workspaces { id } }');
  const shown = { deviceIds: [device], fields: ['temperature', 'door', 'place'] };
  const link = (await createToken(server, server.adminToken, workspaces[0].id, ['READ'], shown)).secret;
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
  const dashboard = (await server.gql(save, { w: all }))['saveDashboard'].id;
  const now = Math.floor(Date.now() / 1_000);
  const values = Array.from({ length: 200 }, (_, i) => ({ value: 20 + Math.sin(i / 9), timestamp: now - i * 400 }));
  await server.record(
    device,
    values.map((value) => ({ field: 'temperature', ...value })),
  );
  await server.record(device, [
    { field: 'door', value: true },
    { field: 'place', value: '(52.52,13.405)' },
  ]);
  return { device, product, dashboard, link };
}

/** Every screen of the console. */
export function screensOf({ device, product, dashboard, link }: Seen): Screen[] {
  const screen = (name: string, path: string, ready: Screen['ready'], more: { signedIn?: false } = {}): Screen => ({ name, path, ready, ...more }); // oxfmt-ignore
  return [
    screen('sign-in', '/devices', (page) => page.getByLabel('Token').waitFor(), { signedIn: false }),
    screen('home', '/', (page) => page.getByRole('region', { name: 'Map' }).waitFor()),
    screen('import', '/import', (page) => page.getByRole('heading', { name: 'Import values' }).waitFor()),
    screen('unknown', '/unknown', (page) => page.getByText('None waits.').waitFor()),
    screen('start', '/start', (page) => page.getByRole('button', { name: 'Create product and device' }).waitFor()),
    screen('devices', '/devices', (page) => page.getByText('device two').waitFor()),
    screen('device', `/devices/${device}`, (page) => page.getByRole('region', { name: 'door' }).locator('strong').waitFor()),
    screen('products', '/products', (page) => page.getByRole('link', { name: 'version 1' }).waitFor()),
    screen('product', `/products/${product}`, (page) => page.getByLabel('Role of door').waitFor()),
    screen('rule', `/products/${product}/rules/new`, (page) => page.getByText('Fill in what is watched').waitFor()),
    screen('decoder', `/products/${product}/decoder`, (page) => page.getByText('THREW', { exact: true }).waitFor()),
    screen('calls', `/products/${product}/calls`, (page) => page.getByText('POST {}').waitFor()),
    screen('dashboards', '/dashboards', (page) => page.getByRole('link', { name: 'Whole house' }).waitFor()),
    screen('dashboard', `/dashboards/${dashboard}`, (page) => page.getByRole('application').waitFor()),
    screen('alerts', '/alerts', (page) => page.getByText('Nothing fires.').waitFor()),
    screen('endpoints', '/endpoints', (page) => page.getByText('Nobody is told yet.').waitFor()),
    screen('access', '/access', (page) => page.getByText('this session').waitFor()),
    screen('audit', '/audit', (page) => page.getByRole('link', { name: 'Create product' }).waitFor()),
    screen('users', '/users', (page) => page.getByRole('region', { name: 'Users' }).getByText('operator@localhost').first().waitFor()),
    screen('server', '/server', (page) => page.getByText('Nothing waits in any lane').or(page.getByRole('columnheader', { name: 'Lane' })).waitFor()),
    screen('share', `/share#${link}`, (page) => page.getByRole('region', { name: 'door' }).first().getByText('true').waitFor(), { signedIn: false }),
  ]; // oxfmt-ignore
}
