import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

/** Many pages. */
const MANY = 3_600;
/** More than a page shows; changed and deleted one by one. */
const TANKS = 200;
let server: TestServer;
let deviceIds: string[];
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  const isBulk = (at: number): boolean => at >= 3_000 && at < 3_000 + TANKS;
  const serialNumbers = Array.from(
    { length: MANY },
    (_, i) => `${isBulk(i) ? 'tank' : 's'}${String(i).padStart(5, '0')}`,
  );
  ({ deviceIds } = await createProduct(server, {
    serialNumbers,
    input: {
      name: 'Room sensor',
      fields: [
        { identifier: 'temperature', type: 'FLOAT', unit: '°C', role: 'PRIMARY' },
        { identifier: 'battery', type: 'FLOAT', unit: '%', role: 'BATTERY' },
      ],
    },
  }));
  await server.record(deviceIds[0]!, [
    { field: 'temperature', value: 20.25 },
    { field: 'battery', value: 91 },
  ]);
  await server.record(deviceIds[3_001]!, [{ field: 'temperature', value: 7.5, timestamp: 1_767_225_600 }]);
});
afterAll(() => server.stop());

describeInBrowser('the devices', () => {
  test('thousands are a list that stays quick, live, narrowed and ordered by the address', async () => {
    const page = await openConsole(server, '/devices');
    const rows = page.locator('tbody tr:not([aria-hidden])');
    await page.getByText('3,600').waitFor();
    const first = page.getByRole('row', { name: /device s00000/ });
    await first.getByText('20.25 °C').waitFor();
    await first.getByText('91%').waitFor();
    expect(await rows.count()).toBeLessThan(80);

    await page.getByText('Live', { exact: true }).waitFor();
    await expect
      .poll(
        async () => {
          await server.record(deviceIds[0]!, { field: 'temperature', value: 23.5 });
          return first.textContent();
        },
        { interval: 250 },
      )
      .toContain('23.5 °C');

    // Keyset pages come as one scrolls.
    await expect
      .poll(
        async () => {
          await page.keyboard.press('End');
          return rows.last().textContent();
        },
        { interval: 100 },
      )
      .toMatch(/s00[4-9]\d\d/);
    expect(await rows.count()).toBeLessThan(80);
    await shoot(page, 'devices-scrolled');

    await page.getByRole('searchbox', { name: 'Name or serial' }).fill('s0349');
    await expect.poll(() => rows.count()).toBe(10);
    await page.getByRole('button', { name: 'Device', exact: true }).click();
    await expect.poll(() => rows.first().textContent()).toContain('s03499');
    expect(new URL(page.url()).search).toBe('?search=s0349&sort=name&down=1');
    await page.reload();
    await expect.poll(() => rows.first().textContent()).toContain('s03499');
  });

  test('on a phone the names have the most room', async () => {
    const page = await openConsole(server, '/devices', { phone: true });
    await page.getByRole('link', { name: 'device s00003' }).waitFor();
    const heads = `[...document.querySelectorAll('table.devices th')].filter((cell) => cell.clientWidth > 0)`;
    const widths = await page.evaluate<number[]>(`${heads}.map((cell) => cell.clientWidth)`);
    const [, name, last] = widths;
    expect(name).toBeGreaterThan(last!);
    // The second line: serial number and values with their names.
    const first = page.getByRole('row', { name: /device s00000/ });
    await expect.poll(() => first.locator('.second').textContent()).toMatch(/^s00000temperature [\d.]+ °Cbattery 91%$/);
    // As long as it gets before it is hours.
    const hidden = await page
      .locator('tbody td.heard')
      .first()
      .evaluate((cell) => {
        cell.firstElementChild!.textContent = '59 min ago';
        return cell.scrollWidth - cell.clientWidth;
      });
    expect(hidden).toBe(0);
    await shoot(page, 'devices-phone');
  });

  test('where none fits, one way leads back to all', async () => {
    const page = await openConsole(server, '/devices?search=nothing+is+called+so');
    await page.getByText('No device fits.').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByText('3,600', { exact: true }).waitFor();
    expect(await page.getByRole('searchbox', { name: 'Name or serial' }).inputValue()).toBe('');
  });

  test('several are tagged at once, and deleted after saying how many values go', async () => {
    const page = await openConsole(server, '/devices?search=s0000');
    await page.getByRole('checkbox', { name: 'Select device s00000' }).check();
    await page.getByRole('checkbox', { name: 'Select device s00001' }).check();
    await page.getByLabel('Tag to add').fill('roof');
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    const sheet = page.getByRole('dialog', { name: 'Add the tag “roof”?' });
    await sheet.getByText('It changes 2 devices.').waitFor();
    await shoot(page, 'devices-tag');
    await sheet.getByRole('button', { name: 'Change 2 devices' }).click();
    await page.getByText('Tag “roof” added to 2 devices.').waitFor();
    await shoot(page, 'devices-tagged');
    const { devices } = await server.gql('{ devices(tags: ["roof"]) { totalCount } }');
    expect(devices.totalCount).toBe(2);

    await page.getByRole('checkbox', { name: 'Select device s00000' }).check();
    const exported = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export' }).click();
    expect(await (await exported).failure()).toBeNull();
    await page.getByRole('button', { name: 'Delete' }).click();
    const values = await server.gql(
      '{ devices(search: "s00000") { edges { node { statistics(from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z") { count } } } } }',
    );
    const count = values.devices.edges[0].node.statistics.reduce(
      (sum: number, one: { count: number }) => sum + one.count,
      0,
    );
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${count} values go with it, for good.`).waitFor();
    await shoot(page, 'devices-delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Deleted device s00000.').waitFor();
    await expect.poll(() => page.getByRole('row', { name: /device s00000/ }).count()).toBe(0);
  });

  test('all that fit a filter are tagged in one step that is counted before, exported and deleted, however many', async () => {
    const page = await openConsole(server, '/devices?search=tank');
    await page.getByText(String(TANKS), { exact: true }).waitFor();
    const everything = page.getByRole('checkbox', { name: 'Select all that are shown' });
    await everything.check();
    const bulk = page.getByRole('region', { name: 'Selected devices' });
    await bulk.getByText('100 devices selected').waitFor();
    await bulk.getByRole('button', { name: `Choose all ${TANKS} that fit` }).click();
    await bulk.getByText(`${TANKS} devices that fit`).waitFor();
    await shoot(page, 'devices-all');

    const download = page.waitForEvent('download');
    await bulk.getByRole('link', { name: 'Export' }).click();
    const file = await (await download).createReadStream();
    let text = '';
    for await (const part of file) text += String(part);
    expect(text).toBe(`device,field,timestamp,value\ntank03001,temperature,2026-01-01T00:00:00.000Z,7.5\n`);

    let asked = 0;
    page.on('request', (request) => (asked += /ChangeMany/.test(request.postData() ?? '') ? 1 : 0));
    await page.getByLabel('Tag to add').fill('north');
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('dialog').getByText(`It changes ${TANKS} devices.`).waitFor();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Change ${TANKS} devices` })
      .click();
    await page.getByText(`Tag “north” added to ${TANKS} devices.`).waitFor();
    expect(asked).toBe(2);
    const { devices } = await server.gql('{ devices(tags: ["north"]) { totalCount } }');
    expect(devices.totalCount).toBe(TANKS);
    await everything.check();
    await page.getByLabel('Tag to add').fill('north');
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('dialog').getByText('It changes 0 devices. 100 devices have it already.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await everything.uncheck();

    await everything.check();
    await bulk.getByRole('button', { name: `Choose all ${TANKS} that fit` }).click();
    await bulk.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 value goes with them, for good.').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText(`Deleted ${TANKS} devices.`).waitFor();
    await page.getByText('No device fits.').waitFor();
  });

  test('who goes back from deleting many counts no further', async () => {
    const page = await openConsole(server, '/devices?search=s02');
    await page.getByText('1,000', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
    let asked = 0;
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/graphql', async (route) => {
      const { query } = route.request().postDataJSON() as { query: string };
      if (query.includes('CountValues')) {
        asked += 1;
        await held;
      }
      await route.continue().catch(() => {});
    });
    await page.getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => asked).toBe(4);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    answer();
    await page.getByRole('searchbox', { name: 'Name or serial' }).fill('s0299');
    await page.getByText('10', { exact: true }).waitFor();
    expect(asked).toBe(4);
  });

  test('more devices than fit into an address are exported in several files', async () => {
    const page = await openConsole(server, '/devices?search=s01');
    const everything = page.getByRole('checkbox', { name: 'Select all that are shown' });
    const more = page.locator('tbody tr:not([aria-hidden])').last();
    await expect
      .poll(
        async () => {
          await page.keyboard.press('End');
          return more.textContent();
        },
        { interval: 100 },
      )
      .toMatch(/s01[3-9]\d\d/);
    // Rows that come meanwhile are not selected.
    await everything.click();
    await page.getByRole('button', { name: /^Export in [2-4] files$/ }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'File 2: devices 301 to' }).click();
    expect(await (await download).failure()).toBeNull();
    expect((await download).suggestedFilename()).toBe('devices-2.csv');
  });
});
