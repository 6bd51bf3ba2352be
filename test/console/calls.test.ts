import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(() => server.stop());

/** A busy machine takes its time. */
const SOON = { timeout: 10_000 };

const GOOD = `function Decoder(request) {
  var body = JSON.parse(request.body);
  return [{ device: 'd-1', field: 'temperature', value: body.t }];
}
`;
const BAD = GOOD.replace('body.t', 'body.values.t');

async function send(webhookId: string, body: unknown): Promise<void> {
  await fetch(`${server.url}/integrations/api/${webhookId}/data/`, { method: 'POST', body: JSON.stringify(body) });
}

describeInBrowser('the call log', () => {
  test('a decoder is mended from a failed call, which is replayed: its values are there', async () => {
    const product = await createProduct(server, { serialNumbers: ['d-1'], input: { decoder: BAD } });
    for (const t of [20, 21, 22]) await send(product.webhookId, { t });
    const page = await openConsole(server, `/products/${product.id}/calls?status=DECODER_FAILED`);
    const rows = page.getByRole('region', { name: 'Calls' }).getByRole('listitem');
    await expect.poll(() => rows.count(), SOON).toBe(3);
    // One more, live.
    await send(product.webhookId, { t: 23 });
    await expect.poll(() => rows.count(), SOON).toBe(4);
    await rows.filter({ hasText: '"t":22' }).click();
    await page.getByRole('link', { name: 'Debug in editor' }).click();

    await page.locator('.cm-mistake').waitFor();
    expect(await page.getByLabel('Body').inputValue()).toBe('{"t":22}');
    await page.getByRole('textbox', { name: 'Source of the decoder' }).press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(GOOD);
    await page.getByText('would be stored').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByLabel('Note').fill('values are not nested');
    await page.getByRole('button', { name: 'Save and activate' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    await page.getByRole('button', { name: 'Replay…' }).click();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('button', { name: 'Replay 4 calls' }).waitFor();
    const tally = page.getByLabel('What the replay would do');
    expect(await tally.textContent()).toBe('New4Replaced0Unchanged0Refused0Failed calls0');
    await page.getByRole('button', { name: 'Replay 4 calls' }).click();
    await page.getByText('4 calls were run again: 4 values stored, 0 refused, 0 calls failed.').waitFor();

    const { device } = await server.gql(
      `query ($id: ID!) { device(id: $id) { measurements(field: "temperature") { edges { node { value } } } } }`,
      { id: product.deviceIds[0] },
    );
    expect(device.measurements.edges.map((edge: { node: { value: number } }) => edge.node.value)).toEqual([
      20, 21, 22, 23,
    ]);

    // Once more nothing would change, and the log knows by itself how the calls ended now.
    await page.getByRole('checkbox', { name: 'Stored', exact: true }).check();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await expect.poll(() => tally.textContent(), SOON).toBe('New0Replaced0Unchanged4Refused0Failed calls0');
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => rows.filter({ hasText: 'Stored' }).count(), SOON).toBe(4);
  });

  test('filters survive a reload, and a paused log counts what comes', async () => {
    const product = await createProduct(server, { serialNumbers: ['d-1', 'd-2'], input: { decoder: GOOD } });
    await send(product.webhookId, { t: 1, word: 'apple' });
    await send(product.webhookId, { t: 2, word: 'pear' });
    const page = await openConsole(server, `/products/${product.id}/calls`);
    const rows = page.getByRole('region', { name: 'Calls' }).getByRole('listitem');
    await expect.poll(() => rows.count(), SOON).toBe(2);
    await page.getByLabel('Text', { exact: true }).fill('pear');
    await expect.poll(() => rows.count(), SOON).toBe(1);
    await page.reload();
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('pear');
    await expect.poll(() => rows.count(), SOON).toBe(1);
    await page.getByLabel('Device', { exact: true }).fill('nobody');
    await page.getByText('No call is like that.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();

    await page.getByRole('button', { name: 'Pause' }).click();
    await send(product.webhookId, { t: 3 });
    await page.getByRole('button', { name: 'Go on, 1 new' }).waitFor();
    expect(await rows.count()).toBe(2);
    await page.getByRole('button', { name: 'Go on, 1 new' }).click();
    await expect.poll(() => rows.count(), SOON).toBe(3);

    await rows.first().click();
    await page.getByRole('button', { name: 'hex' }).click();
    await page.getByText('7b 22 74 22 3a 33 7d').waitFor();
    await page.getByRole('button', { name: 'Entries (1)' }).click();
    await page.getByRole('link', { name: 'device d-1' }).waitFor();
  });
});
