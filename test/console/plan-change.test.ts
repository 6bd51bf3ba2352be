import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const DAY = 86_400;
let server: TestServer;
let product: TestProduct;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { PLAN_RETENTION_DAYS: 'free=90' } });
  product = await createProduct(server, { serialNumbers: ['p0', 'p1'] });
  const now = Math.floor(Date.now() / 1000);
  for (const id of product.deviceIds)
    await server.record(
      id,
      [300, 200, 1].map((days) => ({ field: 'temperature', value: days, timestamp: now - days * DAY })),
    );
});
afterAll(() => server.stop());

const planOf = async (id: string): Promise<string> => {
  const { device } = await server.gql('query ($id: ID!) { device(id: $id) { plan { slug } } }', { id });
  return device.plan.slug;
};

describeInBrowser('a plan that keeps less', () => {
  test('is given to several devices after saying how many values go, and not before', async () => {
    const page = await openConsole(server, '/devices');
    for (const serial of ['p0', 'p1']) await page.getByRole('checkbox', { name: `Select device ${serial}` }).check();
    const plan = page.getByRole('region', { name: 'Selected devices' }).getByLabel('Plan');
    await plan.selectOption('free');
    const dialog = page.getByRole('dialog', { name: 'Plan Free for 2 devices?' });
    await dialog.getByText('It keeps history for 90 days. 4 older values go for good, seven days after').waitFor();
    await shoot(page, 'devices-plan');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await planOf(product.deviceIds[0]!)).toBe('unlimited');
    // One that keeps everything takes nothing.
    await plan.selectOption('standard');
    await page.getByRole('dialog').getByRole('button', { name: 'Change 2 devices' }).click();
    await page.getByText('Plan Standard given to 2 devices.').waitFor();
    await page.getByRole('checkbox', { name: 'Select device p0' }).check();
    await page.getByRole('region', { name: 'Selected devices' }).getByLabel('Plan').selectOption('free');
    await page.getByText('2 older values go for good').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Change the plan' }).click();
    await expect.poll(() => planOf(product.deviceIds[0]!)).toBe('free');
  });

  test('is saved with a device once it is known what goes', async () => {
    const id = product.deviceIds[1]!;
    const page = await openConsole(server, `/devices/${id}`);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Plan').selectOption('free');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('2 older values go for good, seven days after the change.').waitFor();
    expect(await planOf(id)).toBe('standard');
    await dialog.getByRole('button', { name: 'Save, and let them go' }).click();
    await expect.poll(() => planOf(id)).toBe('free');
  });
});
