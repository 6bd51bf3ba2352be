import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, fitsInWidth, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const HOUR = 3_600;
let server: TestServer;
let productId: string;
let devices: string[];
let now: number;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { PLAN_RETENTION_DAYS: 'free=90' } });
  const fields = [
    { identifier: 'temperature', name: 'Temperature', type: 'FLOAT', unit: '°C', role: 'PRIMARY', display: { high: 30 } },
    { identifier: 'humidity', name: 'Humidity', type: 'FLOAT', unit: '%' },
    ...Array.from({ length: 6 }, (_, at) => ({ identifier: `extra${at}`, type: 'FLOAT' })),
    { identifier: 'door', name: 'Door', type: 'BOOLEAN', display: { words: [{ value: true, text: 'Open', color: 'red' }] } },
  ]; // oxfmt-ignore
  const made = await createProduct(server, { input: { name: 'Room', fields }, serialNumbers: ['one', 'two', 'three'] });
  [productId, devices] = [made.id, made.deviceIds];
  now = Math.floor(Date.now() / 1_000);
  const entries = (of: number) =>
    Array.from({ length: 96 }, (_, at) => ({
      timestamp: now - at * 1_800,
      field: 'temperature',
      value: of + at / 100,
    }));
  await server.record(devices[0]!, [
    ...entries(20),
    { field: 'humidity', value: 55, timestamp: now - HOUR },
    { field: 'humidity', value: 56, timestamp: now - 60 },
    { field: 'extra0', value: 123_456_789_012 },
    { field: 'door', value: true },
  ] as never[]);
  await server.record(devices[1]!, entries(10));
});
afterAll(() => server.stop());

/** How many requests the page sends to the API from now on. */
function requestsOf(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) => {
    const name = /(?:query|mutation) (\w+)/.exec(request.postData() ?? '')?.[1];
    if (request.url().endsWith('/graphql') && name !== undefined) sent.push(name);
  });
  return sent;
}

describeInBrowser('the charts of a device', () => {
  test('are folded but for fields with a role, filtered by name, and fetched by one request', async () => {
    const page = await openConsole(server, '/access');
    await page.getByText('this session').waitFor();
    const sent = requestsOf(page);
    await page.goto(`${server.url}/console/devices/${devices[0]}`);
    await page.getByRole('region', { name: 'Temperature' }).locator('.readout strong').waitFor();
    expect(await page.locator('.time-chart').count()).toBe(1);
    const door = page.getByRole('region', { name: 'Door' });
    await door.locator('[data-color="red"]').getByText('Open').waitFor();
    await page.getByRole('button', { name: 'Open all' }).click();
    await expect.poll(() => page.locator('.time-chart').count()).toBe(9);
    await door.locator('.readout').getByText('Open').waitFor();
    // Nine of them: those of eight at once.
    expect(sent.filter((name) => name === 'DeviceCharts').length).toBe(3);
    expect(sent.filter((name) => /^(Device|FiringAlerts|Product)/.test(name) && name !== 'DeviceCharts')).toEqual(['DevicePageQuery']); // oxfmt-ignore
    const extra = page.getByRole('region', { name: 'extra0' });
    // Not rounded past its own bounds.
    await expect.poll(() => extra.locator('dl').textContent()).toMatch(/Mean123,456,789,012/);
    await page.getByRole('searchbox', { name: 'Filter fields' }).fill('humid');
    await expect.poll(() => page.locator('.time-chart').count()).toBe(1);
    await page.reload();
    await page.getByRole('region', { name: 'Humidity' }).locator('.time-chart').waitFor();
    expect(await page.locator('.time-chart').count()).toBe(1);
    await page.getByRole('button', { name: 'Fold Humidity' }).click();
    await page.getByRole('region', { name: 'Humidity' }).getByText('56 %').or(page.getByText('56%')).first().waitFor();
    await shoot(page, 'device-folded');
  });

  test('show a second field, an earlier time and other devices, and the address keeps it', async () => {
    const page = await openConsole(server, `/devices/${devices[0]}`);
    const chart = page.getByRole('region', { name: 'Temperature' });
    await chart.getByLabel('Second field in Temperature').selectOption('humidity');
    const compared = chart.locator('.compared');
    await compared.getByText('Humidity').waitFor();
    await compared.getByText('56%').waitFor();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('button', { name: 'the day before' }).click();
    // A day before its last value, it had 48 half hours more.
    await expect.poll(() => compared.locator('li', { hasText: 'the day before' }).textContent()).toMatch(/20\.4\d °C/);
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('button', { name: 'Other devices…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('device two').check();
    await shoot(page, 'compare-devices');
    await dialog.getByRole('button', { name: 'Compare' }).click();
    await expect.poll(() => compared.locator('li', { hasText: 'device two' }).textContent()).toMatch(/10(\.\d+)? °C/);
    await shoot(page, 'device-compared');
    await page.reload();
    await expect.poll(() => compared.locator('li').count()).toBe(3);
    await page.getByRole('button', { name: 'Do not compare with other devices' }).click();
    await expect.poll(() => compared.locator('li').count()).toBe(2);
    const phone = await openConsole(server, new URL(page.url()).pathname.slice('/console'.length) + new URL(page.url()).search, { phone: true, dark: true }); // oxfmt-ignore
    await phone.getByRole('region', { name: 'Temperature' }).locator('.compared li').first().waitFor();
    expect(await fitsInWidth(phone)).toBe(true);
    await shoot(phone, 'device-compared-phone');
  });

  test('a dashboard stands in place of the tiles, and the charts below it are folded', async () => {
    const dashboard = {
      widgets: [{ kind: 'value', fields: ['temperature'], place: { x: 0, y: 0, width: 3, height: 2 } }],
    };
    const update = 'mutation ($id: ID!, $input: UpdateProductInput!) { updateProduct(id: $id, input: $input) { id } }';
    await server.gql(update, { id: productId, input: { dashboard } });
    const page = await openConsole(server, `/devices/${devices[0]}`);
    await page.locator('.dashboard').waitFor();
    expect(await page.getByRole('list', { name: 'Latest values' }).count()).toBe(0);
    expect(await page.locator('.field-chart').count()).toBe(0);
    await page.locator('.folded-field').first().click();
    await page.locator('.field-chart').waitFor();
    await server.gql(update, { id: productId, input: { dashboard: null } });
  });

  test('rules of the product draw their limits, and days that are no longer kept are told', async () => {
    const rule = {
      name: 'Too warm',
      levels: [{ severity: 'CRITICAL', all: [{ field: 'temperature', operator: 'GT', value: 21 }] }],
    };
    await server.gql('mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) { id } }', { p: productId, i: rule }); // oxfmt-ignore
    const page = await openConsole(server, `/devices/${devices[2]}`);
    const inkOf = (): Promise<number> =>
      page.locator('#field-temperature .time-chart').evaluate((chart) => {
        const canvas = chart.querySelector('canvas')!;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        let red = 0;
        for (let at = 0; at < data.length; at += 4) if (data[at]! > 150 && data[at + 1]! < 90) red += 1;
        return red;
      });
    await expect.poll(inkOf).toBeGreaterThan(100);
    await server.gql('mutation ($id: ID!) { updateDevice(id: $id, input: { plan: "free" }, confirm: true) { id } }', { id: devices[2] }); // oxfmt-ignore
    await page.goto(`${server.url}/console/devices/${devices[2]}?range=year`);
    await page.getByText(/kept since/).waitFor();
    await shoot(page, 'device-kept');
  });
});
