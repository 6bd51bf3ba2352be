import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const FIELDS = { temperature: 'FLOAT', open: 'BOOLEAN' };

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(() => server.stop());

async function stored(deviceId: string): Promise<string[]> {
  const headers = { Authorization: `Token ${server.adminToken}` };
  const text = await (await fetch(`${server.url}/v1/devices/${deviceId}/history.csv`, { headers })).text();
  return text.trim().split('\n').slice(1);
}

describeInBrowser('importing values', () => {
  test('a file of another program: columns, zone, what each line would become, a new field, and the refused lines', async () => {
    const { deviceIds } = await createProduct(server, { fields: FIELDS, serialNumbers: ['hall-1'] });
    const page = await openConsole(server, `/import?device=${deviceIds[0]}`);
    const text =
      'Zeit;Temperature;Feuchte (%);Tür\n01.07.2024 12:00;21,5;40;on\n2024-07-01 12:10;22;41;on\n2024-07-01 12:20;warm;;off\n';
    // As a spreadsheet of Windows writes it.
    const buffer = Buffer.from(text, 'latin1');
    await page.locator('input[type=file]').setInputFiles({ name: 'hall.csv', mimeType: 'text/csv', buffer });
    await page.getByText('CSV with semicolons, 4 columns, read as windows-1252').waitFor();
    expect(await page.getByLabel('What Zeit is').inputValue()).toBe('timestamp');
    expect(await page.getByLabel('What Temperature is').inputValue()).toBe('temperature');
    const preview = page.getByRole('region', { name: 'What the first lines would become' });
    await preview.getByText('Write year, month and day in this order').waitFor();
    await preview.getByRole('cell', { name: 'would be stored' }).waitFor();
    await preview.getByText('1 Jul 2024, 12:10').waitFor();

    // A column that the product has no field for yet.
    await page.getByLabel('What Feuchte (%) is').selectOption('New field…');
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Identifier').inputValue()).toBe('Feuchte');
    expect(await dialog.getByLabel('Unit').inputValue()).toBe('%');
    await dialog.getByRole('button', { name: 'Add field' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByLabel('What Tür is').selectOption('open');
    await expect.poll(() => preview.getByText('would be stored').count()).toBe(4);
    await shoot(page, 'import-values');

    await page.getByRole('button', { name: 'Try all lines' }).click();
    await page.getByRole('heading', { name: 'Tried: nothing was stored' }).waitFor();
    const tally = page.getByLabel('What the import would do');
    expect(await tally.innerText()).toMatch(
      /Lines\s*3\s*Values that would be stored\s*4\s*Lines with something refused\s*2/,
    );
    expect(await stored(deviceIds[0]!)).toEqual([]);
    await page.getByRole('button', { name: 'Import', exact: true }).last().click();
    await page.getByRole('heading', { name: 'Imported' }).waitFor();
    expect(await stored(deviceIds[0]!)).toEqual([
      'hall-1,temperature,2024-07-01T10:10:00.000Z,22',
      'hall-1,open,2024-07-01T10:10:00.000Z,true',
      'hall-1,open,2024-07-01T10:20:00.000Z,false',
      'hall-1,Feuchte,2024-07-01T10:10:00.000Z,41',
    ]);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Refused lines as a file' }).click();
    const stream = await (await downloading).createReadStream();
    let file = '';
    for await (const chunk of stream) file += String(chunk);
    expect(file.split('\n').slice(0, 2)).toEqual([
      '\uFEFFZeit;Temperature;Feuchte (%);Tür;refused because',
      expect.stringMatching(/^01\.07\.2024 12:00;21,5;40;on;""?"?timestamp/),
    ]);
    expect(file).toContain('2024-07-01 12:20;warm;;off;"FLOAT takes');
    await shoot(page, 'import-values-done');
  });

  test('a dropped file whose lines name their devices, in pieces: it waits for the server, and is stopped and gone on with', async () => {
    const { deviceIds } = await createProduct(server, { fields: FIELDS, serialNumbers: ['a-1', 'a-2'] });
    const page = await openConsole(server, '/import');
    await page.getByText('Drop a file here').waitFor();
    const bodies: number[] = [];
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => (goOn = resolve));
    await page.route(/\/v1\/import\?dryRun=false/, async (route) => {
      bodies.push(route.request().postData()!.split('\n').length);
      if (bodies.length === 1) return route.fulfill({ status: 503, body: '{"detail":"The database is away."}' });
      if (bodies.length === 3) await held;
      await route.continue().catch(() => {});
    });
    await page.evaluate(`(() => {
      const lines = Array.from({ length: 12000 }, (_, at) => 'a-' + (1 + at % 2) + ',' + (1700000000 + at) + ',' + at);
      lines[6000] = 'a-9,1700006000,1';
      const transfer = new DataTransfer();
      transfer.items.add(new File(['serial_number,time,Temperature\\n' + lines.join('\\n') + '\\n'], 'two.csv'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
    })()`);
    await page.getByText('two.csv').waitFor();
    await expect.poll(() => page.getByLabel('What serial_number is').inputValue()).toBe('device');
    await expect.poll(() => page.getByLabel('What Temperature is').inputValue()).toBe('temperature');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('The database is away. It goes on by itself').waitFor();
    await page.getByText(/^4\d %$/).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { name: 'Stopped' }).waitFor();
    goOn();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Imported' }).waitFor();
    const tally = page.getByLabel('What the import did');
    expect(await tally.innerText()).toMatch(
      /Lines\s*12,000\s*Values stored\s*11,999\s*Lines with something refused\s*1/,
    );
    expect(await page.getByRole('region', { name: 'Refused lines' }).innerText()).toMatch(/6,?002[^]*"a-9"/);
    expect((await stored(deviceIds[0]!)).length + (await stored(deviceIds[1]!)).length).toBe(11_999);
    // Twice the first, twice the second that was stopped, and the rest.
    expect(bodies.length).toBe(5);
  });

  test('a spreadsheet that is no text is told, and so is who may not import', async () => {
    const page = await openConsole(server, '/import', { phone: true });
    const buffer = Buffer.from('PK\u0003\u0004 sheet');
    await page.locator('input[type=file]').setInputFiles({ name: 'x.xlsx', mimeType: 'text/csv', buffer });
    await page.getByText('save it as CSV').waitFor();
    await shoot(page, 'import-values-phone');
  });
});
