import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const SAVE = `mutation ($name: String!, $widgets: JSON!) { saveDashboard(name: $name, widgets: $widgets) { id } }`;
const FIELDS = [
  { identifier: 'level', name: 'Level', type: 'FLOAT', unit: '%' },
  { identifier: 'open', name: 'Open', type: 'BOOLEAN' },
  { identifier: 'place', name: 'Place', type: 'GEOLOCATION' },
];

let server: TestServer;
let product: TestProduct;
let now: number;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  product = await createProduct(server, { input: { name: 'Tank', fields: FIELDS }, serialNumbers: ['north', 'south'] });
  now = Math.floor(Date.now() / 1_000);
  for (const [at, id] of product.deviceIds.entries()) {
    const entries = Array.from({ length: 60 }, (_, minute) => [
      { field: 'level', value: 20 + at * 50 + minute / 100, timestamp: now - minute * 60 },
      { field: 'place', value: `(${52.5 + at + minute / 1_000},13.4)`, timestamp: now - minute * 60 },
    ]);
    await server.record(id, [...entries.flat(), { field: 'open', value: true, timestamp: now }]);
    await server.gql('mutation ($id: ID!) { updateDevice(id: $id, input: { tags: ["tank"] }) { id } }', { id });
  }
});
afterAll(() => server.stop());

/** A widget in its own row. */
function widget(kind: string, y: number, more: object = {}): object {
  return {
    kind,
    title: `as ${kind}`,
    fields: ['level'],
    range: '2h',
    place: { x: 0, y, width: 12, height: 5 },
    ...more,
  };
}

const region = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });

