import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(() => server.stop());

describeInBrowser('the console', () => {
  test('who is not signed in gets the sign-in page, and afterwards the page that was asked for', async () => {
    const page = await openConsole(server, '/devices?search=x', { signedIn: false });
    await page.getByRole('button', { name: 'Token' }).click();
    await page.getByLabel('Token').fill(server.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Devices' }).waitFor();
    expect(new URL(page.url()).search).toBe('?search=x');
    await page.getByText('Live', { exact: true }).waitFor();
  });
});
