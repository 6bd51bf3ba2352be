import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const FIELDS = [
  { identifier: 'temperature', type: 'FLOAT', unit: '°C', role: 'PRIMARY' },
  { identifier: 'door', type: 'BOOLEAN' },
  { identifier: 'place', type: 'GEOLOCATION' },
];
const HALF_HOUR = 1_800;
const DAY = 86_400;

let server: TestServer;
let freezers: TestProduct;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  freezers = await createProduct(server, {
    serialNumbers: ['f-1', 'f-2'],
    input: { name: 'Freezer', fields: FIELDS },
  });
  const now = Math.floor(Date.now() / 1_000);
  const cold = Array.from({ length: 20 * 48 }, (_, at) => ({
    field: 'temperature',
    // Too warm for two hours, five days ago.
    value: at >= 240 && at < 244 ? -9 : -18,
    timestamp: now - at * HALF_HOUR - 60,
  }));
  await server.record(freezers.deviceIds[0]!, cold);
  await server.record(freezers.deviceIds[0]!, { field: 'place', value: '(52.52,13.405)', timestamp: now - DAY });
});
afterAll(() => server.stop());

async function rulesOf(id: string): Promise<Record<string, any>[]> {
  const text = `query ($id: ID!) { product(id: $id) { rules {
    id name enabled forSeconds levels { severity any { field operator value absentSeconds circle { center meters } } }
  } } }`;
  return (await server.gql(text, { id }))['product'].rules;
}

/** The number of pixels of the chart that are of the colour of a warning. */
const warnPixels = (page: Page): Promise<number> =>
  page.locator('.tried-chart').evaluate((element) => {
    const canvas = element.querySelector('canvas')!;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at]! - data[at + 2]! > 100 && data[at + 3]! > 150) found += 1;
    return found;
  });

describeInBrowser('rules', () => {
  test('a rule is typed with its episodes of the last 30 days in sight, and then says in words what it watches', async () => {
    const page = await openConsole(server, `/products/${freezers.id}`);
    await page.getByRole('link', { name: 'Add rule' }).click();
    await page.getByLabel('Name').fill('Too warm');
    await page.getByText('Fill in what is watched').waitFor();
    await page.getByLabel('Value (°C)').fill('-15');
    await page.getByText('It would have fired once.').waitFor();
    await expect.poll(() => warnPixels(page)).toBeGreaterThan(50);
    await page.getByLabel('Value (°C)').fill('-5');
    await page.getByText('It would not have fired.').waitFor();
    await page.getByLabel('Value (°C)').fill('-15');
    await page.getByLabel('Told when it lasts for', { exact: true }).fill('10');
    await page.getByLabel('Until (°C)').fill('-10');
    // The server's words stand at the field that they name.
    await page.getByText('With GT -15 it must be -15 or less, not -10.').waitFor();
    expect(await page.getByLabel('Until (°C)').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Until (°C)').fill('-16');
    await page.getByRole('button', { name: 'Or says nothing' }).click();
    await page.getByText('It would have fired once.').waitFor();
    await page.getByRole('button', { name: /20\d\d/ }).click();
    await page.getByRole('button', { name: 'All 30 days' }).waitFor();
    await shoot(page, 'rule');
    await page.getByRole('button', { name: 'Make rule' }).click();
    await page.getByText('temperature above -15 °C (until -16 °C) for 10 min or nothing heard for 1 h').waitFor();
    expect(await rulesOf(freezers.id)).toMatchObject([
      {
        name: 'Too warm',
        enabled: true,
        forSeconds: 600,
        levels: [
          {
            severity: 'WARNING',
            any: [{ field: 'temperature', operator: 'GT', value: -15 }, { absentSeconds: 3_000 }],
          },
        ],
      },
    ]);
    await page.getByRole('switch', { name: 'Too warm is on' }).click();
    await page.getByText('“Too warm” is off.').waitFor();
    await page.getByRole('link', { name: 'Too warm' }).click();
    expect(await page.getByLabel('Silent for', { exact: true }).inputValue()).toBe('1');
    expect(await page.getByLabel('On', { exact: true }).isChecked()).toBe(false);
    await page.getByLabel('On', { exact: true }).check();
    await page.getByLabel('Name').fill('');
    await page.getByLabel('Name').evaluate((input) => input.removeAttribute('required'));
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Name').fill('Much too warm');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('switch', { name: 'Much too warm is on' }).waitFor();
    await page.getByRole('button', { name: 'Delete Much too warm' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click();
    await page.getByText('A rule tells somebody when').waitFor();
    expect(await rulesOf(freezers.id)).toEqual([]);
  });

  test('a place is taken from where the device is, on a phone', async () => {
    const page = await openConsole(server, `/products/${freezers.id}/rules/new`, { phone: true });
    await page.getByLabel('Name').fill('Carried away');
    await page.getByLabel('Watch for').selectOption({ label: 'A place' });
    await page.getByRole('button', { name: 'Where the device is now' }).click();
    await expect.poll(() => page.getByLabel('Middle').inputValue()).toBe('(52.52,13.405)');
    await page.getByText('It would not have fired.').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(
      true,
    );
    await shoot(page, 'rule-on-a-phone');
    await page.getByRole('button', { name: 'Make rule' }).click();
    await page.getByText('place outside 500 m around (52.52,13.405)').waitFor();
    const [rule] = await rulesOf(freezers.id);
    expect(rule!['levels'][0].any[0].circle).toEqual({ center: '(52.52,13.405)', meters: 500 });
  });
});
