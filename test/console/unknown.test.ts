import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

/** Of webhooks: an uplink makes it fail. */
const DECODER = 'function Decoder(request) { return JSON.parse(request.body); }';

let server: TestServer;
let webhookId: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  const fields = [{ identifier: 'temperature', type: 'FLOAT', unit: '°C' }];
  const input = { name: 'Pump', decoder: DECODER, fields };
  ({ webhookId } = await createProduct(server, { serialNumbers: ['known'], input }));
  await createProduct(server, { serialNumbers: [], input: { name: 'Room sensor', fields } });
});
afterAll(() => server.stop());

const uplink = (eui: string, temperature: number): Promise<Response> =>
  fetch(`${server.url}/integrations/lorawan/tti/`, {
    method: 'POST',
    headers: { authorization: `Token ${server.adminToken}` },
    body: JSON.stringify({
      end_device_ids: { dev_eui: eui },
      uplink_message: {
        f_port: 1,
        frm_payload: 'AQ==',
        decoded_payload: { temperature },
        received_at: '2026-01-01T00:00:00Z',
      },
    }),
  });

/** Chooses the product, gives a name and adopts. */
async function adopt(page: Page, { product, name }: { product?: string; name?: string } = {}): Promise<void> {
  const dialog = page.getByRole('dialog');
  if (product !== undefined) await dialog.getByLabel('Product').selectOption({ label: product });
  if (name !== undefined) await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Adopt', exact: true }).click();
}

describeInBrowser('devices that sent and are not known', () => {
  test('are named on the devices and the products, and adopted with what they sent', async () => {
    await uplink('70b3d57ed0001234', 21.5);
    await fetch(`${server.url}/integrations/api/${webhookId}/`, {
      method: 'POST',
      body: JSON.stringify(['p-1', 'p-2'].map((device) => ({ device, field: 'temperature', value: 4 }))),
    });
    const page = await openConsole(server, '/products');
    const banner = page.getByRole('status').filter({ hasText: '3 unknown devices sent:' });
    await banner.waitFor();
    await page.getByRole('link', { name: 'Devices' }).first().click();
    await banner.waitFor();
    await shoot(page, 'unknown-banner');
    await banner.getByRole('link', { name: 'Adopt' }).click();

    const eui = page.getByRole('row', { name: /70b3d57ed0001234/ });
    await eui.getByText('The Things Stack').waitFor();
    await eui.getByText('once').waitFor();
    await page.getByRole('row', { name: /p-1/ }).getByRole('link', { name: 'Pump' }).waitFor();
    await shoot(page, 'unknown');
    await eui.getByRole('button', { name: 'Adopt 70b3d57ed0001234' }).click();
    await adopt(page, { product: 'Room sensor', name: 'Cellar' });
    const outcomes = page.getByRole('region', { name: 'What became of them' });
    await expect.poll(() => outcomes.textContent()).toContain('temperature 21.5 °C');
    await outcomes.getByRole('link', { name: 'Cellar' }).waitFor();
    await expect.poll(() => eui.count()).toBe(0);

    await page.getByRole('checkbox', { name: 'Choose all' }).check();
    await page.getByRole('button', { name: 'Adopt 2' }).click();
    await page.getByText('2 named by the webhook of Pump go into that product.').waitFor();
    expect(await page.getByRole('dialog').getByLabel('Product').count()).toBe(0);
    await adopt(page);
    await outcomes.getByText('3 adopted').waitFor();
    await shoot(page, 'unknown-adopted');
    await page.getByText('None waits.').waitFor();
    await outcomes.getByRole('link', { name: 'p-2' }).click();
    await page.getByRole('heading', { name: 'p-2' }).waitFor();
  });

  test('show up by themselves, and where nothing came of what was kept that is said', async () => {
    const page = await openConsole(server, '/unknown', { phone: true });
    await page.getByText('None waits.').waitFor();
    await uplink('70b3d57ed0005678', 3);
    await page.getByRole('button', { name: 'Adopt 70b3d57ed0005678' }).click();
    await shoot(page, 'unknown-phone');
    await adopt(page, { product: 'Pump' });
    await page.getByText('No value came of what was kept.').waitFor();
    await page.getByRole('link', { name: 'See its calls' }).click();
    await page.waitForURL(/\/products\/[^/]+\/calls\?/);
  });
});
