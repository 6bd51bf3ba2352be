import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let device: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  const product = await createProduct(server, {
    input: {
      name: 'Tracker',
      fields: [
        { identifier: 'position', name: 'Position', type: 'GEOLOCATION' },
        { identifier: 'speed', name: 'Speed', type: 'FLOAT', unit: 'km/h' },
      ],
    },
  });
  device = product.deviceIds[0]!;
  const now = Math.floor(Date.now() / 1_000);
  // Round Berlin in ten hours, with two hours in which nobody knows where.
  const times = Array.from({ length: 120 }, (_, i) => now - 36_000 + i * 300).filter((_, i) => i < 60 || i > 84);
  await server.record(
    device,
    times.flatMap((timestamp) => {
      const angle = (timestamp - now) / 7_000;
      const place = `(${(52.5 + 0.05 * Math.sin(angle)).toFixed(5)},${(13.4 + 0.12 * Math.cos(angle)).toFixed(5)})`;
      return [
        { field: 'position', timestamp, value: place },
        { field: 'speed', timestamp, value: 30 + 10 * Math.sin(angle * 5) },
      ];
    }),
  );
});
afterAll(() => server.stop());

const scaleOf = async (map: Locator): Promise<number> =>
  Number(await map.locator('svg').first().getAttribute('data-scale'));
const placeOf = (map: Locator, kind: string) => map.locator(`.track-mark[data-kind=${kind}]`).getAttribute('transform');

describeInBrowser('the way of a device', () => {
  test('is drawn on a map: zoomed, dragged and walked along, and its charts show the same moment', async () => {
    const page = await openConsole(server, `/devices/${device}`);
    const card = page.getByRole('region', { name: 'Position' });
    const map = card.getByRole('application', { name: /^Position on a map/ });
    await map.getByText('Start').waitFor();
    await map.getByText('Now').waitFor();
    await map.getByText('5 km').waitFor();
    expect((await map.locator('.track-line').first().getAttribute('d'))!.split(/[ML]/).length).toBe(96);
    // The silence is a way that nobody knows.
    expect(await map.locator('[data-unknown]').getAttribute('d')).toMatch(/^M[\d. ]+L[\d. ]+$/);
    await shoot(page, 'track');

    // The wheel scrolls the page until one has gone to the map.
    const whole = await scaleOf(map);
    const { x, y, width, height } = (await map.boundingBox())!;
    const middle = { x: x + width / 2, y: y + height / 2 };
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.wheel(0, 5);
    await page.mouse.click(middle.x, middle.y);
    expect(await scaleOf(map)).toBe(whole);
    const box = (await map.boundingBox())!;
    await page.mouse.move(box.x + width / 2, box.y + height / 2);
    await page.mouse.wheel(0, -240);
    await expect.poll(() => scaleOf(map)).toBeCloseTo(2 * whole, -1);

    const before = await placeOf(map, 'end');
    await page.mouse.down();
    await page.mouse.move(box.x + width / 2 + 50, box.y + height / 2 + 30, { steps: 3 });
    await page.mouse.up();
    const numbers = (text: string | null) => (text?.match(/-?[\d.]+/g) ?? []).map(Number);
    const [from, to] = [numbers(before), numbers(await placeOf(map, 'end'))];
    expect(to[0]! - from[0]!).toBeCloseTo(50, 0);
    expect(to[1]! - from[1]!).toBeCloseTo(30, 0);

    await page.keyboard.press('-');
    await expect.poll(() => scaleOf(map)).toBeCloseTo((2 * whole) / 1.5, -1);
    await page.keyboard.press('ArrowRight');
    expect(numbers(await placeOf(map, 'end'))[0]).not.toBe(to[0]);
    await page.keyboard.press('0');
    expect(await scaleOf(map)).toBe(whole);

    // Along the way by the keyboard; the charts point at the same moment.
    await page.mouse.move(5, 5);
    const readout = card.locator('.readout');
    await page.keyboard.press('PageUp');
    await page.keyboard.press('PageUp');
    const said = (await readout.textContent())!;
    expect(said).toMatch(/\d\d:\d\d:\d\d52\.\d+° N, 13\.\d+° E$/);
    const speed = page.getByRole('region', { name: 'Speed' });
    await expect
      .poll(() => speed.locator('.readout small').first().textContent())
      .toBe(await readout.locator('small').textContent());

    // And the other way round: where was it when it went so fast?
    const chart = speed.locator('.u-over');
    const room = (await chart.boundingBox())!;
    await chart.hover({ position: { x: room.width * 0.7, y: 40 } });
    await expect.poll(() => readout.textContent()).not.toBe(said);
    expect(await map.locator('.track-mark[data-kind=cursor]').count()).toBe(1);
    expect(await readout.locator('small').textContent()).toBe(
      await speed.locator('.readout small').first().textContent(),
    );
  });

  test('what is pointed at is told, and the position moves while one looks', async () => {
    const page = await openConsole(server, `/devices/${device}`, { dark: true });
    const card = page.getByRole('region', { name: 'Position' });
    const map = card.getByRole('application');
    await map.getByText('Now').waitFor();
    const { x, y } = (await map.boundingBox())!;
    const [left = 0, top = 0] = (await placeOf(map, 'start'))!.match(/[\d.]+/g)!.map(Number);
    await page.mouse.move(x + left + 4, y + top - 3);
    const first = await server.gql(
      'query ($id: ID!) { device(id: $id) { measurements(field: "position", first: 1) { edges { node { value } } } } }',
      { id: device },
    );
    const [latitude, longitude] = (first.device.measurements.edges[0].node.value as string).match(/[\d.]+/g)!;
    await card
      .locator('.readout')
      .getByText(`${Number(latitude)}° N, ${Number(longitude)}° E`)
      .waitFor();
    await page.mouse.move(5, 5);

    await page.getByText('Live', { exact: true }).waitFor();
    await server.record(device, [{ field: 'position', value: '(52.6125,13.75)' }]);
    await card.locator('.readout').getByText('52.6125° N, 13.75° E').waitFor();
    // All of the way is still in sight.
    const end = (await placeOf(map, 'end'))!.match(/[\d.]+/g)!.map(Number);
    const box = (await map.boundingBox())!;
    expect(end[0]).toBeLessThan(box.width);
    expect(end[0]).toBeGreaterThan(box.width / 2);
    await shoot(page, 'track-dark');
  });

  test('on a phone two fingers zoom it', async () => {
    const page = await openConsole(server, `/devices/${device}`, { phone: true });
    const map = page.getByRole('application', { name: /^Position/ });
    await map.getByText('Start').waitFor();
    await map.scrollIntoViewIfNeeded();
    const whole = await scaleOf(map);
    const { x, y } = (await map.boundingBox())!;
    const touch = await page.context().newCDPSession(page);
    const fingers = (type: 'touchStart' | 'touchMove', apart: number) =>
      touch.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: [
          { x: x + 150 - apart, y: y + 160, id: 1 },
          { x: x + 150 + apart, y: y + 160, id: 2 },
        ],
      });
    await fingers('touchStart', 30);
    for (const apart of [40, 50, 60]) await fingers('touchMove', apart);
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await expect.poll(() => scaleOf(map)).toBeGreaterThan(1.7 * whole);
    await shoot(page, 'track-phone');
  });
});
