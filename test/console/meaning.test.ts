import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { WRITE_RATE_PER_FIELD: '0' } });
});
afterAll(() => server.stop());

async function fieldsOf(id: string): Promise<Record<string, unknown>[]> {
  const text = 'query ($id: ID!) { product(id: $id) { fields { identifier type meaning overflowAt } } }';
  return (await server.gql(text, { id }))['product'].fields;
}

describeInBrowser('what a field means, in the console', () => {
  test('the form proposes a meaning until somebody chooses one, and asks before a type hides values', async () => {
    const product = await createProduct(server, { serialNumbers: ['m-1'] });
    await server.record(product.deviceIds[0]!, [{ field: 'temperature', value: 50.9 }]);
    const page = await openConsole(server, `/products/${product.id}`);
    await page.getByRole('button', { name: 'Add field' }).click();
    const dialog = page.getByRole('dialog');
    const meaning = dialog.getByLabel('Meaning');
    expect(await meaning.inputValue()).toBe('GAUGE');
    await dialog.getByLabel('Identifier').fill('wind_direction');
    await expect.poll(() => meaning.inputValue()).toBe('ANGLE');
    await dialog.getByLabel('Identifier').fill('energy');
    await dialog.getByLabel('Unit').fill('kWh');
    await expect.poll(() => meaning.inputValue()).toBe('COUNTER');
    await dialog.getByLabel('Begins again at').fill('65536');
    await dialog.getByRole('button', { name: 'Add field' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await fieldsOf(product.id)).toContainEqual({ identifier: 'energy', type: 'FLOAT', meaning: 'COUNTER', overflowAt: 65536 }); // oxfmt-ignore

    await page.getByRole('button', { name: 'Change energy' }).click();
    expect(await meaning.inputValue()).toBe('COUNTER');
    await meaning.selectOption('TOTAL');
    // Chosen is chosen, whatever the unit is.
    await dialog.getByLabel('Unit').fill('°');
    expect(await meaning.inputValue()).toBe('TOTAL');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await fieldsOf(product.id)).toContainEqual({ identifier: 'energy', type: 'FLOAT', meaning: 'TOTAL', overflowAt: null }); // oxfmt-ignore

    await page.getByRole('button', { name: 'Change temperature' }).click();
    await dialog.getByLabel('Type').selectOption('INTEGER');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('1 of the stored values (1) does not fit this type').waitFor();
    expect(await fieldsOf(product.id)).toContainEqual({ identifier: 'temperature', type: 'FLOAT', meaning: 'GAUGE', overflowAt: null }); // oxfmt-ignore
    await dialog.getByRole('button', { name: 'Save all the same' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await fieldsOf(product.id)).toContainEqual({ identifier: 'temperature', type: 'INTEGER', meaning: 'GAUGE', overflowAt: null }); // oxfmt-ignore
  });

  test('charts show directions without extremes, counters by their last value and increase', async () => {
    const fields = [
      { identifier: 'wind', type: 'FLOAT', unit: '°', meaning: 'ANGLE' },
      { identifier: 'meter', type: 'FLOAT', unit: 'kWh', meaning: 'COUNTER' },
    ];
    const product = await createProduct(server, { serialNumbers: ['m-2'], input: { name: 'Mast', fields } });
    const now = Date.now() / 1_000;
    // More than are drawn one by one.
    const times = Array.from({ length: 2_000 }, (_, at) => now - 3_600 + at);
    await server.record(product.deviceIds[0]!, times.map((timestamp, at) => ({ field: 'wind', value: (355 + (at % 3) * 5) % 360, timestamp }))); // oxfmt-ignore
    await server.record(product.deviceIds[0]!, times.map((timestamp, at) => ({ field: 'meter', value: at < 1_000 ? at : at - 900, timestamp }))); // oxfmt-ignore
    const page = await openConsole(server, `/devices/${product.deviceIds[0]}`);
    const wind = page.locator('#field-wind');
    await wind.getByText('mean directions of').waitFor();
    await wind.getByText('Mean', { exact: true }).waitFor();
    expect(await wind.getByText('Min', { exact: true }).count()).toBe(0);
    const meter = page.locator('#field-meter');
    await meter.scrollIntoViewIfNeeded();
    await meter.getByText('last values of').waitFor();
    // 0 to 999, then from 100 to 1099: begun again from 0.
    await meter.getByText(/^2,?098 kWh$/).waitFor();
  });
});
