import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { SmallBroker } from '../support/small-broker.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const MINUTE = 60;
let server: TestServer;
let broker: SmallBroker;
let device: string;
let now: number;

beforeAll(async () => {
  broker = await SmallBroker.start();
  const source = { MQTT_SOURCE_URL: broker.url, MQTT_SOURCE_TOKEN: ADMIN_TOKEN };
  server = await startServer({ database: 'sqlite', env: source });
  const product = await createProduct(server, {
    input: {
      name: 'Room sensor',
      fields: [
        { identifier: 'temperature', name: 'Temperature', type: 'FLOAT', unit: '°C', role: 'PRIMARY' },
        { identifier: 'door', name: 'Door', type: 'BOOLEAN' },
        { identifier: 'mode', name: 'Mode', type: 'STRING' },
      ],
    },
  });
  device = product.deviceIds[0]!;
  now = Math.floor(Date.now() / 1_000);
  // Every five minutes for a week, with a day of silence; every minute of the last two days.
  const minutes = Array.from({ length: 2 * 1_440 }, (_, i) => now - (i + 1) * MINUTE);
  const older = Array.from({ length: 5 * 288 }, (_, i) => now - 3 * 86_400 - i * 5 * MINUTE);
  const entries = [...minutes, ...older].map((timestamp) => ({
    field: 'temperature',
    timestamp,
    value: Math.round(100 * (21 + 4 * Math.sin(timestamp / 13_750) + Math.sin(timestamp / 333))) / 100,
  }));
  entries.push(
    ...([
      { field: 'door', timestamp: now - 100_000, value: true },
      { field: 'door', timestamp: now - 40_000, value: false },
      { field: 'mode', timestamp: now - 90_000, value: 'heating' },
      { field: 'mode', timestamp: now - 30_000, value: 'idle' },
    ] as never[]),
  );
  await server.record(device, entries);
});
afterAll(async () => {
  await server.stop();
  broker.stop();
});

/** How much of a chart’s canvas is drawn on. */
const inkOf = (page: Page, name: string): Promise<number> =>
  page.getByRole('img', { name: `${name} over time` }).evaluate((chart) => {
    const canvas = chart.querySelector('canvas')!;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    let ink = 0;
    for (let at = 3; at < data.length; at += 4) if (data[at]! > 0) ink += 1;
    return ink;
  });

