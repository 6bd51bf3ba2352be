import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(() => server.stop());

describeInBrowser('the look of values', () => {
  test('is set in the field’s sheet, and the device page has its words, colours and decimals', async () => {
    const fields = { door: 'BOOLEAN', voltage: 'FLOAT' };
    const { id, deviceIds } = await createProduct(server, { fields });
    await server.record(deviceIds[0]!, [{ field: 'door', value: true }, { field: 'voltage', value: 3.2 }]); // oxfmt-ignore
    const page = await openConsole(server, `/products/${id}`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Change door' }).click();
    await dialog.getByText('How values look').click();
    const open = dialog.getByRole('group', { name: 'Words of true' });
    await open.getByLabel('Text').fill('Open');
    await open.getByLabel('Colour').selectOption('red');
    await shoot(page, 'display-sheet');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Change voltage' }).click();
    await dialog.getByText('How values look').click();
    await dialog.getByLabel('Decimals').fill('2');
    await dialog.getByLabel('Low below').fill('3.3');
    await dialog.getByRole('button', { name: 'Text for a value' }).click();
    await dialog.getByLabel('Value', { exact: true }).fill('0');
    await dialog.getByLabel('Text', { exact: true }).fill('dead');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const query = 'query ($id: ID!) { product(id: $id) { fields { display } } }';
    expect((await server.gql(query, { id }))['product'].fields).toEqual([
      { display: { words: [{ value: true, text: 'Open', color: 'red' }] } },
      { display: { decimals: 2, low: 3.3, words: [{ value: 0, text: 'dead' }] } },
    ]);
    await page.goto(`${server.url}/console/devices/${deviceIds[0]}`);
    const latest = page.getByRole('list', { name: 'Latest values' });
    await latest.locator('[data-color="red"]').getByText('Open').waitFor();
    await latest.locator('[data-color="amber"]').getByText('3.20').waitFor();
    await server.record(deviceIds[0]!, { field: 'voltage', value: 0 });
    await latest.getByText('dead').waitFor();
  });
});
