import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, PASSWORD, setMember, signIn } from '../support/tenant.ts';

const DAY_MS = 86_400_000;

let server: TestServer;
let deviceId: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  deviceId = (await createProduct(server)).deviceIds[0]!;
});
afterAll(() => server.stop());

describeInBrowser('access', () => {
  test('a token is made for one device and some fields, shown once, described in words and revoked', async () => {
    const page = await openConsole(server, '/access');
    const tokens = page.getByRole('region', { name: 'Tokens of default' });
    await tokens.getByRole('button', { name: 'Token', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Gateway');
    await dialog.getByLabel('Device', { exact: true }).fill('serial-1');
    await dialog.getByRole('button', { name: /device serial-1/ }).click();
    await dialog.getByLabel('Only these fields').fill('temperature, another');
    await dialog.getByRole('button', { name: 'Make token' }).click();
    const secret = (await dialog.locator('pre').first().textContent())!;
    expect((await server.record(deviceId, { field: 'temperature', value: 1 }, { token: secret })).status).toBe(200);
    await dialog.getByRole('button', { name: 'I have it' }).click();
    await tokens
      .getByText('May record values – only device “device serial-1” and fields “temperature”, “another”.')
      .waitFor();
    expect(await page.content()).not.toContain(secret);
    await shoot(page, 'access');
    await tokens.getByRole('button', { name: 'Revoke Gateway' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('“Gateway” is revoked.').waitFor();
    expect((await server.record(deviceId, { field: 'temperature', value: 2 }, { token: secret })).status).toBe(401);
  });

  test('a token is changed and renewed; its end is told in words, amber when it is near', async () => {
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const expiresAt = new Date(Date.now() + 337 * DAY_MS).toISOString();
    const more = { name: 'Logger', expiresAt };
    const { id, secret } = await createToken(server, server.adminToken, workspaces[0].id, ['RECORD'], more);
    const page = await openConsole(server, '/access');
    const row = page
      .getByRole('region', { name: 'Tokens of default' })
      .getByRole('listitem')
      .filter({ hasText: 'Logger' });
    await row.getByText('in 11 months').waitFor();
    expect(await row.getByText('in 11 months').getAttribute('data-state')).toBeNull();
    await row.getByRole('button', { name: 'Change Logger' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Logger of the roof');
    await dialog.getByLabel('Only these fields').fill('temperature');
    await dialog.getByLabel('It ends').selectOption('in a day');
    await shoot(page, 'change-token');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('“Logger of the roof” is changed.').waitFor();
    await row.getByText('only fields “temperature”').or(row.getByText('only field “temperature”')).waitFor();
    expect(await row.getByText('in 24 hours').getAttribute('data-state')).toBe('soon');
    // What was left alone is as it was.
    const { workspace } = await server.gql('query ($id: ID!) { workspace(id: $id) { tokens { id products { id } devices { id } fields } } }', { id: workspaces[0].id }); // oxfmt-ignore
    expect(workspace.tokens.find((one: { id: string }) => one.id === id)).toMatchObject({ products: null, devices: null, fields: ['temperature'] }); // oxfmt-ignore
    await row.getByRole('button', { name: 'Renew Logger of the roof' }).click();
    await dialog.getByRole('button', { name: 'Renew' }).click();
    const renewed = (await dialog.locator('pre').first().textContent())!;
    expect((await server.record(deviceId, { field: 'temperature', value: 1 }, { token: secret })).status).toBe(401);
    expect((await server.record(deviceId, { field: 'temperature', value: 1 }, { token: renewed })).status).toBe(200);
    await dialog.getByRole('button', { name: 'I have it' }).click();
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id });
  });

  test.each(['VIEWER', 'EDITOR'] as const)('a %s reads who is there, and is offered nothing else', async (role) => {
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const { token, email } = await createMember(server, workspaces[0].id, role);
    const page = await openConsole(server, '/access', { signedIn: false });
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const members = page.getByRole('region', { name: 'Members of default' });
    await members.getByText(email).first().waitFor();
    await shoot(page, `access-${role}`);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await members.getByRole('button').count()).toBe(0);
    expect(await members.getByRole('combobox').count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Workspaces' }).getByRole('button').count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Tokens of default' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
    // Their own tokens are theirs.
    await page.getByRole('region', { name: 'Your tokens' }).getByRole('button', { name: 'Change sign-in' }).waitFor();
  });

  test('a right that is taken away while the page is open leaves it without a red word', async () => {
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const { token, userId } = await createMember(server, workspaces[0].id, 'ADMIN');
    const page = await openConsole(server, '/access', { signedIn: false });
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('region', { name: 'Tokens of default' }).waitFor();
    await setMember(server, workspaces[0].id, userId, 'VIEWER');
    await page.getByRole('button', { name: 'Member', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Email address').fill('nobody@example.org');
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByRole('region', { name: 'Tokens of default' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Member', exact: true }).count()).toBe(0);
  });

  test('several people are invited at once; one mistake loses no link', async () => {
    const page = await openConsole(server, '/access');
    await page.getByRole('button', { name: 'Member', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email addresses').fill('one@example.org, two@example.org\nno-address');
    await dialog.getByLabel('Role').selectOption('EDITOR');
    await dialog.getByRole('button', { name: 'Add 3' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Email addresses').inputValue()).toBe('no-address');
    await dialog.getByLabel('Email addresses').fill('three@example.org');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByRole('heading', { name: '3 links' }).waitFor();
    await shoot(page, 'links');
    expect(await dialog.locator('pre').count()).toBe(3);
    await dialog.getByRole('button', { name: 'I have them' }).click();
    for (const who of ['one', 'two', 'three'])
      await page.getByText(`${who}@example.org is invited as EDITOR`).waitFor();
  });

  test('somebody new becomes a member, with a role that is changed', async () => {
    const page = await openConsole(server, '/access');
    await page.getByRole('button', { name: 'Member', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email address').fill('ada@example.org');
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByLabel('Role of ada@example.org').selectOption('EDITOR');
    await page.getByText('ada@example.org is EDITOR now.').waitFor();
    const ada = await signIn(server, 'ada@example.org');
    const { viewer } = await server.gql('{ viewer { token { scopes } } }', {}, ada);
    expect(viewer.token.scopes).toEqual(['READ', 'RECORD', 'CONFIGURE']);
    // The only ADMIN stays: the server says why, and the list says what is.
    await page.getByLabel('Role of operator@localhost').selectOption('VIEWER');
    await page.getByRole('alert').waitFor();
    await expect.poll(() => page.getByLabel('Role of operator@localhost').inputValue()).toBe('ADMIN');
  });

  test('somebody joins by a link, and chooses another password by one', async () => {
    const page = await openConsole(server, '/access');
    await page.getByRole('button', { name: 'Member', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email address').fill('grace@example.org');
    await dialog.getByLabel('Role').selectOption('ADMIN');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByRole('heading', { name: 'A link for grace@example.org' }).waitFor();
    const pathOf = async (): Promise<string> => {
      const { pathname, hash } = new URL((await dialog.locator('pre').textContent())!);
      return pathname.slice('/console'.length) + hash;
    };
    const join = await pathOf();
    await dialog.getByRole('button', { name: 'I have it' }).click();
    await page.getByText(/grace@example.org is invited as ADMIN; the invitation ends in 7 days/).waitFor();
    await shoot(page, 'invitation');

    const theirs = await openConsole(server, join, { signedIn: false });
    await theirs.getByLabel('Name').fill('Grace');
    await theirs.getByLabel('Password').fill(PASSWORD);
    await theirs.getByRole('button', { name: 'Join' }).click();
    await theirs.getByText('Live', { exact: true }).waitFor();
    expect(theirs.url()).not.toContain('#');
    await signIn(server, 'grace@example.org');

    await page.reload();
    await page.getByRole('button', { name: 'Password link for grace@example.org' }).click();
    await dialog.locator('pre').waitFor();
    const reset = await pathOf();
    const again = await openConsole(server, reset, { signedIn: false });
    await again.getByLabel('Password').fill('quite another one');
    await again.getByRole('button', { name: 'Set the password' }).click();
    await again.getByText('Live', { exact: true }).waitFor();
    await signIn(server, 'grace@example.org', 'quite another one');
  });

  test('GraphiQL runs queries with the person’s session, and leads who is not signed in to the sign-in page and back', async () => {
    const page = await openConsole(server, '/graphql', { signedIn: false });
    await page.getByRole('button', { name: 'Token' }).click();
    await page.getByLabel('Token').fill(server.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('totalCount').waitFor();
    await page.locator('.result-window .CodeMirror').waitFor();
    await page.getByRole('button', { name: /^Execute query/ }).click();
    await page.locator('.result-window').getByText('"device serial-1"').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/graphql');
    await shoot(page, 'graphiql');
    await page.getByRole('link', { name: 'Inlet' }).click();
    await page.getByRole('heading', { name: 'Devices' }).waitFor();
  });
});
