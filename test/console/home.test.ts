import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const DECODER = 'function Decoder() { throw new Error("broken"); }';

let server: TestServer;
let deviceIds: string[];
let productId: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  const fields = [
    { identifier: 'where', type: 'GEOLOCATION', role: 'LOCATION' },
    { identifier: 'speed', type: 'FLOAT' },
  ];
  const input = { name: 'Tracker', decoder: DECODER, fields };
  const made = await createProduct(server, { serialNumbers: ['a', 'b', 'c', 'd'], input });
  ({ deviceIds, id: productId } = made);
  const places = ['(52.52,13.405)', '(52.53,13.41)', '(48.14,11.58)'];
  for (const [at, value] of places.entries()) await server.record(deviceIds[at]!, { field: 'where', value });
  await server.record(deviceIds[0]!, [{ field: 'speed', value: 3 }]);
  await fetch(`${server.url}/integrations/api/${made.webhookId}/`, { method: 'POST', body: '{}' });
  await fetch(`${server.url}/integrations/lorawan/tti/`, {
    method: 'POST',
    headers: { authorization: `Token ${server.adminToken}` },
    body: JSON.stringify({
      end_device_ids: { dev_eui: '70b3d57ed0001234' },
      uplink_message: { f_port: 1, frm_payload: 'AQ==', received_at: '2026-01-01T00:00:00Z' },
    }),
  });
});
afterAll(() => server.stop());

describeInBrowser('the overview', () => {
  test('each number leads to the list that it counts', async () => {
    const page = await openConsole(server, '/');
    await page.getByRole('region', { name: 'Map' }).waitFor();
    await shoot(page, 'home');
    const lists: readonly (readonly [name: string, count: string, path: string])[] = [
      ['Devices', '4', '/devices'],
      ['Online', '3', '/devices?online=yes'],
      ['Silent', '1', '/devices?online=no'],
      ['Unknown devices', '1', '/unknown'],
    ];
    for (const [name, count, path] of lists) {
      await page.getByRole('link', { name: `${count} ${name}`, exact: true }).click();
      await page.locator('h1 .count').getByText(count, { exact: true }).waitFor();
      expect(page.url()).toBe(`${server.url}/console${path}`);
      await page.goBack();
    }
    await page.getByRole('link', { name: '1 Failing decoders', exact: true }).click();
    await page.getByText('POST {}').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: '0 Firing alerts', exact: true }).click();
    await page.getByRole('heading', { name: 'Alerts' }).waitFor();
    expect(page.url()).toBe(`${server.url}/console/alerts?state=FIRING`);
    await page.goBack();
    const days = page.getByRole('region', { name: 'Values a day' });
    expect(await days.getByRole('listitem').count()).toBe(14);
    await days.getByText('4', { exact: true }).waitFor();
  });

  test('all devices are on one map: those near each other as one, which opens', async () => {
    const page = await openConsole(server, '/', { phone: true, dark: true });
    const map = page.getByRole('region', { name: 'Map' });
    await map.getByRole('link', { name: 'device c, online' }).waitFor();
    await shoot(page, 'home-phone');
    await map.getByRole('button', { name: '2 devices, 0 silent' }).click();
    await map.getByRole('link', { name: 'device b, online' }).waitFor();
    expect(await map.getByRole('link', { name: 'device c, online' }).count()).toBe(0);
    await map.getByRole('button', { name: 'All' }).click();
    await map.getByRole('link', { name: 'device c, online' }).click();
    await page.getByRole('heading', { name: 'device c' }).waitFor();
  });

  test('devices at one spot are listed, as no zoom tells them apart', async () => {
    await server.record(deviceIds[1]!, { field: 'where', value: '(52.52,13.405)' });
    const page = await openConsole(server, '/');
    await page.getByRole('button', { name: '2 devices, 0 silent' }).click();
    const spot = page.getByRole('list', { name: 'Devices at this place' });
    await spot.getByRole('link', { name: 'device a' }).waitFor();
    await spot.getByRole('link', { name: 'device b' }).click();
    await page.getByRole('heading', { name: 'device b' }).waitFor();
  });

  test('a decoder that runs again is no longer failing', async () => {
    const source = 'function Decoder() { return []; }';
    await server.gql('mutation ($p: ID!, $s: String!) { saveDecoder(productId: $p, source: $s) { version } }', {
      p: productId,
      s: source,
    });
    const { product } = await server.gql('query ($id: ID!) { product(id: $id) { webhookId } }', { id: productId });
    await fetch(`${server.url}/integrations/api/${product.webhookId}/`, { method: 'POST', body: '{}' });
    const page = await openConsole(server, '/');
    await page.getByRole('link', { name: '0 Failing decoders' }).waitFor();
  });
});
