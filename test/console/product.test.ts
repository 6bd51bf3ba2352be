import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from '../support/browser.ts';
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

describeInBrowser('the product’s page', () => {
  test('suggested fields are added or ignored with one click, roles given, the webhook’s address renewed', async () => {
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
    await page.getByLabel('Role of humidity').selectOption('PRIMARY');
    await page.getByRole('button', { name: 'Ignore noise' }).click();
    await page.getByRole('heading', { name: 'Sent, but no field yet' }).waitFor({ state: 'detached' });
    const changed = await productOf(product.id);
    expect(changed['fields']).toContainEqual({ identifier: 'humidity', role: 'PRIMARY', unit: '%' });
    expect(changed['suggestedFields']).toEqual([]);

    await page.getByText(changed['webhookUrl'], { exact: true }).waitFor();
    await page.getByRole('button', { name: 'New address' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'New address' }).click();
    await page.getByText(changed['webhookUrl'], { exact: true }).waitFor({ state: 'detached' });
    await page.getByText((await productOf(product.id))['webhookUrl'], { exact: true }).waitFor();
    await page.getByRole('button', { name: 'ChirpStack' }).click();
    await page.getByText(`Event endpoint URL: ${server.url}/integrations/lorawan/chirpstack/`).waitFor();
  });

  test('widgets are dragged to their places, checked by the server, and show a device’s values', async () => {
    const product = await createProduct(server, { serialNumbers: ['p-1'] });
    await server.record(product.deviceIds[0]!, [{ field: 'temperature', value: 21.5 }]);
    const page = await openConsole(server, `/products/${product.id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    for (const kind of ['value', 'line']) {
      await page.getByRole('button', { name: 'Add widget' }).click();
      await page.getByLabel('Kind').selectOption(kind);
      await page.getByRole('dialog').getByLabel('Fields').selectOption('temperature');
      if (kind === 'line') await page.getByLabel('How far back').fill('24 hours');
      await page.getByRole('button', { name: 'Add it' }).click();
    }
    const [value, chart] = [page.locator('.widget').nth(0), page.locator('.widget').nth(1)];
    await value.getByText('21.5').waitFor();
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
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
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
});
