import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, openElsewhere, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createToken } from '../support/tenant.ts';

const FIELDS = { temperature: 'FLOAT', note: 'STRING', secret_one: 'FLOAT' };
const HIDDEN = /secret_one|4711/;

let server: TestServer;
let product: TestProduct;
let elsewhere: Server;
let workspaceId: string;
/** Origin of another host, whose pages may show public links in frames. */
let origin: string;

beforeAll(async () => {
  elsewhere = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><iframe src="${decodeURIComponent(request.url!.slice(2))}" width="900" height="600">`);
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  origin = `http://localhost:${(elsewhere.address() as AddressInfo).port}`;
  server = await startServer({ database: 'sqlite', env: { ALLOWED_ORIGINS: origin } });
  product = await createProduct(server, { fields: FIELDS, serialNumbers: ['hall', 'yard', 'cellar'] });
  const widget = (kind: string, title: string, fields: string[], x: number): object => {
    return { kind, title, fields, place: { x, y: 0, width: 4, height: 4 } };
  };
  const widgets = [
    widget('value', 'Now', ['temperature'], 0),
    widget('line', 'Both', ['temperature', 'secret_one'], 4),
    widget('value', 'Secret', ['secret_one'], 8),
  ];
  await server.gql('mutation ($id: ID!, $d: JSON!) { updateProduct(id: $id, input: { dashboard: $d }) { id } }', {
    id: product.id,
    d: { widgets },
  });
  for (const id of product.deviceIds) await record(id, 20.5);
  workspaceId = (await server.gql('{ workspaces { id } }'))['workspaces'][0].id;
});
afterAll(async () => {
  elsewhere.close();
  await server.stop();
});

async function record(device: string, temperature: number): Promise<void> {
  const entries = [
    { field: 'temperature', value: temperature },
    { field: 'secret_one', value: 4711 },
  ];
  expect((await server.record(device, entries)).status).toBe(200);
}

function link(more: object): Promise<{ id: string; secret: string }> {
  return createToken(server, server.adminToken, workspaceId, ['READ'], { fields: ['temperature'], ...more });
}

/** The addresses that the page asks, with its referrer, and what it is answered and pushed. */
function watch(page: Page): { sent: string[]; heard: string[] } {
  const [sent, heard]: [string[], string[]] = [[], []];
  page.on('request', (request) => {
    sent.push(`${request.url()} ${request.headers()['referer'] ?? ''}`);
  });
  page.on('response', (response) => {
    if (response.url().endsWith('/graphql'))
      response.text().then(
        (text) => heard.push(text),
        () => {},
      );
  });
  page.on('websocket', (socket) => {
    sent.push(socket.url());
    socket.on('framereceived', ({ payload }) => heard.push(String(payload)));
  });
  return { sent, heard };
}

const now = (page: Pick<Page, 'getByRole'>, text: string): Promise<void> =>
  page.getByRole('region', { name: 'Now' }).getByText(text).waitFor();