describeInBrowser('a dashboard of one device', () => {
  test('has a way to drag and zoom, rows by time, each state, colours, decimals and a plain text', async () => {
    const widgets = [
      widget('map', 0, { fields: ['place'] }),
      widget('table', 5, { fields: ['level', 'open'], options: { decimals: 1 } }),
      widget('state', 10, { fields: ['level', 'open', 'place'] }),
      widget('value', 15, { options: { decimals: 3, thresholds: [{ below: 30, color: 'red' }] } }),
      widget('gauge', 20, { options: { thresholds: [{ above: 0, color: 'amber' }] } }),
      widget('line', 25, { options: { thresholds: [{ above: 60, color: 'red' }] } }),
      {
        kind: 'text',
        place: { x: 0, y: 30, width: 6, height: 3 },
        options: { text: '<b>Plain</b>\n\nsee https://example.org/a.' },
      },
    ];
    const update = 'mutation ($id: ID!, $d: JSON!) { updateProduct(id: $id, input: { dashboard: $d }) { id } }';
    await server.gql(update, { id: product.id, d: { widgets } });
    const page = await openConsole(server, `/products/${product.id}?device=${product.deviceIds[0]}`);
    const map = region(page, 'as map').getByRole('application', { name: /^Place on a map/ });
    await map.getByText('Start').waitFor();
    expect((await map.locator('.track-line').first().getAttribute('d'))!.split(/[ML]/).length).toBe(61);
    const scale = async (): Promise<number> => Number(await map.locator('svg').first().getAttribute('data-scale'));
    const whole = await scale();
    await map.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(scale).toBeGreaterThan(whole);

    const table = region(page, 'as table');
    await table.getByRole('row').nth(50).waitFor();
    expect(await table.getByRole('row').nth(1).getByRole('cell').allTextContents()).toEqual([
      expect.stringMatching(/:\d\d/),
      '20.0%',
      'true',
    ]);
    expect(await table.getByRole('row').count()).toBe(51);
    await table.getByRole('button', { name: 'Older values' }).click();
    await table.getByRole('row').nth(60).waitFor();

    const state = region(page, 'as state');
    for (const text of ['20%', 'true', '52.5° N, 13.4° E']) await state.getByText(text, { exact: true }).waitFor();
    const value = region(page, 'as value').getByText('20.000%');
    expect(await value.getAttribute('data-color')).toBe('red');
    expect(await region(page, 'as gauge').locator('.gauge-part').getAttribute('data-color')).toBe('amber');
    const text = region(page, 'Text');
    await text.getByText('<b>Plain</b>').waitFor();
    expect(await text.getByRole('link').getAttribute('href')).toBe('https://example.org/a');
    await shoot(page, 'widgets');

    // What comes is there at once, as a row of its own too.
    await server.record(product.deviceIds[0]!, [{ field: 'level', value: 44.25, timestamp: now + 1 }]);
    await region(page, 'as value').getByText('44.250%').waitFor();
    expect(await region(page, 'as value').getByText('44.250%').getAttribute('data-color')).toBeNull();
    await table.getByRole('cell', { name: '44.3%' }).waitFor();
  });

  test('has options by kind in the form, which are kept when it is saved', async () => {
    const own = await createProduct(server, { input: { name: 'Form', fields: FIELDS } });
    const page = await openConsole(server, `/products/${own.id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Add widget' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption('bar');
    await dialog.getByLabel('A bar is the').selectOption('increase or change');
    await dialog.getByLabel('Width of a bar').selectOption('a day');
    await dialog.getByLabel('How far back').fill('1mo');
    await dialog.getByLabel('Decimals').fill('1');
    await dialog.getByRole('button', { name: 'Colour', exact: true }).click();
    await dialog.getByLabel('Level of colour 1').fill('12.5');
    await shoot(page, 'widget-sheet');
    await dialog.getByRole('button', { name: 'Add it' }).click();
    await page.getByRole('button', { name: 'Add widget' }).click();
    await dialog.getByLabel('Kind').selectOption('text');
    await dialog.getByLabel('Text').last().fill('Empty it at 90 %.');
    await dialog.getByRole('button', { name: 'Add it' }).click();
    await page.getByRole('button', { name: 'Save dashboard' }).click();
    await page.locator('button:focus', { hasText: 'Edit' }).waitFor();
    const query = 'query ($id: ID!) { product(id: $id) { dashboard } }';
    const { widgets } = (await server.gql(query, { id: own.id }))['product'].dashboard;
    expect(widgets[0].options).toEqual({
      decimals: 1,
      thresholds: [{ above: 12.5, color: 'red' }],
      aggregation: 'DIFFERENCE',
      width: '1d',
    });
    expect(widgets[1]).toEqual({
      kind: 'text',
      place: { x: 6, y: 0, width: 4, height: 3 },
      options: { text: 'Empty it at 90 %.' },
    });
  });
});

describeInBrowser('a dashboard of a workspace', () => {
  test('is made over a product, devices and tags, saved, shown live and deleted', async () => {
    const page = await openConsole(server, '/dashboards');
    await page.getByText('There is no dashboard over several devices yet.').waitFor();
    await page.getByRole('button', { name: 'New dashboard' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Tanks');
    await dialog.getByRole('button', { name: 'Make dashboard' }).click();
    await page.getByRole('button', { name: 'Add widget' }).click();
    await dialog.getByLabel('Which devices').selectOption('all devices of a product');
    await dialog.getByLabel('Product').selectOption('Tank');
    await dialog.getByText('2 devices').waitFor();
    await dialog.getByLabel('Fields').selectOption('level');
    await dialog.getByLabel('Title').fill('Levels');
    await dialog.getByRole('button', { name: 'Add it' }).click();
    await region(page, 'Levels').getByText('device south').waitFor();

    await page.getByRole('button', { name: 'Add widget' }).click();
    await dialog.getByLabel('Kind').selectOption('line');
    await dialog.getByLabel('Which devices').selectOption('these devices');
    await dialog.getByLabel('Find a device').fill('south');
    await dialog.getByRole('button', { name: /device south/ }).click();
    await dialog.getByRole('button', { name: 'Not device south' }).waitFor();
    await dialog.getByLabel('Fields').selectOption('level');
    await shoot(page, 'sourced-widget');
    await dialog.getByRole('button', { name: 'Add it' }).click();
    await page.getByRole('button', { name: 'Save dashboard' }).click();
    await page.getByRole('heading', { name: 'Tanks' }).waitFor();
    await region(page, 'Level')
      .getByRole('img', { name: /^Level over time, last 7/ })
      .waitFor();
    await server.record(product.deviceIds[1]!, [{ field: 'level', value: 91.5, timestamp: now + 2 }]);
    await region(page, 'Levels').getByText('91.5%').waitFor();
    await shoot(page, 'dashboard-of-workspace');

    // It is there after a reload, and its list leads to it.
    await page.reload();
    await region(page, 'Levels').getByText('91.5%').waitFor();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Dashboards' }).click();
    await page.getByRole('link', { name: 'Tanks' }).click();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete dashboard' }).click();
    await page.getByText('There is no dashboard over several devices yet.').waitFor();
  });

  test('stands alone on a screen until Escape, and the next one follows in turn', async () => {
    const source = { tags: ['tank'] };
    const { saveDashboard: first } = await server.gql(SAVE, { name: 'A', widgets: [widget('value', 0, { source })] });
    const several = ['table', 'line', 'area', 'map'].map((kind, at) =>
      widget(kind, 5 * at, { source, ...(kind === 'map' ? { fields: ['place'] } : {}) }),
    );
    const { saveDashboard: next } = await server.gql(SAVE, { name: 'B', widgets: several });
    const page = await openConsole(server, `/dashboards/${first.id}?kiosk=1&turn=5`);
    await page.getByRole('heading', { name: 'A', exact: true }).waitFor();
    await region(page, 'as value').getByText('device north').waitFor();
    await expect.poll(() => page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await shoot(page, 'kiosk');
    await page.getByRole('heading', { name: 'B', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/dashboards/${next.id}`);
    expect(new URL(page.url()).search).toBe('');
    // Several devices are in one chart, and on one map.
    for (const kind of ['as line', 'as area']) {
      const chart = region(page, kind).getByRole('img');
      await expect
        .poll(() => chart.getAttribute('aria-label'))
        .toMatch(/last device north [\d.]+%, device south [\d.]+%$/);
      expect(await chart.count()).toBe(1);
      expect(await region(page, kind).getByRole('listitem').allTextContents()).toEqual([
        expect.stringMatching(/^device north[\d.]+%$/),
        expect.stringMatching(/^device south[\d.]+%$/),
      ]);
    }
    const map = region(page, 'as map').getByRole('application', { name: /^device north, device south on a map/ });
    await map.getByText('device south').waitFor();
    expect(await map.locator('.track-way').count()).toBe(2);
    for (const line of await map.locator('.track-line:not([data-unknown])').all())
      expect((await line.getAttribute('d'))!.split('L')).toHaveLength(60);
    await map.focus();
    await page.keyboard.press('PageUp');
    const marked = region(page, 'as map').locator('.mono', { hasText: '53.501° N, 13.4° E' });
    await marked.waitFor();
    await shoot(page, 'table-of-devices');
    // It stays while another device goes on.
    await server.record(product.deviceIds[0]!, [{ field: 'place', value: '(52.6,13.4)', timestamp: now + 1 }]);
    const north = map.locator('.track-line:not([data-unknown])').first();
    await expect.poll(async () => (await north.getAttribute('d'))!.split('L')).toHaveLength(61);
    expect(await marked.count()).toBe(1);
  });

  test('has a chart for each unit where products differ in it', async () => {
    const fields = [{ ...FIELDS[0], unit: 'cm' }];
    const basin = await createProduct(server, { input: { name: 'Basin', fields }, serialNumbers: ['basin'] });
    const deviceIds = [...product.deviceIds, basin.deviceIds[0]!];
    await server.record(deviceIds[2]!, [{ field: 'level', value: 140, timestamp: now }]);
    const widgets = [widget('line', 0, { source: { deviceIds } })];
    const { saveDashboard } = await server.gql(SAVE, { name: 'Units', widgets });
    const page = await openConsole(server, `/dashboards/${saveDashboard.id}`);
    const charts = region(page, 'as line').getByRole('img');
    await expect
      .poll(() => charts.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))))
      .toEqual([
        expect.stringMatching(/^device basin, .* last 140\scm$/),
        expect.stringMatching(/^device north, device south, .* last device north [\d.]+%, device south [\d.]+%$/),
      ]);
  });

  test('is shown by a public link with the devices and fields of it, and no longer once it shows others', async () => {
    const widgets = [
      widget('value', 0, { source: { deviceIds: [product.deviceIds[0]] } }),
      { kind: 'text', title: 'Note', place: { x: 0, y: 5, width: 6, height: 2 }, options: { text: 'For everybody' } },
    ];
    const { saveDashboard } = await server.gql(SAVE, { name: 'Public', widgets });
    const admin = await openConsole(server, `/dashboards/${saveDashboard.id}`);
    await region(admin, 'as value').getByText('%').waitFor();
    await admin.getByRole('button', { name: 'More', exact: true }).click();
    await admin.getByRole('button', { name: 'Public link…' }).click();
    const dialog = admin.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Make link' }).click();
    const address = (await dialog.locator('pre').first().textContent())!;
    expect(address).toMatch(new RegExp(`^${server.url}/console/share\\?dashboard=${saveDashboard.id}#inl_[\\w-]{43}$`));

    const page = await openConsole(server, '/share', { signedIn: false, phone: true });
    await page.getByText('This link is not complete').waitFor();
    await page.goto(address);
    await page.getByRole('heading', { name: 'Public' }).waitFor();
    await region(page, 'Note').getByText('For everybody').waitFor();
    await server.record(product.deviceIds[0]!, [{ field: 'level', value: 63.75, timestamp: now + 3 }]);
    await region(page, 'as value').getByText('63.75%').waitFor();
    await shoot(page, 'shared-dashboard');
    const other = [widget('value', 0, { source: { deviceIds: product.deviceIds } })];
    const save = 'mutation ($id: ID, $w: JSON!) { saveDashboard(id: $id, name: "Public", widgets: $w) { id } }';
    await server.gql(save, { id: saveDashboard.id, w: other });
    await page.reload();
    await page.getByText('This dashboard is not there any more, or shows more by now than the link may.').waitFor();
    expect(await page.getByRole('region').count()).toBe(0);
  });
});
