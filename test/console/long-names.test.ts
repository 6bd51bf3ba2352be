import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, leave, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen in the northern greenhouse';

let server: TestServer;
let paths: Record<string, string>;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  const product = await createProduct(server, {
    serialNumbers: ['a-serial-number-that-goes-on-and-on-0123456789-0123456789-0123456789', 'short'],
    input: {
      name: LONG,
      decoder: `function Decoder() { throw new Error('${'word '.repeat(60)}${'x'.repeat(200)}'); }`,
      fields: [
        { identifier: 'speed', name: LONG, type: 'FLOAT', unit: 'furlongs per fortnight', role: 'PRIMARY' },
        { identifier: 'message', name: 'Message', type: 'STRING' },
        { identifier: 'position', name: 'Position', type: 'GEOLOCATION' },
        { identifier: 'never', name: 'Never', type: 'FLOAT' },
      ],
    },
  });
  const id = product.deviceIds[0]!;
  await server.gql('mutation ($id: ID!, $input: UpdateDeviceInput!) { updateDevice(id: $id, input: $input) { id } }', {
    id,
    input: {
      name: LONG,
      tags: ['a tag that is rather long and says a lot', 'roof', 'north', 'south', 'east'],
      location: LONG,
      metadata: { installed: LONG },
    },
  });
  await server.record(id, [
    { field: 'speed', value: -12_345.678 },
    { field: 'message', value: LONG },
    { field: 'position', value: '(-33.868820,151.209296)' },
  ]);
  const webhook = `${server.url}/integrations/api/${product.webhookId}/${'segment/'.repeat(12)}?q=${'v'.repeat(200)}`;
  await fetch(webhook, { method: 'POST', body: JSON.stringify({ text: LONG }) });
  const { product: logged } = await server.gql(
    'query ($id: ID!) { product(id: $id) { calls { edges { node { id } } } } }',
    { id: product.id },
  );
  const calls = `/products/${product.id}/calls`;
  paths = {
    devices: '/devices',
    device: `/devices/${id}`,
    calls,
    call: `${calls}?call=${logged.calls.edges[0].node.id}`,
    access: '/access',
    start: `/start?device=${id}`,
  };
});
afterAll(() => server.stop());

describeInBrowser('names from right to left', () => {
  test('turn no serial number around', async () => {
    const { deviceIds } = await createProduct(server, { serialNumbers: ['ABC-123'] });
    await server.gql(
      'mutation ($id: ID!, $input: UpdateDeviceInput!) { updateDevice(id: $id, input: $input) { id } }',
      {
        id: deviceIds[0],
        input: { name: 'حرارة \u202e12' },
      },
    );
    const page = await openConsole(server, '/devices');
    const places = await page.getByText('ABC-123', { exact: true }).evaluate((serial) => {
      const left = (at: number): number => {
        const range = serial.ownerDocument.createRange();
        range.setStart(serial.firstChild!, at);
        range.setEnd(serial.firstChild!, at + 1);
        return range.getBoundingClientRect().left;
      };
      return [serial.closest('td')!.querySelector('a')!.getBoundingClientRect().left, left(0), left(6)];
    });
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });
});

describeInBrowser('long names', () => {
  test('are wrapped or cut on a phone, and nothing sticks out', async () => {
    for (const [name, path] of Object.entries(paths)) {
      const page = await openConsole(server, path, { phone: true, dark: true });
      await page.getByText('Live', { exact: true }).or(page.locator('.badge[data-state=live]')).first().waitFor();
      await page
        .locator('main')
        .getByText(/Donau|first token/)
        .filter({ visible: true })
        .first()
        .waitFor();
      if (name === 'device') {
        // Each is fetched when somebody scrolls there.
        for (const field of ['Message', 'Position', 'Never']) {
          const card = page.getByRole('region', { name: field, exact: true });
          await card.scrollIntoViewIfNeeded();
          await card.getByText('Values').waitFor();
        }
        await page.getByText('No value in this range.').waitFor();
        // A place is read to its end.
        const place = page.getByRole('list', { name: 'Latest values' }).locator('strong', { hasText: '° S' });
        const hidden = await place.evaluate((text) => [
          text.scrollWidth - text.clientWidth,
          text.scrollHeight - text.clientHeight,
        ]);
        expect(hidden.map((beyond) => Math.max(0, beyond - 1))).toEqual([0, 0]);
      }
      await shoot(page, `long-${name}`);
      const widths = await page.evaluate(
        '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
      );
      expect(widths, name).toEqual([390, 390]);
      await leave(page);
    }
  });
});
