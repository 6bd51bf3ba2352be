import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(() => server.stop());

/** A busy machine takes its time. */

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
    await expect.poll(() => rows.count()).toBe(3);
    // One more, live.
    await send(product.webhookId, { t: 23 });
    await expect.poll(() => rows.count()).toBe(4);
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
    expect(await tally.textContent()).toBe('New4Replaced0Unchanged0Removed0Refused0Failed calls0');
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
    await expect.poll(() => tally.textContent()).toBe('New0Replaced0Unchanged4Removed0Refused0Failed calls0');
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => rows.filter({ hasText: 'Stored' }).count()).toBe(4);
  });

  test('filters survive a reload, and a paused log counts what comes', async () => {
    const product = await createProduct(server, { serialNumbers: ['d-1', 'd-2'], input: { decoder: GOOD } });
    await send(product.webhookId, { t: 1, word: 'apple' });
    await send(product.webhookId, { t: 2, word: 'pear' });
    const page = await openConsole(server, `/products/${product.id}/calls`);
    const rows = page.getByRole('region', { name: 'Calls' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel('Text', { exact: true }).fill('pear');
    await expect.poll(() => rows.count()).toBe(1);
    await page.reload();
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('pear');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByLabel('Device', { exact: true }).fill('nobody');
    await page.getByText('No call is like that.').waitFor();
    // What the server finds for the new filter comes late, and with it what came since.
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('searchCalls') === true) await asked;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => rows.count()).toBe(2);

    await page.getByRole('button', { name: 'Pause' }).click();
    await send(product.webhookId, { t: 3 });
    await page.getByRole('button', { name: 'Go on, 1 new' }).waitFor();
    answer();
    await page.locator('[aria-label="Calls"][aria-busy=false]').waitFor();
    expect(await rows.count()).toBe(2);
    await page.getByRole('button', { name: 'Go on, 1 new' }).click();
    await expect.poll(() => rows.count()).toBe(3);

    await rows.first().click();
    await page.getByRole('button', { name: 'hex' }).click();
    await page.getByText('7b 22 74 22 3a 33 7d').waitFor();
    await page.getByRole('button', { name: 'Entries (1)' }).click();
    await page.getByRole('link', { name: 'device d-1', exact: true }).waitFor();
  });

  test('the server looks for a text and a device in all of its log, however old, and what is looked for stands in the address', async () => {
    const product = await createProduct(server, { serialNumbers: ['d-1', 'd-2'], input: { decoder: GOOD } });
    await send(product.webhookId, { t: 1, word: 'Needle' });
    await fetch(`${server.url}/integrations/api/${product.webhookId}/`, {
      method: 'POST',
      body: JSON.stringify({ t: 2, word: 'd-2 has it' }),
    });
    // More than the page begins with.
    for (let sent = 0; sent < 140; sent += 20)
      await Promise.all(Array.from({ length: 20 }, (_, i) => send(product.webhookId, { t: 100 + sent + i })));
    const page = await openConsole(server, `/products/${product.id}/calls`);
    const rows = page.getByRole('region', { name: 'Calls' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(100);
    await page.getByLabel('Text', { exact: true }).fill('needle');
    await rows.filter({ hasText: 'Needle' }).waitFor();
    await page.getByText('1 call, 142 looked through: all that the log has').waitFor();
    await page.reload();
    await rows.filter({ hasText: 'Needle' }).waitFor();
    expect(await rows.count()).toBe(1);
    expect(new URL(page.url()).search).toBe('?text=needle');

    // By the name of the device that was matched, which stands nowhere in the call.
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('Device', { exact: true }).fill('device D-1');
    await page.getByText(/^1\d\d calls, \d+ looked through, back to/).waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText('142 calls, 142 looked through: all that the log has').waitFor();
    // A call that comes meanwhile is there at once.
    await send(product.webhookId, { t: 999 });
    await rows.filter({ hasText: '"t":999' }).waitFor();
    await page.getByLabel('Device', { exact: true }).fill('device d-2');
    await page.getByText('No call is like that.').waitFor();
  });

  test('a row tells device and query, and the devices that a call named are made in one step', async () => {
    const decoder = `function Decoder(request) {
      return [request.GET.serial[0], 'n-1', 'n-2'].map((device) => ({ device, field: 'temperature', value: 21 }));
    }`;
    const product = await createProduct(server, { serialNumbers: ['TRK-7'], input: { decoder } });
    await fetch(`${server.url}/integrations/api/${product.webhookId}/?serial=TRK-7`);
    const page = await openConsole(server, `/products/${product.id}/calls`);
    const row = page.getByRole('region', { name: 'Calls' }).getByRole('link');
    await row.waitFor();
    expect(await row.innerText()).toMatch(
      /\d\d:\d\d:\d\d\.\d{3}[^]*Partly stored[^]*device TRK-7 \+2[^]*GET \?serial=TRK-7/,
    );
    await page.getByRole('button', { name: 'Outcome: Any outcome' }).click();
    await page.getByRole('button', { name: 'Partly stored' }).click();
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).search).toBe('?status=PARTLY_STORED');
    await page.getByRole('button', { name: 'Outcome: Partly stored' }).waitFor();
    await shoot(page, 'calls');
    await row.click();
    await page.getByRole('button', { name: 'Make these 2 devices' }).click();
    await page.getByText('2 devices are there, with the values that were kept.').waitFor();
    const { devices } = await server.gql<any>(
      'query ($id: ID!) { devices(productId: $id) { edges { node { serialNumber latest { value } } } } }',
      { id: product.id },
    );
    expect(devices.edges.map(({ node }: any) => [node.serialNumber, node.latest[0]?.value]).toSorted()).toEqual([
      ['TRK-7', 21],
      ['n-1', 21],
      ['n-2', 21],
    ]);
    await page.getByRole('link', { name: 'Decoder', exact: true }).click();
    await page.getByLabel('The decoder since the server started').getByText('Half of them took at most').waitFor();
    await shoot(page, 'decoder');
  });

  test('a replay that runs is stopped, and says how far it came', async () => {
    const product = await createProduct(server, { serialNumbers: ['d-1'] });
    for (let sent = 0; sent < 120; sent += 20)
      await Promise.all(Array.from({ length: 20 }, (_, i) => send(product.webhookId, { t: sent + i })));
    await server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
      {
        id: product.id,
        source: GOOD,
      },
    );
    const page = await openConsole(server, `/products/${product.id}/calls`);
    await page.getByRole('button', { name: 'Replay…' }).click();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('button', { name: 'Replay 120 calls' }).waitFor();
    // The second step is held until somebody has stopped.
    let steps = 0;
    let goOn = (): void => {};
    const stopped = new Promise<void>((resolve) => (goOn = resolve));
    await page.route('**/graphql', async (route) => {
      const { query } = route.request().postDataJSON() as { query: string };
      if (query.includes('replayCalls') && (steps += 1) === 2) await stopped;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Replay 120 calls' }).click();
    await page.getByText('50 of 120 calls').waitFor();
    expect(await page.getByRole('progressbar', { name: 'How far it is' }).getAttribute('value')).toBe('50');
    await page.getByRole('button', { name: 'Stop' }).click();
    goOn();
    await page.getByText('Stopped after 100 of 120 calls: 100 values stored, 0 refused, 0 calls failed.').waitFor();
    expect(steps).toBe(2);
    const { product: after } = await server.gql(
      'query ($id: ID!) { product(id: $id) { calls(status: [NO_DECODER]) { totalCount } } }',
      { id: product.id },
    );
    expect(after.calls.totalCount).toBe(20);
  });
});
