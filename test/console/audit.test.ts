import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';
import { createMember } from '../support/tenant.ts';

let server: TestServer;
let deviceId: string;
let workspaceId: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  deviceId = (await createProduct(server)).deviceIds[0]!;
  workspaceId = (await server.gql('{ workspaces { id } }')).workspaces[0].id;
});
afterAll(() => server.stop());

describeInBrowser('who did what, and who is there', () => {
  test('the audit log is narrowed by who, what and when, leads to the thing, and goes on', async () => {
    const { token, email, userId } = await createMember(server, workspaceId, 'EDITOR');
    const update = 'mutation ($id: ID!, $name: String) { updateDevice(id: $id, input: { name: $name }) { id } }';
    await server.gql(update, { id: deviceId, name: 'Roof' }, token);
    for (let at = 0; at < 51; at += 1) await server.gql(update, { id: deviceId, name: `Cellar ${at}` });
    const page = await openConsole(server, '/access');
    await page.getByRole('link', { name: 'Audit log' }).click();
    const entries = page.getByRole('region', { name: 'Entries' }).getByRole('listitem');
    await entries.filter({ hasText: 'name: Cellar 50' }).waitFor();
    expect(await entries.count()).toBe(50);
    await page.getByRole('button', { name: 'Older' }).click();
    await entries.filter({ hasText: 'Create product' }).waitFor();
    await shoot(page, 'audit');
    await page.getByLabel('By').selectOption(email);
    await expect.poll(() => entries.allTextContents()).toEqual([expect.stringContaining('name: Roof')]);
    expect(new URL(page.url()).searchParams.get('user')).toBe(userId);
    await page.getByLabel('What').selectOption('Create product');
    await page.getByText('Nothing fits.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('What').selectOption('Update device');
    await expect.poll(() => entries.count()).toBe(50);
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00');
    await page.getByText('Nothing fits.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('link', { name: 'Update device' }).first().click();
    await page.getByRole('heading', { name: 'Cellar 50' }).waitFor();
  });

  test('operators see users and workspaces in a log of their own, others no log at all', async () => {
    const page = await openConsole(server, '/audit');
    await page.getByRole('link', { name: 'Whole server' }).click();
    await page.getByRole('region', { name: 'Entries' }).getByText('Create user').first().waitFor();
    const { token } = await createMember(server, workspaceId, 'VIEWER');
    const theirs = await openConsole(server, '/audit', { signedIn: false });
    await theirs.getByLabel('Token').fill(token);
    await theirs.getByRole('button', { name: 'Sign in' }).click();
    await theirs.getByText('The audit log is for administrators').waitFor();
    expect(await theirs.getByRole('alert').count()).toBe(0);
  });

  test('an operator finds, makes, changes and deletes users, and gives them links', async () => {
    const page = await openConsole(server, '/access');
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('button', { name: 'User', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email address').fill('hopper@example.org');
    await dialog.getByLabel('Name').fill('Grace');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByRole('heading', { name: 'A link for hopper@example.org' }).waitFor();
    expect(await dialog.locator('pre').textContent()).toContain('/console/reset#');
    await dialog.getByRole('button', { name: 'I have it' }).click();
    await page.getByLabel('Search users').fill('HOPPER');
    const users = page.getByRole('region', { name: 'Users' }).getByRole('listitem');
    await expect.poll(() => users.count()).toBe(1);
    await page.getByRole('button', { name: 'Change hopper@example.org' }).click();
    await dialog.getByLabel('Operator').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await users.getByText('operator', { exact: true }).waitFor();
    await shoot(page, 'users');
    await page.getByRole('button', { name: 'Delete hopper@example.org' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Nobody fits.').waitFor();
  });

  test('zone and clock are the reader’s, hold at once and after a reload, also for what is typed', async () => {
    const page = await openConsole(server, '/audit');
    const first = page.getByRole('region', { name: 'Entries' }).locator('time').first();
    const at = new Date((await first.getAttribute('datetime'))!);
    const timeIn = (timeZone: string, hourCycle: 'h23' | 'h12'): string =>
      new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone, hourCycle }).format(at);
    const shown = async (): Promise<string> => (await first.textContent())!.replaceAll('\u202f', ' ');
    expect(await shown()).toBe(timeIn('Europe/Berlin', 'h23'));
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('button', { name: 'Language and times' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await dialog.getByLabel('Clock').selectOption('12 hours');
    await shoot(page, 'reader');
    await dialog.getByRole('button', { name: 'Done' }).click();
    const wanted = timeIn('Asia/Tokyo', 'h12').replaceAll('\u202f', ' ');
    await expect.poll(shown).toBe(wanted);
    await page.reload();
    await expect.poll(shown).toBe(wanted);
    await page.getByLabel('From', { exact: true }).fill('2020-01-01T12:00');
    await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe('2020-01-01T03:00:00.000Z');
    await page.goto(`${server.url}/console/devices/${deviceId}`);
    await page.getByText(/· Asia\/Tokyo/).waitFor();
  });
});
