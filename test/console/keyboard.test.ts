import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, leave, openConsole } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let device: string;
let product: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  const fields = { temperature: 'FLOAT', door: 'BOOLEAN' };
  const decoder = 'function Decoder(request) { return []; }';
  const made = await createProduct(server, { fields, serialNumbers: ['one', 'two', 'three'], input: { decoder } });
  [device, product] = [made.deviceIds[0]!, made.id];
  for (const body of ['first', 'second'])
    await fetch(`${server.url}/integrations/api/${made.webhookId}/`, { method: 'POST', body });
  await server.record(device, { field: 'temperature', value: 20.5 });
});
afterAll(() => server.stop());

/** In the page: what has the focus, its name, and whether one sees that. */
const FOCUSED = `(() => {
  let element = document.activeElement;
  while (element.shadowRoot?.activeElement != null) element = element.shadowRoot.activeElement;
  const { outlineStyle, boxShadow } = getComputedStyle(element);
  const { width, height } = element.getBoundingClientRect();
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent ?? '';
  // The editor shows a cursor, a time the part of it that is typed.
  const isOwn = element.matches('.cm-content, [type=datetime-local]');
  const isMarked = outlineStyle !== 'none' || boxShadow !== 'none' || isOwn;
  return { name: name.trim(), isSeen: isMarked && width > 0 && height > 0, isPage: element === document.body };
})()`;

const focused = (page: Page): Promise<{ name: string; isSeen: boolean; isPage: boolean }> => page.evaluate(FOCUSED);

/** Presses Tab until what is called so has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let stop = 0; stop < 20; stop += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page)).name === name) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}

/** What takes the focus may do so a moment after the page shows why. */
const focusIsOn = (page: Page, name: string | RegExp | null | undefined): Promise<void> =>
  expect
    .poll(async () => (await focused(page)).name)
    .toEqual(name instanceof RegExp ? expect.stringMatching(name) : name);

const screens = (): [path: string, ready: string][] => [
  ['/start', 'Create product and device'],
  ['/devices', 'device three'],
  [`/devices/${device}`, '20.5'],
  ['/products', 'version 1'],
  [`/products/${product}`, 'temperature'],
  [`/products/${product}/rules/new`, 'Fill in what is watched'],
  [`/products/${product}/decoder`, 'Result'],
  [`/products/${product}/calls`, 'POST first'],
  ['/alerts', 'Nothing fires.'],
  ['/endpoints', 'Nobody is told yet.'],
  ['/access', 'this session'],
];

const MOST_STOPS = 120;