describeInBrowser('a device', () => {
  test('large numbers stand at the axis with all their digits, a text without letters is told', async () => {
    const product = await createProduct(server, { fields: { counter: 'FLOAT', level: 'FLOAT', note: 'STRING' } });
    const id = product.deviceIds[0]!;
    const counted = [0, 1, 2].map((at) => ({
      field: 'counter',
      value: 12_345_678_900 + at,
      timestamp: now - at * 600,
    }));
    await server.record(id, [...counted, { field: 'level', value: 5 }, { field: 'note', value: '' }]);
    const page = await openConsole(server, `/devices/${id}`);
    const axisOf = (name: string): Promise<number> =>
      page
        .getByRole('img', { name: `${name} over time` })
        .locator('.u-over')
        .evaluate((drawn) => drawn.offsetLeft);
    await expect.poll(() => axisOf('counter')).toBeGreaterThan(95);
    expect(await axisOf('level')).toBe(64);
    await page.getByRole('list', { name: 'Latest values' }).getByText('(empty)').waitFor();
  });

  test('shows who has sent for it over MQTT, and on which topic', async () => {
    const product = await createProduct(server, { fields: { level: 'FLOAT' } });
    const id = product.deviceIds[0]!;
    await expect.poll(() => broker.subscribers).toBe(1);
    broker.publish(`v1/${id}/level`, '5');
    const page = await openConsole(server, `/devices/${id}`);
    await page.getByRole('list', { name: 'Latest values' }).getByText('5', { exact: true }).waitFor();
    await page.reload();
    await page.getByText(`broker ${new URL(broker.url).host}`).waitFor();
    await page.getByText(`v1/${id}/level`).waitFor();
    await page.getByRole('img', { name: 'connected' }).waitFor();
  });

  test('shows charts of its fields and what comes while one looks', async () => {
    const page = await openConsole(server, `/devices/${device}`);
    const temperature = page.getByRole('region', { name: 'Temperature' });
    await temperature.getByText(/^1,4[34]\d$/).waitFor();
    await expect.poll(() => inkOf(page, 'Temperature')).toBeGreaterThan(2_000);
    await page.getByText('Europe/Berlin').waitFor();
    // What was before the range holds on at its begin.
    await page.getByRole('region', { name: 'Mode' }).getByText('idle').first().waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await server.record(device, [{ field: 'temperature', value: 33.25 }]);
    await page.getByRole('list', { name: 'Latest values' }).getByText('33.25 °C').waitFor();
    await temperature.locator('.readout').getByText('33.25 °C').waitFor();
    await shoot(page, 'device');
  });

  test('dragging zooms to finer data, a double click goes back, and the address says where one is', async () => {
    const page = await openConsole(server, `/devices/${device}?range=week`);
    const temperature = page.getByRole('region', { name: 'Temperature' });
    await temperature.getByText(/^means of/).waitFor();
    await shoot(page, 'device-week');
    const chart = (await temperature.locator('.u-over').boundingBox())!;
    const y = chart.y + chart.height / 2;
    await page.mouse.move(chart.x + chart.width * 0.8, y);
    await page.mouse.down();
    await page.mouse.move(chart.x + chart.width * 0.85, y, { steps: 4 });
    await page.mouse.up();
    await temperature.getByText(/^means of/).waitFor({ state: 'detached' });
    const zoomed = new URL(page.url()).searchParams;
    const width = Date.parse(zoomed.get('to')!) - Date.parse(zoomed.get('from')!);
    expect(width).toBeGreaterThan(0.04 * 7 * 86_400_000);
    expect(width).toBeLessThan(0.06 * 7 * 86_400_000);
    await shoot(page, 'device-zoomed');
    await page.mouse.dblclick(chart.x + chart.width / 2, y);
    await temperature.getByText(/^means of/).waitFor();
    expect(new URL(page.url()).search).toBe('?range=week');
  });

  test('the cursor of one chart moves in all of them', async () => {
    const page = await openConsole(server, `/devices/${device}`);
    for (const name of ['Temperature', 'Door'])
      await page.getByRole('region', { name }).locator('.readout strong').waitFor();
    const chart = (await page.getByRole('region', { name: 'Temperature' }).locator('.u-over').boundingBox())!;
    await page.mouse.move(chart.x + chart.width * 0.25, chart.y + 40);
    const door = page.getByRole('region', { name: 'Door' }).locator('.readout');
    await expect.poll(() => door.textContent()).toMatch(/\d\d:\d\d.*true/);
  });

  test('a value is written by hand, and the device is changed', async () => {
    const page = await openConsole(server, `/devices/${device}`, { dark: true });
    await page.getByRole('button', { name: 'Write a value' }).click();
    await page.getByLabel('Value (°C)').fill('warm');
    await page.getByRole('button', { name: 'Write', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/temperature|FLOAT|number/i)
      .waitFor();
    await page.getByLabel('Value (°C)').fill('18.125');
    await page.getByRole('button', { name: 'Write', exact: true }).click();
    await page.getByRole('list', { name: 'Latest values' }).getByText('18.125 °C').waitFor();

    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Cellar');
    await page.getByLabel('Tags').fill('cold, dark');
    await page.getByLabel('Metadata').fill('{"floor": -1}');
    await shoot(page, 'device-edit-dark');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Cellar' }).waitFor();
    await page.getByRole('link', { name: 'dark' }).waitFor();
    expect(
      (await server.gql('query ($id: ID!) { device(id: $id) { metadata plan { slug } } }', { id: device })).device,
    ).toEqual({
      metadata: { floor: -1 },
      plan: { slug: 'unlimited' },
    });
    await expect.poll(() => page.title()).toBe('Cellar · Inlet');
    await shoot(page, 'device-dark');
  });

  test('on a phone a finger moves a chart through time, two zoom it, and a tap reads it', async () => {
    const page = await openConsole(server, `/devices/${device}?range=week`, { phone: true });
    const temperature = page.getByRole('region', { name: 'Temperature' });
    await temperature.getByText(/^means of/).waitFor();
    await temperature.scrollIntoViewIfNeeded();
    const plot = temperature.locator('.u-over');
    // Under the fingers it stays the same one, whatever comes.
    await plot.evaluate((over) => (over.id = 'touched'));
    let { x, y } = (await plot.boundingBox())!;
    const { width, height } = (await plot.boundingBox())!;
    const touch = await page.context().newCDPSession(page);
    const fingers = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...at: number[]) =>
      touch.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: at.map((left, id) => ({ x: x + left, y: y + height / 2, id })),
      });
    const shown = async (): Promise<{ from: number; to: number }> => {
      const query = new URL(page.url()).searchParams;
      return { from: Date.parse(query.get('from') ?? ''), to: Date.parse(query.get('to') ?? '') };
    };

    // A finger's breadth to the right: what was earlier comes into sight.
    const week = 7 * 86_400_000;
    const begun = Date.now();
    await fingers('touchStart', 50);
    for (const left of [70, 100, 130, 50 + width / 2]) await fingers('touchMove', left);
    await fingers('touchEnd');
    await expect.poll(async () => (await shown()).to).toBeGreaterThan(0);
    const moved = await shown();
    expect((moved.to - moved.from) / week).toBeCloseTo(1, 3);
    expect((begun - moved.to) / week).toBeGreaterThan(0.4);
    expect((begun - moved.to) / week).toBeLessThan(0.55);

    // What came into sight is fetched and drawn, perhaps a line higher: value by value, before it was buckets.
    await temperature.getByText(/^means of/).waitFor({ state: 'detached' });
    expect(await plot.getAttribute('id')).toBe('touched');
    ({ x, y } = (await plot.boundingBox())!);
    await fingers('touchStart', 100, 140);
    for (const apart of [25, 30, 40]) await fingers('touchMove', 120 - apart, 120 + apart);
    await fingers('touchEnd');
    await expect.poll(async () => (await shown()).to).not.toBe(moved.to);
    const zoomed = await shown();
    expect((zoomed.to - zoomed.from) / week).toBeGreaterThan(0.45);
    expect((zoomed.to - zoomed.from) / week).toBeLessThan(0.65);
    const heldAt = ({ from, to }: { from: number; to: number }): number => from + ((to - from) * 120) / width;
    expect(Math.abs(heldAt(zoomed) - heldAt(moved)) / week).toBeLessThan(0.05);

    // What is drawn anew meanwhile forgets where it was read.
    const read = async (): Promise<boolean> => {
      await page.touchscreen.tap(x + width * 0.8, y + height / 2);
      return temperature.locator('.u-cursor-x').isVisible();
    };
    await expect.poll(read).toBe(true);
    expect(new URL(page.url()).search).toContain('from=');
    await shoot(page, 'device-touch');
  });
});
