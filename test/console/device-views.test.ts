import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let roomId: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { WRITE_RATE_PER_FIELD: '0' } });
  const serialNumbers = Array.from({ length: 12 }, (_, at) => `M-${at + 1}`);
  const meters = await createProduct(server, {
    serialNumbers,
    input: {
      name: 'Meter',
      fields: [
        { identifier: 'energy', name: 'Energy', type: 'FLOAT', unit: 'kWh', role: 'PRIMARY' },
        { identifier: 'battery', name: 'Cell', type: 'FLOAT', unit: 'V', role: 'BATTERY' },
        { identifier: 'firmware', name: 'Firmware', type: 'STRING' },
      ],
    },
  });
  for (const [at, id] of meters.deviceIds.entries())
    await server.record(id, [
      { field: 'energy', value: 1_000 - at },
      { field: 'battery', value: 3 + at / 10 },
      { field: 'firmware', value: `v${at}` },
    ]);
  ({ id: roomId } = await createProduct(server, {
    serialNumbers: ['R-1'],
    input: { name: 'Room', fields: [{ identifier: 'energy', name: 'Energy', type: 'FLOAT', unit: 'kWh' }] },
  }));
});
afterAll(() => server.stop());

describeInBrowser('views of the devices', () => {
  test('columns have the names of their fields, sort by them, and are chosen; names sort by their numbers', async () => {
    const page = await openConsole(server, '/devices');
    const rows = page.locator('tbody tr:not([aria-hidden])');
    await page.getByRole('button', { name: 'Energy' }).waitFor();
    await page.getByRole('button', { name: 'Cell' }).waitFor();
    await expect.poll(() => rows.nth(1).textContent()).toContain('device M-2');
    await page.getByRole('button', { name: 'Cell' }).click();
    await expect.poll(() => rows.first().textContent()).toContain('device M-1M-1');
    await page.getByRole('button', { name: 'Cell' }).click();
    await expect.poll(() => rows.first().textContent()).toContain('device M-12');
    expect(new URL(page.url()).search).toBe('?sort=role%3ABATTERY&down=1');

    await page.getByRole('button', { name: 'Columns' }).click();
    const sheet = page.getByRole('dialog', { name: 'Columns' });
    for (const name of ['Product', 'Second', 'Signal']) await sheet.getByLabel(name, { exact: true }).uncheck();
    await sheet.getByLabel('Firmware').check();
    await shoot(page, 'devices-columns');
    await sheet.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('button', { name: 'Firmware' }).waitFor();
    await expect.poll(() => rows.first().textContent()).toContain('v11');
    await shoot(page, 'devices-chosen-columns');
  });

  test('a comparison that is typed is a chip, holds for a change of many, and is saved as a view', async () => {
    const page = await openConsole(server, '/devices');
    const rows = page.locator('tbody tr:not([aria-hidden])');
    await page.getByText('13', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'battery < 3.3' }).fill('battery < 3,3');
    await page.keyboard.press('Enter');
    const chip = page.getByRole('button', { name: 'Without the condition battery < 3.3' });
    await chip.waitFor();
    await expect.poll(() => rows.count()).toBe(3);
    expect(new URL(page.url()).searchParams.getAll('value')).toEqual(['battery<3.3']);
    await shoot(page, 'devices-condition');

    await page.getByRole('checkbox', { name: 'Select device M-1', exact: true }).check();
    await page.getByRole('button', { name: 'Choose all 3 that fit' }).click();
    // The file has those three, and no other device of the product.
    const bulk = page.getByRole('region', { name: 'Selected devices' });
    await bulk.getByRole('button', { name: 'Find for export' }).click();
    const address = await bulk.getByRole('link', { name: 'Export' }).getAttribute('href');
    const headers = { Authorization: `Token ${server.adminToken}` };
    const file = await (await fetch(`${server.url}${address}`, { headers })).text();
    const serials = file
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[0]);
    expect([...new Set(serials)].toSorted()).toEqual(['M-1', 'M-2', 'M-3']);
    await page.getByLabel('Tag to add').fill('change cell');
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('button', { name: 'Change 3 devices' }).click();
    await page.getByText('Tag “change cell” added to 3 devices.').waitFor();
    expect((await server.gql('{ devices(tags: ["change cell"]) { totalCount } }')).devices.totalCount).toBe(3);

    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('button', { name: 'Save this view' }).click();
    const sheet = page.getByRole('dialog', { name: 'Save this view' });
    await sheet.getByLabel('Name').fill('Empty cells');
    await sheet.getByLabel('For everybody').check();
    await sheet.getByRole('button', { name: 'Save' }).click();
    await page.getByText('View “Empty cells” saved.').waitFor();
    await chip.click();
    await expect.poll(() => rows.count()).toBe(13);
    await page.reload();
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('link', { name: 'Empty cells' }).click();
    await expect.poll(() => rows.count()).toBe(3);
  });

  test('heads and filters stay in sight, and a product’s filter makes an empty list, not an error', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByText('13', { exact: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 420 });
    await page.mouse.wheel(0, 400);
    const head = page.getByRole('columnheader', { name: 'Device' });
    const search = page.getByRole('searchbox', { name: 'Name or serial' });
    await expect.poll(async () => (await head.boundingBox())!.y).toBeLessThan(170);
    expect((await search.boundingBox())!.y).toBeGreaterThan(40);
    expect((await head.boundingBox())!.y).toBeGreaterThan((await search.boundingBox())!.y + 20);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${server.url}/console/devices?product=${roomId}&value=firmware%3Dv1`);
    await page.getByText('No device fits.').waitFor();
  });

  test('devices move to another product after saying which values go', async () => {
    const page = await openConsole(server, '/devices?search=M-12');
    await page.getByRole('checkbox', { name: 'Select device M-12' }).check();
    await page.getByRole('region', { name: 'Selected devices' }).getByLabel('Product to move to').selectOption('Room');
    const sheet = page.getByRole('dialog', { name: 'Move 1 device to Room?' });
    await sheet.getByText('2 values go at once, for good. Room has no field for').waitFor();
    await shoot(page, 'devices-move');
    await sheet.getByRole('button', { name: 'Move' }).click();
    await page.getByText('Moved 1 device to Room.').waitFor();
    const { devices } = await server.gql('{ devices(search: "M-12") { edges { node { product { name } } } } }');
    expect(devices.edges[0].node.product.name).toBe('Room');
  });
});