describeInBrowser('with the keyboard alone', () => {
  test('Tab leads through all of every screen: each stop is seen and has a name', async () => {
    for (const [path, ready] of screens()) {
      const page = await openConsole(server, path);
      await page.getByText(ready).first().waitFor();
      const stops: string[] = [];
      for (let stop = 0; stop < MOST_STOPS; stop += 1) {
        await page.keyboard.press('Tab');
        const { name, isSeen, isPage } = await focused(page);
        // The next Tab leaves the editor.
        if (name.startsWith('Source of')) await page.keyboard.press('Escape');
        // Round once.
        if (isPage) break;
        expect(isSeen, `${path}: ${name}`).toBe(true);
        expect(name, `${path}, after ${stops.at(-1)}`).not.toBe('');
        stops.push(name);
      }
      expect(stops.length, path).toBeGreaterThan(8);
      expect(stops.length, path).toBeLessThan(MOST_STOPS);
      await leave(page);
    }
  });

  test('devices are chosen, given a plan and deleted; a list of deeds is looked through before one is done', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByRole('checkbox', { name: 'Select device three' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('region', { name: 'Selected devices' }).getByText('1 device selected').waitFor();
    const planOf = async (): Promise<string> => {
      const found = await server.gql('{ devices(search: "three") { edges { node { plan { slug } } } } }');
      return found.devices.edges[0].node.plan.slug;
    };
    await page.getByLabel('Plan').focus();
    // The first opens the list, and nothing is done on the way through it.
    for (let press = 0; press < 3; press += 1) {
      await page.keyboard.press('ArrowDown');
      // The browser draws the list in its own time, and takes no key until then.
      await page.waitForTimeout(300);
    }
    expect(await planOf()).toBe('unlimited');
    await page.keyboard.press('Enter');
    await page.getByText('It changes 1 device.').waitFor();
    await tabTo(page, 'Change 1 device');
    await page.keyboard.press('Enter');
    await page.getByText('Plan Standard given to 1 device.').waitFor();
    expect(await planOf()).toBe('standard');

    await page.getByRole('checkbox', { name: 'Select device three' }).focus();
    await page.keyboard.press('Space');
    const remove = page.getByRole('region', { name: 'Selected devices' }).getByRole('button', { name: 'Delete' });
    await remove.focus();
    await page.keyboard.press('Enter');
    await page.getByText('0 values go with it, for good.').waitFor();
    expect(await page.evaluate('document.activeElement.closest("dialog") !== null')).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await focusIsOn(page, 'Delete');
    await page.keyboard.press('Enter');
    await page.getByText('0 values go with it, for good.').waitFor();
    await tabTo(page, 'Delete');
    await page.keyboard.press('Enter');
    await page.getByText('Deleted device three.').waitFor();
    // What was offered for those chosen is gone, and the focus is at the list.
    await remove.waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    await focusIsOn(page, 'Select all that are shown');
  });

  test('what answers with an error, or is gone when it is done, leaves the focus where one was', async () => {
    const out = await openConsole(server, '/devices', { signedIn: false });
    await out.getByRole('button', { name: 'Token' }).click();
    await out.getByLabel('Token').fill('none that anybody has');
    await out.getByRole('button', { name: 'Sign in' }).focus();
    await out.keyboard.press('Enter');
    await out.getByRole('alert').waitFor();
    await focusIsOn(out, 'Sign in');

    for (const field of ['wind', 'rain']) await server.record(device, { field, value: 1 });
    const page = await openConsole(server, `/products/${product}`);
    await page.getByRole('button', { name: 'Add wind' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Add field' }).press('Enter');
    await focusIsOn(page, 'Add rain');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Add field' }).press('Enter');
    await focusIsOn(page, 'Fields');
  });

  test('after a token is revoked the next one of the list has the focus, and after the last what makes one', async () => {
    for (const name of ['Alpha', 'Beta'])
      await server.gql('mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }', {
        input: { kind: 'INDIVIDUAL', name, workspaceId: (await server.gql('{ workspaces { id } }')).workspaces[0].id, scopes: ['READ'] },
      }); // oxfmt-ignore
    const page = await openConsole(server, '/access');
    const list = page.getByRole('region', { name: 'Tokens of default' });
    const revoke = async (name: string): Promise<void> => {
      await list.getByRole('button', { name }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await tabTo(page, 'Revoke');
      await page.keyboard.press('Enter');
      await list.getByRole('button', { name }).waitFor({ state: 'detached' });
    };
    await list.getByRole('button', { name: 'Revoke Beta' }).waitFor();
    const offered = list.getByRole('button', { name: /^Revoke / });
    const [first, second] = await offered.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    await revoke(first!);
    await focusIsOn(page, second);
    await revoke(second!);
    await focusIsOn(page, 'Token');
  });

  test('every dialog is left by a button of its own, and by Escape', async () => {
    const dialogs: [path: string, opened: string[]][] = [
      ['/products', ['New product']],
      [`/products/${product}`, ['Add field', 'Add configuration field', 'New address', 'Add widget', 'Change temperature', 'Remove temperature']],
      [`/products/${product}/decoder`, ['Versions', 'Save as example', 'Save']],
      [`/products/${product}/calls`, ['Replay…']],
      [`/devices/${device}`, ['More']],
      ['/devices', ['New device']],
      ['/access', ['Member']],
    ]; // oxfmt-ignore
    /** What comes before the button is there, or behind it. */
    const first: Record<string, (page: Page) => Promise<void>> = {
      'Add widget': (page) => page.getByRole('button', { name: 'Edit', exact: true }).click(),
      Save: (page) => page.getByRole('textbox', { name: 'Source of the decoder' }).press('Control+End').then(() => page.keyboard.type('//')),
    }; // oxfmt-ignore
    for (const [path, opened] of dialogs) {
      const page = await openConsole(server, path);
      const dialog = page.getByRole('dialog');
      for (const name of opened) {
        await first[name]?.(page);
        const open = async (): Promise<void> => {
          await page.getByRole('button', { name, exact: true }).click();
          if (name === 'More') await page.getByText('Send values').click();
        };
        await open();
        await dialog.locator('.actions button', { hasText: /^(Cancel|Keep it|Done)$/ }).click();
        await dialog.waitFor({ state: 'detached' });
        await open();
        await dialog.waitFor();
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      }
      await leave(page);
    }
  });

  test('the editor keeps what is typed, a slash too, and has the focus again after the saving', async () => {
    const page = await openConsole(server, `/products/${product}/decoder`);
    const editor = page.getByRole('textbox', { name: 'Source of the decoder' });
    await editor.press('Control+End');
    await page.keyboard.type('// by hand');
    expect(await editor.textContent()).toContain('// by hand');
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await focusIsOn(page, 'Source of the decoder');
    await page.keyboard.press('Control+s');
    await tabTo(page, 'Save and activate');
    await page.keyboard.press('Enter');
    await page.getByText('Version 2 is active.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await focusIsOn(page, 'Source of the decoder');
    // There is nothing to save any more.
    await page.getByText('version 2', { exact: true }).waitFor();
    await page.keyboard.press('Control+s');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('values of a chart are read from one to the next, in all charts at once', async () => {
    const now = Math.floor(Date.now() / 1_000);
    for (const [minutes, value] of [
      [50, 17.5],
      [40, 18.5],
      [30, 19.5],
    ] as const)
      await server.record(device, { field: 'temperature', value, timestamp: now - minutes * 60 });
    await server.record(device, { field: 'door', value: true, timestamp: now - 45 * 60 });
    const page = await openConsole(server, `/devices/${device}?range=hour`);
    const readout = (name: string) => page.getByRole('region', { name }).locator('.readout');
    await readout('temperature').getByText('20.5').waitFor();
    await page.getByRole('region', { name: 'door' }).getByText('true').first().waitFor();
    await page.getByRole('img', { name: 'temperature over time' }).focus();
    await page.keyboard.press('Home');
    await readout('temperature').getByText('17.5').waitFor();
    await page.keyboard.press('ArrowRight');
    await readout('temperature').getByText('18.5').waitFor();
    await expect.poll(() => readout('door').textContent()).toMatch(/\d\d:\d\d.*true/);
    await page.keyboard.press('ArrowLeft');
    await readout('temperature').getByText('17.5').waitFor();
    await page.keyboard.press('Escape');
    await readout('temperature').getByText('20.5').waitFor();
  });

  test('what a menu leads to gives the focus back to the menu', async () => {
    const page = await openConsole(server, `/devices/${device}`);
    await page.getByRole('button', { name: 'More' }).focus();
    await page.keyboard.press('Enter');
    await tabTo(page, 'Change');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await focusIsOn(page, 'Name');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await focusIsOn(page, 'More');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await focusIsOn(page, 'More');
  });

  test('a call is opened, looked into and left again', async () => {
    const page = await openConsole(server, `/products/${product}/calls`);
    const row = page.getByRole('region', { name: 'Calls' }).getByRole('link').filter({ hasText: 'POST first' });
    await row.focus();
    await page.keyboard.press('Enter');
    await focusIsOn(page, 'The call chosen');
    await page.keyboard.press('Tab');
    await focusIsOn(page, 'Close');
    await page.keyboard.press('Escape');
    await page.getByRole('complementary', { name: 'The call chosen' }).waitFor({ state: 'detached' });
    await focusIsOn(page, /POST first/);
  });
});
