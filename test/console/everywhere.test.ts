import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, fitsInWidth, leave, openConsole, operationsOf, shoot } from '../support/browser.ts';
import { fillScreens, type Screen, screensOf, type Seen } from '../support/screens.ts';
import { createDatabase, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** Packed by gzip in KB, where it is not 60: 40 of the first screen, 90 with charts, 210 with the editor. */
const BUDGETS: Record<string, number> = {
  home: 40,
  share: 70,
  device: 95,
  product: 95,
  rule: 90,
  dashboard: 90,
  decoder: 210,
};

let database: TestDatabase;
let server: TestServer;
let seen: Seen;
beforeAll(async () => {
  database = await createDatabase('sqlite');
  server = await startServer({ database });
  seen = await fillScreens(server);
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

/** The rules of axe that look at colours. */
const COLORS = ['color-contrast', 'link-in-text-block'];

/** What axe finds by these rules (left out: all), whatever its severity: rule and where. */
async function foundOf(page: Page, rules?: string[]): Promise<string[]> {
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run: (options: object) => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run(runOnly === undefined ? {} : { runOnly });
    return violations.flatMap(({ id, impact, nodes }) =>
      nodes.map(({ html }) => `${id} (${impact}): ${html.slice(0, 160)}`),
    );
  }, rules);
}

/** How many files of the console it asked for, and their size in KB as packed. */
async function loaded(page: Page): Promise<[files: number, kilobytes: number]> {
  const asked = await page.evaluate<string[]>('performance.getEntriesByType("resource").map(({ name }) => name)');
  const files = asked.map((url) => new URL(url).pathname).filter((file) => file.startsWith('/console/assets/'));
  return [files.length, files.reduce((sum, file) => sum + readFileSync(`dist${file}.gz`).length, 0) / 1_024];
}

/**
 * Maximum different operations of GraphQL per screen until it is whole: who is signed in, the count of alerts, and one of
 * the screen, where nothing else is said. How often those come that look again is a matter of time.
 */
const MAX_OPERATIONS = 3;
const OPERATIONS: Record<string, number> = {
  // The places on the map come behind the counts.
  home: 4,
  // The products and plans to adopt into.
  unknown: 4,
  // What columns and filters there are, and whether unknown devices wait.
  devices: 5,
  products: 4,
  // The device, and the charts in sight.
  device: 4,
  // What fires beside the product, and its rules.
  product: 5,
  // Devices to try it on, and what they have sent.
  rule: 7,
  // Calls to try it on, and the run.
  decoder: 5,
  calls: 4,
  // What the sources of its widgets are, their latest values and histories.
  dashboard: 7,
  share: 4,
};

interface Shown {
  screen: Screen;
  page: Page;
  /** With what is told before: a decoder that fails says so. */
  alerts: number;
}

/** Looks at every screen; those of who is signed in stay open where it says so. */
async function lookAtAll(where: string, { phone, stay }: { phone: boolean; stay: boolean }): Promise<Shown[]> {
  const found: Record<string, string[]> = {};
  const shown: Shown[] = [];
  for (const screen of screensOf(seen)) {
    const { name, path, ready, signedIn = true } = screen;
    const page = await openConsole(server, path, { phone, signedIn });
    await ready(page);
    await shoot(page, `${name}-${where}`);
    const [files, kilobytes] = await loaded(page);
    expect(files, name).toBeGreaterThan(1);
    expect(kilobytes, name).toBeLessThan(BUDGETS[name] ?? 60);
    const asked = operationsOf(page);
    if (asked.length > (OPERATIONS[name] ?? MAX_OPERATIONS)) found[`${name} asks`] = asked;
    await page.evaluate(AXE);
    found[`${name} in light`] = await foundOf(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    found[`${name} in dark`] = await foundOf(page, COLORS);
    await shoot(page, `${name}-${where}-dark`);
    expect(await fitsInWidth(page), name).toBe(true);
    if (stay && signedIn) shown.push({ screen, page, alerts: await page.getByRole('alert').count() });
    else await leave(page);
  }
  expect(Object.entries(found).flatMap(([at, all]) => all.map((one) => `${at}: ${one}`))).toEqual([]);
  return shown;
}

describeInBrowser('every screen', () => {
  test('on a phone: what is loaded and asked for fits into its budget, axe finds nothing in light and dark, nothing sticks out', async () => {
    await lookAtAll('a-phone', { phone: true, stay: false });
  });

  test('on a laptop the same; a lost connection is told by the badge, each screen stays as it was and comes back by itself, with what was missed', async () => {
    const shown = await lookAtAll('a-laptop', { phone: false, stay: true });
    for (const { page } of shown) await page.getByText('Live', { exact: true }).waitFor();
    const port = new URL(server.url).port;
    await server.stop();
    for (const { page } of shown) await page.getByText('Retrying', { exact: true }).waitFor();
    server = await startServer({ database, env: { PORT: port } });
    await server.record(seen.device, [{ field: 'temperature', value: 42.75 }]);
    for (const { screen, page, alerts } of shown) {
      await page.getByText('Live', { exact: true }).waitFor();
      await screen.ready(page);
      await expect.poll(() => page.getByRole('alert').count(), { message: screen.name }).toBe(alerts);
      expect(new URL(page.url()).pathname, screen.name).toBe(`/console${screen.path}`);
      if (screen.name === 'device')
        await page.getByRole('list', { name: 'Latest values' }).getByText('42.75').waitFor();
    }
  });

  test('a session that is over leads to the sign-in page, and back to where one was', async () => {
    const { createToken } = await server.gql(
      'mutation { createToken(input: { name: "short", kind: PERSONAL }) { secret token { id } } }',
    );
    const page = await openConsole(server, '/access', { signedIn: false });
    const signIn = async (secret: string): Promise<void> => {
      await page.getByRole('button', { name: 'Token' }).click();
      await page.getByLabel('Token').fill(secret);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('this session').waitFor();
    };
    await signIn(createToken.secret);
    await page.getByText('Live', { exact: true }).waitFor();
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: createToken.token.id });
    // Nobody has to touch anything: the connection says so.
    await page.getByRole('heading', { name: 'Inlet' }).waitFor();
    await signIn(server.adminToken);
    expect(new URL(page.url()).pathname).toBe('/console/access');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Inlet' }).waitFor();
    expect((await page.context().cookies()).map(({ name }) => name)).toEqual([]);
  });

  test('the search box finds devices, serial numbers, products and fields, by the keyboard alone', async () => {
    const page = await openConsole(server, '/access');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('door');
    await page.getByRole('option', { name: /field of product/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('two');
    await page.getByRole('option', { name: /device two/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'device two' }).waitFor();
    await expect.poll(() => page.title()).toBe('device two · Inlet');
  });
});
