import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { LOG_LEVEL: 'debug' } });
});
afterAll(() => server.stop());

test('a query has run before anybody asks: the first to come does not wait for code that never ran', async () => {
  const headers = { Authorization: `Token ${server.adminToken}` };
  const documents = async (): Promise<string | undefined> => {
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
    return /^inlet_cache_entries\{cache="documents"\} (\d+)$/m.exec(text)?.[1];
  };
  await expect.poll(documents).toBe('1');
  expect(server.process.lines.filter((line) => line['msg'] === 'the first query was not warmed up')).toEqual([]);
});

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

  test('all that the first page needs is named in it, and who comes back asks for the overview at once', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByText('No device yet.').waitFor();
    const files = await page.evaluate<string[]>('performance.getEntriesByType("resource").map(({ name }) => name)');
    const loaded = files.map((url) => new URL(url).pathname).filter((path) => path.startsWith('/console/assets/'));
    const html = await (await fetch(`${server.url}/console/devices`)).text();
    // What every screen has; the screen's own files come behind it.
    const first = loaded.filter((path) => /\/(?:index|first|common)-/.test(path));
    expect(first.length).toBeGreaterThan(3);
    expect(first.filter((path) => !html.includes(path))).toEqual([]);
    expect(loaded.length).toBeLessThan(20);

    // Without waiting to be told who is signed in.
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/graphql', async (route) => {
      const { query } = route.request().postDataJSON() as { query: string };
      if (query.includes('query Home(')) answer();
      if (query.includes('query Viewer')) await asked;
      await route.continue();
    });
    await page.goto(`${server.url}/console/`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  });
});