describeInBrowser('a public link', () => {
  test('is made in the console, shown once, draws the dashboard live for a stranger, and ends when it is revoked', async () => {
    const admin = await openConsole(server, '/access');
    const tokens = admin.getByRole('region', { name: 'Tokens of default' });
    await tokens.getByRole('button', { name: 'Public link' }).click();
    const dialog = admin.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Neighbours');
    await dialog.getByRole('button', { name: 'Make link' }).click();
    await dialog.getByText('Choose a product or a device to show.').waitFor();
    await dialog.getByLabel('Device', { exact: true }).fill('hall');
    await dialog.getByRole('button', { name: /device hall/ }).click();
    await dialog.getByRole('button', { name: 'Make link' }).click();
    await dialog.getByText('Choose at least one field to show.').waitFor();
    await dialog.getByLabel('temperature').check();
    await dialog.getByLabel('It ends').selectOption('in 30 days');
    await shoot(admin, 'new-link');
    await dialog.getByRole('button', { name: 'Make link' }).click();
    const address = (await dialog.locator('pre').first().textContent())!;
    expect(address).toMatch(new RegExp(`^${server.url}/console/share#inl_[\\w-]{43}$`));
    await dialog.getByRole('button', { name: 'Copy the link' }).click();
    await dialog.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
    await admin.evaluate('document.execCommand = () => false; navigator.clipboard.writeText = () => Promise.reject()');
    await dialog.getByRole('button', { name: 'Copy the link' }).click();
    await dialog.getByText('select the text and copy it').waitFor();
    await dialog.getByRole('button', { name: 'I have it' }).click();
    await tokens.getByText('May see values – only device “device hall” and field “temperature”.').waitFor();
    const secret = address.split('#')[1]!;
    expect(await admin.content()).not.toContain(secret);

    const page = await openConsole(server, '/share', { signedIn: false });
    await page.getByText('This link is not complete').waitFor();
    const { sent, heard } = watch(page);
    await page.goto(address);
    await page.getByRole('heading', { name: 'device hall' }).waitFor();
    await now(page, '20.5');
    await page.getByText('Live', { exact: true }).waitFor();
    await record(product.deviceIds[0]!, 23.75);
    await now(page, '23.75');
    // The widget of two fields shows the one, under its name; that of the other is not there.
    expect(await page.getByRole('region').count()).toBe(2);
    expect(await page.getByRole('region', { name: 'temperature' }).count()).toBe(1);
    expect(await page.getByRole('link').count()).toBe(0);
    expect(await page.content()).not.toMatch(HIDDEN);
    expect(await page.title()).toBe('device hall · Inlet');
    await shoot(page, 'share');

    await tokens.getByRole('button', { name: 'Revoke Neighbours' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('This link has ended.').waitFor();
    expect(await page.getByRole('region').count()).toBe(0);
    await page.reload();
    await page.getByText('This link has ended.').waitFor();

    expect(sent.length).toBeGreaterThan(5);
    expect(sent.filter((one) => one.includes(secret) || / http/.test(one))).toEqual([]);
    expect(heard.join()).toContain('23.75');
    expect(heard.join()).not.toMatch(HIDDEN);
    expect(JSON.stringify(server.process.lines)).not.toContain(secret);
  });

  test('to a product shows one of its devices at a time, and follows a change of the token', async () => {
    const { id, secret } = await link({ productIds: [product.id] });
    const page = await openConsole(server, `/share/#${secret}`, { signedIn: false });
    await page.getByRole('heading', { name: 'device cellar' }).waitFor();
    await page.getByLabel('Device').selectOption('device yard');
    await page.getByRole('heading', { name: 'device yard' }).waitFor();
    await record(product.deviceIds[1]!, 7.25);
    await now(page, '7.25');
    const update =
      'mutation ($id: ID!, $fields: [String!]) { updateToken(id: $id, input: { fields: $fields }) { id } }';
    await server.gql(update, { id, fields: ['note'] });
    // No widget shows a note: it has one of its own.
    await page.getByRole('region', { name: 'note' }).waitFor();
    expect(await page.getByRole('region').count()).toBe(1);
  });

  test('counts alone where somebody is signed in, and says when it is not complete or unknown', async () => {
    const { secret } = await link({ deviceIds: [product.deviceIds[0]] });
    const page = await openConsole(server, `/share#${secret}`);
    await page.getByRole('heading', { name: 'device hall' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.content()).not.toMatch(HIDDEN);
    expect(await page.getByLabel('Device').count()).toBe(0);
    const nobody = await openConsole(server, '/share#inl_unknown', { signedIn: false });
    await nobody.getByText('This link has ended.').waitFor();
  });

  test('ends by itself, also on a page that is open', async () => {
    const expiresAt = new Date(Date.now() + 4_000).toISOString();
    const { secret } = await link({ deviceIds: [product.deviceIds[0]], expiresAt });
    const page = await openConsole(server, `/share#${secret}`, { signedIn: false });
    await page.getByText('This link has ended.').waitFor();
  });

  test('stands in a frame of an origin that is allowed, and in no other', async () => {
    const { secret } = await link({ deviceIds: [product.deviceIds[0]] });
    const address = encodeURIComponent(`${server.url}/console/share#${secret}`);
    const page = await openElsewhere(`${origin}/?${address}`);
    await page.frameLocator('iframe').getByRole('heading', { name: 'device hall' }).waitFor();
    await record(product.deviceIds[0]!, 25.25);
    await now(page.frameLocator('iframe'), '25.25');
    const others = await openElsewhere(`${origin.replace('localhost', '127.0.0.1')}/?${address}`);
    const policies: string[] = [];
    others.on('console', (message) => policies.push(message.text()));
    await others.reload();
    await expect.poll(() => policies.join()).toContain('frame-ancestors');
    expect(await others.frameLocator('iframe').getByRole('heading').count()).toBe(0);
  });
});

test('its page says who may frame it and sends no referrer, and every other page of the console lets nobody', async () => {
  const headersOf = async (path: string): Promise<[string, string]> => {
    const { headers } = await fetch(server.url + path);
    const ancestors = /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy')!)![1]!;
    return [ancestors, headers.get('referrer-policy')!];
  };
  for (const path of ['/console/share', '/console/share/', '/console/share.html'])
    expect(await headersOf(path)).toEqual([origin, 'no-referrer']);
  for (const path of ['/console/', '/console/shared', '/console/graphql', '/console/access'])
    expect(await headersOf(path)).toEqual(["'none'", 'same-origin']);
  const closed = await startServer({ database: 'sqlite' });
  try {
    const { headers } = await fetch(`${closed.url}/console/share`);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  } finally {
    await closed.stop();
  }
});
