import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { describeInBrowser, fitsInWidth, openConsole } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(() => server.stop());

const GOOD = `function Decoder(request) {
  var body = JSON.parse(request.body);
  console.log('read', body.t);
  return [
    { device: body.d, field: 'temperature', value: body.t },
    { device: body.d, field: 'humidity', value: { value: body.h, unit: '%' } },
  ];
}
`;
const BAD = GOOD.replace('JSON.parse(request.body)', 'request.payload.data');

/** Takes everything out of the editor and writes this. */
async function write(page: Page, source: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Source of the decoder' }).press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(source);
}

describeInBrowser('the decoder’s page', () => {
  test('a mistake is underlined, the result follows the typing, an unknown field is created, a failing example stops the saving', async () => {
    const product = await createProduct(server, { serialNumbers: ['d-1'], input: { decoder: BAD } });
    await fetch(`${server.url}/integrations/api/${product.webhookId}/`, {
      method: 'POST',
      body: '{"d":"d-1","t":21.5,"h":40}',
    });
    const page = await openConsole(server, `/products/${product.id}/decoder`);

    // The newest call is there by itself, and what it fails on.
    const underlined = page.locator('.cm-mistake');
    await underlined.waitFor();
    expect(await underlined.textContent()).toBe('data');
    await page.getByRole('alert').getByText('line 2, column').waitFor();

    await write(page, GOOD);
    await page.getByText('UNKNOWN_FIELD').waitFor();
    expect(await underlined.count()).toBe(0);
    const entries = page.getByRole('region', { name: 'Entries' });
    expect(await entries.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await page.getByRole('button', { name: 'Add field humidity' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Unit').inputValue()).toBe('%');
    await dialog.getByRole('button', { name: 'Add field' }).click();
    await page.getByText('UNKNOWN_FIELD').waitFor({ state: 'detached' });
    expect(await page.getByText('would be stored').count()).toBe(2);
    const { product: fields } = await server.gql(
      'query ($id: ID!) { product(id: $id) { fields { identifier unit } } }',
      {
        id: product.id,
      },
    );
    expect(fields.fields).toContainEqual({ identifier: 'humidity', unit: '%' });

    // What was printed leads to the line that printed it.
    await page.getByText('read 21.5').waitFor();
    await page.getByRole('button', { name: 'line 3', exact: true }).click();
    await page.locator('.cm-activeLine', { hasText: 'console.log' }).waitFor();

    await page.getByRole('button', { name: 'Save as example' }).click();
    await page.getByLabel('Name').fill('a usual one');
    await page.getByRole('button', { name: 'Save example' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await write(page, GOOD.replace('value: body.t }', 'value: body.t + 1 }'));
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Save and activate' }).click();
    const difference = page.getByRole('region', { name: 'Expected and what comes now' });
    await difference.waitFor();
    expect(await difference.locator('[data-kind=gone]').textContent()).toContain('21.5');
    expect(await difference.locator('[data-kind=new]').textContent()).toContain('22.5');
    await page.getByRole('button', { name: 'Save anyway' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Source version 2', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Versions' }).click();
    await page.getByRole('button', { name: 'Activate' }).click();
    await page.getByText('Version 1 is active.').waitFor();
    const { product: after } = await server.gql('query ($id: ID!) { product(id: $id) { decoder { version } } }', {
      id: product.id,
    });
    expect(after.decoder.version).toBe(1);
  });

  test('an example that somebody else saved meanwhile stops the saving too, with what differs', async () => {
    const product = await createProduct(server, { serialNumbers: ['d-1'], input: { decoder: GOOD } });
    const page = await openConsole(server, `/products/${product.id}/decoder`);
    await page.locator('.cm-line').first().waitFor();
    await server.gql(
      `mutation ($id: ID!, $request: DecoderRequestInput!, $expected: JSON!) {
         addDecoderExample(productId: $id, name: "theirs", request: $request, expected: $expected) { id }
       }`,
      {
        id: product.id,
        request: { body: '{"d":"d-1","t":1,"h":2}' },
        expected: [
          { device: 'd-1', field: 'temperature', value: 1 },
          { device: 'd-1', field: 'humidity', value: 2 },
        ],
      },
    );
    await write(page, GOOD.replace('value: body.t }', 'value: body.t + 1 }'));
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Save and activate' }).click();
    await page.getByRole('region', { name: 'Expected and what comes now' }).waitFor();
  });

  test('what is typed over everything and into brackets is the editor’s own work, and can be undone', async () => {
    const product = await createProduct(server, { input: { decoder: GOOD } });
    const page = await openConsole(server, `/products/${product.id}/decoder`);
    const editor = page.getByRole('textbox', { name: 'Source of the decoder' });
    const lines = async (): Promise<string[]> => (await page.locator('.cm-line').allTextContents()).filter(Boolean);
    await page.locator('.cm-line').first().waitFor();
    await editor.press('Control+a');
    // Left to the browser, this would get the colour of the first word: the page’s policy complains.
    await page.keyboard.type('one');
    expect(await lines()).toEqual(['one']);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('(');
    expect(await lines()).toEqual(['(one)']);
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('a\nb');
    expect(await lines()).toEqual(['a', 'b']);
    for (let undone = 0; undone < 3; undone += 1) await page.keyboard.press('Control+z');
    expect((await lines())[0]).toBe('function Decoder(request) {');
  });

  test('bytes are tried as a network hands them on: hexadecimal or base64, of a device, received when, with variables', async () => {
    const decoder = `function decodeUplink(input) {
  var temperature = ((input.bytes[0] << 8) | input.bytes[1]) / 10 + Number(input.variables.offset || 0);
  return { data: { temperature: temperature, port: input.fPort } };
}
`;
    const serialNumbers = ['70B3D57ED0000001', '70B3D57ED0000002'];
    const fields = [
      { identifier: 'temperature', type: 'FLOAT' },
      { identifier: 'port', type: 'INTEGER' },
    ];
    const input = { decoder, deviceType: 'LORAWAN', fields };
    const product = await createProduct(server, { serialNumbers, input });
    await server.gql(
      `mutation ($id: ID!) { addConfigurationField(productId: $id,
         input: { identifier: "offset", type: NUMBER, default: 100 }) { id } }`,
      { id: product.id },
    );
    const page = await openConsole(server, `/products/${product.id}/decoder`);
    const cell = (row: string, text: string): Locator =>
      page.getByRole('row').filter({ hasText: row }).getByRole('cell', { name: text, exact: true });
    await page.getByLabel('Bytes', { exact: true }).fill('00 D7');
    await page.getByText('2 bytes, read as hexadecimal').waitFor();
    await page.getByLabel('Port', { exact: true }).fill('7');
    // With what the device's configuration says, of the oldest device.
    await cell('temperature', '121.5').waitFor();
    await cell('port', '7').waitFor();
    await cell('temperature', 'device 70B3D57ED0000001').waitFor();

    await page.getByLabel('Bytes', { exact: true }).fill('ANg=');
    await page.getByText('2 bytes, read as base64').waitFor();
    await page.getByLabel(/^Device/).selectOption('device 70B3D57ED0000002');
    await page.getByLabel('Received').fill('2026-03-04T05:06:07');
    await page.getByLabel('Variables').fill('offset: -1.5');
    await cell('temperature', '20.1').waitFor();
    await cell('temperature', 'device 70B3D57ED0000002').waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'temperature' }).textContent()).toMatch(/4 Mar.*05:06/);

    expect(await fitsInWidth(page)).toBe(true);

    // Neither of the two: the server says so.
    await page.getByLabel('Bytes', { exact: true }).fill('00 D7 1');
    await page.getByText('uplink.bytes: neither hexadecimal').waitFor();
    await page.getByLabel('Bytes', { exact: true }).fill('0x00-0xD9');
    await cell('temperature', '20.2').waitFor();

    // As an example it stays what it is: it runs when the decoder is saved, and is there to be chosen.
    await page.getByRole('button', { name: 'Save as example' }).click();
    await page.getByLabel('Name', { exact: true }).fill('by bytes');
    await page.getByRole('button', { name: 'Save example' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { product: kept } = await server.gql(
      'query ($id: ID!) { product(id: $id) { decoderExamples { request } } }',
      {
        id: product.id,
      },
    );
    expect(JSON.parse(kept.decoderExamples[0].request.body)).toEqual({
      end_device_ids: { dev_eui: '70B3D57ED0000002' },
      uplink_message: { f_port: 7, frm_payload: 'ANk=', received_at: '2026-03-04T04:06:07.000Z' },
    });
  });

  test('the versions name who saved them', async () => {
    const product = await createProduct(server, { input: { decoder: GOOD } });
    const { viewer } = await server.gql('{ viewer { user { email } } }');
    const page = await openConsole(server, `/products/${product.id}/decoder`);
    await page.getByRole('button', { name: 'Versions' }).click();
    await page.getByRole('dialog').getByText(` · ${viewer.user.email}`).waitFor();
  });
});
