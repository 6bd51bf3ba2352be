import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  await createProduct(server, { serialNumbers: ['there'], input: { name: 'Meter' } });
});
afterAll(() => server.stop());

describeInBrowser('importing devices', () => {
  test('a pasted file is shown before it is imported, with the lines that are refused', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByRole('link', { name: 'device there' }).waitFor();
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog');
    const text = dialog.getByRole('textbox', { name: 'CSV or NDJSON' });
    await text.fill('serialNumber,colour\na,red');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('"colour" is no column of devices').waitFor();

    await text.fill('serialNumber,name,plan\nthere,changed,\nnew 1,First,\nnew 2,Second,mega\nnew 1,Again,');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    const tally = dialog.locator('dl');
    await tally.waitFor();
    expect(await tally.getAttribute('aria-label')).toBe('What the import would do');
    expect(await tally.innerText()).toMatch(/New\s*1\s*Changed\s*0\s*As they are\s*1\s*Refused\s*2/);
    const refused = dialog.getByRole('region', { name: 'Refused lines' });
    expect(await refused.getByRole('row').count()).toBe(3);
    await refused.getByText('unknown plan "mega"').waitFor();
    await refused.getByText('Line 3 has this serial number already.').waitFor();
    await shoot(page, 'import-preview');

    // Back to the form with what was given there.
    await dialog.getByRole('button', { name: 'Back' }).click();
    await expect.poll(() => text.inputValue()).toContain('Second,mega');
    await dialog.getByRole('combobox', { name: 'Devices that are there already' }).selectOption('UPDATE');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('Changed').waitFor();
    expect(await tally.innerText()).toMatch(/New\s*1\s*Changed\s*1/);
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByRole('heading', { name: 'Devices imported' }).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    for (const name of ['changed', 'First']) await page.getByRole('link', { name, exact: true }).waitFor();
    await page.getByText('Devices 2').waitFor();
  });

  test('a chosen file and a dropped one are read, in whatever letters they were written', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog');
    const text = dialog.getByRole('textbox', { name: 'CSV or NDJSON' });
    const buffer = Buffer.from('serialNumber;name\nk1;K\u00fcche', 'latin1');
    await dialog
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'devices.csv', mimeType: 'text/csv', buffer });
    await expect.poll(() => text.inputValue()).toBe('serialNumber;name\nk1;Küche');
    await page.evaluate(`(() => {
      const area = document.querySelector('dialog textarea');
      const transfer = new DataTransfer();
      const mark = new Uint8Array([255, 254]);
      const words = Uint16Array.from('serialNumber\\tname\\nd1\\tDüse', (sign) => sign.charCodeAt(0));
      transfer.items.add(new File([mark, words], 'devices.txt'));
      area.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
    })()`);
    await expect.poll(() => text.inputValue()).toBe('serialNumber\tname\nd1\tDüse');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Düse' }).waitFor();
  });
});
