import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';

const run = promisify(execFile);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});
afterAll(() => server.stop());

describeInBrowser('the first run', () => {
  test('from the sign-in page of an empty server to a value, by a line that really runs, in two minutes', async () => {
    const started = performance.now();
    const page = await openConsole(server, '/', { signedIn: false });
    await page.getByRole('button', { name: 'Token' }).click();
    await page.getByLabel('Token').fill(server.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Create product and device' }).click();
    // Who sees nothing hears where it goes on.
    await page.locator('h2:focus', { hasText: 'Run this line' }).waitFor();
    const values = page.getByRole('region', { name: 'Values' });
    await values.getByText('Listening').waitFor();
    const shown = page.getByText(/^curl -X POST/).filter({ hasText: 'Token inl_' });
    const line = (await shown.textContent())!;
    const { stdout } = await run('sh', ['-c', `${line} -s`]);
    expect(JSON.parse(stdout)).toMatchObject({ stored: 2, rejected: [] });
    await values.getByText('21.5 °C').waitFor();
    expect(performance.now() - started).toBeLessThan(120_000);

    await shoot(page, 'start');
    await values.getByRole('link', { name: 'Open Hall' }).waitFor();
    // Who has no terminal is led to what a network wants to be told.
    await page.getByRole('link', { name: 'ChirpStack' }).click();
    const networks = page.getByRole('region', { name: 'Networks' });
    await networks.getByText(`Event endpoint URL: ${server.url}/integrations/lorawan/chirpstack/`).waitFor();
    expect(await networks.getByRole('button', { name: 'ChirpStack', exact: true }).getAttribute('aria-pressed')).toBe(
      'true',
    );
    await expect.poll(async () => (await networks.boundingBox())!.y).toBeLessThan(600);
    await page.goBack();
    await values.getByRole('link', { name: 'Open Hall' }).waitFor();

    // The token in the line can do nothing but record for this device.
    const token = /Token (inl_[\w-]+)/.exec(line)![1]!;
    expect((await server.query('{ devices { totalCount } }', {}, token)).errors?.[0]?.extensions.code).toBe(
      'FORBIDDEN',
    );
  });

  test('a second try after the device failed goes on with the product that is there', async () => {
    const products = async (): Promise<number> => (await server.gql('{ products { totalCount } }')).products.totalCount;
    const before = await products();
    const page = await openConsole(server, '/start');
    let failures = 0;
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('createDevices') === true && failures++ === 0
        ? route.abort()
        : route.continue(),
    );
    await page.getByRole('button', { name: 'Create product and device' }).click();
    await page.getByText('The product is there; only its device is missing.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Product' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Create device' }).click();
    await page.getByRole('heading', { name: 'Run this line' }).waitFor();
    expect(await products()).toBe(before + 1);
  });

  test('a second try after the page was left goes on with the product that is there', async () => {
    const products = async (): Promise<number> => (await server.gql('{ products { totalCount } }')).products.totalCount;
    const before = await products();
    const page = await openConsole(server, '/start');
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('createDevices') === true ? route.abort() : route.continue(),
    );
    await page.getByRole('button', { name: 'Create product and device' }).click();
    await page.getByText('The product is there; only its device is missing.').waitFor();
    await page.unroute('**/graphql');
    await page.reload();
    await page.getByRole('button', { name: 'Create product and device' }).click();
    await page.getByRole('heading', { name: 'Run this line' }).waitFor();
    expect(await products()).toBe(before + 1);
    // It has a device now: the same name makes another one.
    await page.goto(`${server.url}/console/start`);
    await page.getByRole('button', { name: 'Create product and device' }).click();
    await page.getByRole('heading', { name: 'Run this line' }).waitFor();
    expect(await products()).toBe(before + 2);
  });

  test('on a phone the types of the fields are read to their ends', async () => {
    const page = await openConsole(server, '/start', { phone: true });
    const type = page.getByLabel('Type of field 1');
    const widths = await type.evaluate((select) => {
      const shown = select.offsetWidth;
      select.style.width = 'max-content';
      return [shown, select.offsetWidth] as const;
    });
    expect(widths[0]).toBeGreaterThanOrEqual(widths[1]);
  });

  test('a password set there is good for the next sign-in', async () => {
    const page = await openConsole(server, '/start');
    await page.getByText('Set a password for the next time').click();
    await page.getByLabel('New password').fill('a very good one');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Password set.').waitFor();
    const { viewer } = await server.gql('{ viewer { user { email } } }');
    const again = await openConsole(server, '/start', { signedIn: false });
    await again.getByRole('button', { name: 'Password' }).click();
    await again.getByLabel('Email address').fill(viewer.user.email);
    await again.getByLabel('Password', { exact: true }).fill('a very good one');
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.getByRole('heading', { name: 'First steps' }).waitFor();
  });
});
