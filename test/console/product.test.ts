import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(() => server.stop());

async function productOf(id: string): Promise<Record<string, any>> {
  const text =
    'query ($id: ID!) { product(id: $id) { dashboard webhookUrl fields { identifier role unit } suggestedFields { identifier } } }';
  return (await server.gql(text, { id }))['product'];
}

const DECODER = `function Decoder(request) {
  return JSON.parse(request.body);
}
`;

/** Of what is drawn in the colour of a field: how many pixels are strong, how many faint, and at which height the middle is. */
const drawnIn = (page: Page, widget: number): Promise<{ strong: number; faint: number; middle: number }> =>
  page
    .locator('.widget')
    .nth(widget)
    .evaluate((element) => {
      const canvas = element.querySelector('canvas')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let [strong, faint, rows] = [0, 0, 0];
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 2]! - data[at]! < 60 || data[at + 3] === 0) continue;
        if (data[at + 3]! > 150) strong += 1;
        else faint += 1;
        rows += Math.floor(at / 4 / canvas.width);
      }
      return { strong, faint, middle: Math.round(rows / (strong + faint)) };
    });

describeInBrowser('the product’s page', () => {
  test('a suggested field opens its dialog filled in, another is ignored, roles given, the webhook’s address renewed', async () => {
    const product = await createProduct(server, {
      serialNumbers: ['p-1'],
      input: { decoder: DECODER, name: 'Room sensor' },
    });
    const entries = ['humidity', 'noise'].map((field) => ({ device: 'p-1', field, value: { value: 40, unit: '%' } }));
    await fetch(`${server.url}/integrations/api/${product.webhookId}/`, {
      method: 'POST',
      body: JSON.stringify(entries),
    });
    const page = await openConsole(server, '/products');
    await page.getByRole('link', { name: 'Room sensor' }).click();
    await page.getByRole('button', { name: 'Add humidity' }).click();
    const adding = page.getByRole('dialog');
    expect(await adding.getByLabel('Identifier').inputValue()).toBe('humidity');
    expect(await adding.getByLabel('Unit').inputValue()).toBe('%');
    await adding.getByRole('button', { name: 'Add field' }).click();
    await adding.waitFor({ state: 'detached' });
    await page.getByLabel('Role of humidity').selectOption('PRIMARY');
    await page.getByRole('button', { name: 'Ignore noise' }).click();
    await page.getByRole('heading', { name: 'Sent, but no field yet' }).waitFor({ state: 'detached' });
    const changed = await productOf(product.id);
    expect(changed['fields']).toContainEqual({ identifier: 'humidity', role: 'PRIMARY', unit: '%' });
    expect(changed['suggestedFields']).toEqual([]);

    // Removing says what goes.
    const dashboard = {
      widgets: [{ kind: 'value', title: 'Air', fields: ['humidity'], place: { x: 0, y: 0, width: 1, height: 1 } }],
    };
    await server.gql('mutation ($id: ID!, $d: JSON) { updateProduct(id: $id, input: { dashboard: $d }) { id } }', {
      id: product.id,
      d: dashboard,
    });
    await server.record(product.deviceIds[0]!, { field: 'humidity', value: 41 });
    await page.getByRole('button', { name: 'Remove humidity' }).click();
    const removing = page.getByRole('dialog');
    await removing.getByText('1 value of 1 device will be deleted.').waitFor();
    await removing.getByText('A widget of the dashboard shows it: Air.').waitFor();
    await removing.getByRole('button', { name: 'Keep it' }).click();

    await page.getByText(changed['webhookUrl'], { exact: true }).waitFor();
    await page.getByRole('button', { name: 'New address' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'New address' }).click();
    await page.getByText(changed['webhookUrl'], { exact: true }).waitFor({ state: 'detached' });
    await page.getByText((await productOf(product.id))['webhookUrl'], { exact: true }).waitFor();
    await page.getByRole('button', { name: 'ChirpStack' }).click();
    await page.getByText(`Event endpoint URL: ${server.url}/integrations/lorawan/chirpstack/`).waitFor();
  });

  test('the product is renamed, given a write limit, cloned, and deleted once its name is written', async () => {
    const product = await createProduct(server, { serialNumbers: ['p-1', 'p-2'], input: { name: 'Old name' } });
    const entries = [1, 2, 3].map((at) => ({ field: 'temperature', value: at, timestamp: 1_700_000_000 + at }));
    await server.record(product.deviceIds[0]!, entries);
    const page = await openConsole(server, `/products/${product.id}`);
    const choose = async (what: string): Promise<void> => {
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('button', { name: what, exact: true }).click();
    };
    await choose('Change');
    await page.getByLabel('Name', { exact: true }).fill('New name');
    await page.getByLabel('Write limit').selectOption('own');
    await page.getByLabel('Writes a second').fill('0.5');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'New name' }).waitFor();
    await page.getByText('0.5 a second for each field').waitFor();
    const rate = async (): Promise<unknown> => {
      const text = 'query ($id: ID!) { product(id: $id) { name writeRate { perSecond source } } }';
      return (await server.gql(text, { id: product.id }))['product'];
    };
    expect(await rate()).toEqual({ name: 'New name', writeRate: { perSecond: 0.5, source: 'PRODUCT' } });
    // What the server refuses is said in its words.
    await choose('Change');
    await page.getByLabel('Writes a second').fill('-1');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('perSecond').waitFor();
    await page.getByLabel('Write limit').selectOption('wider');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await rate()).toMatchObject({ writeRate: { source: 'SERVER' } });

    await choose('Clone');
    await page.getByLabel('Name of the copy').fill('The copy');
    await page.getByRole('dialog').getByRole('button', { name: 'Clone' }).click();
    await page.getByRole('heading', { name: 'The copy' }).waitFor();
    const copy = new URL(page.url()).pathname.split('/').pop()!;
    expect((await productOf(copy))['fields']).toMatchObject([{ identifier: 'temperature' }]);

    await page.goto(`${server.url}/console/products/${product.id}`);
    await choose('Delete');
    await page.getByText('2 devices go with it, and 3 values;').waitFor();
    const button = page.getByRole('button', { name: 'Delete product' });
    expect(await button.isDisabled()).toBe(true);
    await page.getByLabel('Write its name to delete it').fill('New nam');
    expect(await button.isDisabled()).toBe(true);
    await page.getByLabel('Write its name to delete it').fill('New name');
    await button.click();
    await page.getByRole('link', { name: 'The copy' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/products');
    expect(await page.getByRole('link', { name: 'New name' }).count()).toBe(0);
    const gone = await server.query('query ($id: ID!) { product(id: $id) { id } }', { id: product.id });
    expect(gone.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  });

  test('configuration fields are added, changed and removed, each with a default of its type', async () => {
    const product = await createProduct(server, { serialNumbers: ['p-1'] });
    const known = async (): Promise<unknown> => {
      const text =
        'query ($id: ID!) { product(id: $id) { configurationFields { identifier type default description } } }';
      return (await server.gql(text, { id: product.id }))['product']['configurationFields'];
    };
    const page = await openConsole(server, `/products/${product.id}`);
    for (const [identifier, type, value] of [
      ['offset', 'NUMBER', '-1.5'],
      ['inverted', 'BOOLEAN', 'true'],
      ['place', 'STRING', ''],
    ] as const) {
      await page.getByRole('button', { name: 'Add configuration field' }).click();
      await page.getByLabel('Identifier').fill(identifier);
      await page.getByLabel('Type').selectOption(type);
      if (type === 'BOOLEAN') await page.getByLabel('Default').selectOption(value);
      else await page.getByLabel('Default').fill(value);
      await page.getByRole('button', { name: 'Add it' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect(await known()).toEqual([
      { identifier: 'offset', type: 'NUMBER', default: -1.5, description: null },
      { identifier: 'inverted', type: 'BOOLEAN', default: true, description: null },
      { identifier: 'place', type: 'STRING', default: null, description: null },
    ]);
    await page.getByRole('button', { name: 'Change offset' }).click();
    await page.getByLabel('Default').fill('2');
    await page.getByLabel('Description').fill('Added to what is measured');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('cell', { name: 'Added to what is measured' }).waitFor();
    await page.getByRole('button', { name: 'Remove inverted' }).click();
    await page.getByRole('button', { name: 'Remove configuration field' }).click();
    await page.getByRole('cell', { name: 'inverted', exact: true }).waitFor({ state: 'detached' });
    expect(await known()).toEqual([
      { identifier: 'offset', type: 'NUMBER', default: 2, description: 'Added to what is measured' },
      { identifier: 'place', type: 'STRING', default: null, description: null },
    ]);
  });

  test('the key of a product and the identifier of a field are changed where the rest is', async () => {
    const product = await createProduct(server, { serialNumbers: ['k-1'], input: { name: 'Keyed' } });
    const page = await openConsole(server, `/products/${product.id}`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.getByLabel('Key').fill('No Key');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('such as "no-key"').waitFor();
    await dialog.getByLabel('Key').fill('keyed');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('dd', { hasText: 'keyed' }).waitFor();
    await page.getByRole('button', { name: 'Change temperature' }).click();
    await dialog.getByLabel('Identifier').fill('air');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'air', exact: true }).waitFor();
    expect((await server.record('k-1', { field: 'temperature', value: 1 })).status).toBe(200);
  });

  test('widgets are dragged to their places, checked by the server, and show a device’s values', async () => {
    const product = await createProduct(server, { serialNumbers: ['p-1'] });
    await server.record(product.deviceIds[0]!, [{ field: 'temperature', value: 21.5 }]);
    const page = await openConsole(server, `/products/${product.id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    for (const kind of ['value', 'line']) {
      await page.getByRole('button', { name: 'Add widget' }).click();
      await page.getByLabel('Kind').selectOption(kind);
      // One is chosen already.
      const field = page.getByRole('dialog').getByLabel(kind === 'line' ? 'Fields' : 'Field');
      expect(await field.inputValue()).not.toBe('');
      await field.selectOption('temperature');
      if (kind === 'line') await page.getByLabel('How far back').fill('24 hours');
      await page.getByRole('button', { name: 'Add it' }).click();
    }
    const [value, chart] = [page.locator('.widget').nth(0), page.locator('.widget').nth(1)];
    await value.getByText('21.5').waitFor();
    // There is room beside the first.
    expect((await chart.boundingBox())!.y).toBe((await value.boundingBox())!.y);
    await page.getByRole('button', { name: 'Save dashboard' }).click();
    await page.getByText('dashboard.widgets[1].range').waitFor();
    await chart.getByRole('button', { name: 'Change temperature' }).click();
    await page.getByLabel('How far back').fill('7d');
    await page.getByRole('button', { name: 'Change it' }).click();

    const box = (await chart.locator('header').boundingBox())!;
    await page.mouse.move(box.x + 20, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 20 + box.width, box.y + 10 - 140, { steps: 4 });
    await page.mouse.up();
    await value.getByRole('button', { name: /^Move/ }).press('Shift+ArrowRight');
    await page.getByRole('button', { name: 'Save dashboard' }).click();
    await page.locator('button:focus', { hasText: 'Edit' }).waitFor();
    const { widgets } = (await productOf(product.id))['dashboard'];
    expect(widgets[0]).toMatchObject({ kind: 'value', place: { x: 0, y: 0, width: 4, height: 2 } });
    expect(widgets[1]).toMatchObject({ kind: 'line', range: '7d', place: { x: 6, y: 0, width: 6, height: 4 } });

    // Live.
    await server.record(product.deviceIds[0]!, [{ field: 'temperature', value: 19.25, timestamp: Date.now() / 1_000 }]);
    await value.getByText('19.25').waitFor();

    // Every device of the product shows them.
    await page.goto(`${server.url}/console/devices/${product.deviceIds[0]}`);
    await page.locator('.widget').nth(0).getByText('19.25').waitFor();
  });

  test('a line, an area and bars are drawn as such, and what comes is drawn into them', async () => {
    const widgets = ['line', 'area', 'bar'].map((kind, at) => ({
      kind,
      fields: ['temperature'],
      range: '1h',
      place: { x: 4 * at, y: 0, width: 4, height: 4 },
    }));
    const fields = [{ identifier: 'temperature', name: 'Temperature', unit: '°C', type: 'FLOAT' }];
    const product = await createProduct(server, { serialNumbers: ['p-1'], input: { fields, dashboard: { widgets } } });
    const now = Date.now() / 1_000;
    const entries = Array.from({ length: 60 }, (_, at) => ({
      field: 'temperature',
      value: 20,
      timestamp: now - at * 60,
    }));
    await server.record(product.deviceIds[0]!, entries);
    const page = await openConsole(server, `/products/${product.id}`);
    const charts = page.getByRole('img', { name: 'Temperature over time, last 20 °C' });
    await charts.nth(2).waitFor();
    await page.locator('.badge[data-state=live]').waitFor();
    const [line, area, bar] = await Promise.all([0, 1, 2].map((at) => drawnIn(page, at)));
    expect(line!.faint).toBeLessThan(line!.strong);
    expect(area!.faint).toBeGreaterThan(10 * area!.strong);
    expect(bar!.strong).toBeGreaterThan(10 * line!.strong);

    // One value twice as high: what was there is drawn lower, in each of them.
    await server.record(product.deviceIds[0]!, [{ field: 'temperature', value: 60, timestamp: Date.now() / 1_000 }]);
    for (const [at, before] of [line, area, bar].entries())
      await expect.poll(async () => (await drawnIn(page, at)).middle).toBeGreaterThan(before!.middle + 5);
    await page.getByRole('img', { name: 'Temperature over time, last 60 °C' }).first().waitFor();
    await shoot(page, 'dashboard-charts');
  });

  test('value, gauge, text, table and map show what comes, at once', async () => {
    const shown = { value: 'level', gauge: 'level', state: 'mode', table: 'mode', map: 'place' };
    const widgets = Object.entries(shown).map(([kind, field], at) => ({
      kind,
      title: `as ${kind}`,
      fields: [field],
      place: { x: 0, y: 3 * at, width: 4, height: 3 },
    }));
    const fields = { level: 'FLOAT', mode: 'STRING', place: 'GEOLOCATION' };
    const product = await createProduct(server, { serialNumbers: ['p-1'], fields, input: { dashboard: { widgets } } });
    const page = await openConsole(server, `/products/${product.id}`);
    const widget = (kind: string): Locator => page.getByRole('region', { name: `as ${kind}` });
    await widget('map').getByText('No place yet.').waitFor();
    await page.locator('.badge[data-state=live]').waitFor();
    for (const [level, mode, place, read] of [
      [12.5, 'heating', '(52.5,13.4)', '52.5° N, 13.4° E'],
      [80, 'idle', '(-33.9,18.4)', '33.9° S, 18.4° E'],
    ] as const) {
      await server.record(product.deviceIds[0]!, [
        { field: 'level', value: level },
        { field: 'mode', value: mode },
        { field: 'place', value: place },
      ]);
      await widget('value').getByText(String(level)).waitFor();
      await widget('gauge').getByText(String(level)).waitFor();
      await widget('state').getByText(mode).waitFor();
      await widget('table').getByText(mode).waitFor();
      await widget('map').getByText(read).waitFor();
    }
  });
});
