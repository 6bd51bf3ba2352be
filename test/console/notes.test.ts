import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(() => server.stop());

describeInBrowser('notes of a device', () => {
  test('are written, read on the time line, changed and removed; the server writes some by itself', async () => {
    const { deviceIds } = await createProduct(server, { serialNumbers: ['old'] });
    const [id = ''] = deviceIds;
    await server.record(id, [{ field: 'temperature', value: 5 }]);
    await server.gql('mutation ($id: ID!) { replaceDevice(id: $id, serialNumber: "new") { id } }', { id });
    const page = await openConsole(server, `/devices/${id}`);
    const notes = page.getByRole('region', { name: 'Notes' });
    await notes.getByText('1 note in this range').click();
    await notes.getByText('Sensor replaced: serial number old → new.').waitFor();
    await notes.getByRole('button', { name: 'Note', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Note', exact: true }).fill('Battery changed.\nBy hand.');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await notes.getByText('Battery changed.').waitFor();
    await shoot(page, 'device-notes');
    // Both are marked in the chart.
    const marksOf = (): Promise<number> =>
      page.locator('#field-temperature .time-chart').evaluate((chart) => {
        const canvas = chart.querySelector('canvas')!;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        let ink = 0;
        for (let at = 0; at < data.length; at += 4)
          if (data[at]! > 140 && data[at + 1]! < 80 && data[at + 2]! > 80) ink += 1;
        return ink;
      });
    await expect.poll(marksOf).toBeGreaterThan(20);
    await notes
      .getByRole('button', { name: /^Change the note/ })
      .first()
      .click();
    await dialog.getByRole('textbox', { name: 'Note', exact: true }).fill('Battery changed again');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await notes.getByText('Battery changed again').waitFor();
    await notes
      .getByRole('button', { name: /^Remove the note/ })
      .first()
      .click();
    await notes.getByText('Battery changed again').waitFor({ state: 'detached' });
    const { device } = await server.gql('query ($id: ID!) { device(id: $id) { notes { kind } } }', { id });
    expect(device.notes).toEqual([{ kind: 'REPLACED' }]);
  });
});
