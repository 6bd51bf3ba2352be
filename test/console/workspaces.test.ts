import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';

let database: TestDatabase;
let server: TestServer;
let boiler: string;
let home: string;
let plant: string;
beforeAll(async () => {
  database = await createDatabase('sqlite');
  server = await startServer({ database });
  const { workspaces } = await server.gql('{ workspaces { id } }');
  home = workspaces[0].id;
  plant = await createWorkspace(server, 'Plant A');
  await createProduct(server, { workspaceId: home, serialNumbers: ['here'] });
  const there = await createProduct(server, { workspaceId: plant, serialNumbers: ['boiler'] });
  boiler = there.deviceIds[0]!;
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

describeInBrowser('where one is', () => {
  test('the workspace is named at the top left, and switched by keys alone', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByRole('button', { name: 'Workspace: default' }).waitFor();
    await page.getByRole('link', { name: 'device here' }).waitFor();
    await page.keyboard.press('w');
    await page.getByRole('combobox', { name: 'Switch to a workspace' }).waitFor();
    await page.keyboard.type('pla');
    await expect.poll(() => page.getByRole('listbox', { name: 'Workspaces' }).getByRole('option').count()).toBe(1);
    await shoot(page, 'workspace-switch');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'device boiler' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Workspace: Plant A' }).waitFor();
    await page.getByRole('link', { name: 'device boiler' }).click();
    await page.getByRole('heading', { name: 'device boiler' }).waitFor();
    await page.keyboard.press('w');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    // What was on the page is of the other workspace: its list is shown.
    await page.getByRole('link', { name: 'device here' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/devices');
  });

  test('the search finds what is in another workspace, also from a box to check, and says where it leads', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByRole('checkbox', { name: 'Select device here' }).focus();
    await page.keyboard.press('/');
    await page.keyboard.type('boiler');
    const elsewhere = page.getByRole('group', { name: 'In other workspaces' });
    await elsewhere.getByRole('option', { name: /device boiler.*Plant A/ }).waitFor();
    await shoot(page, 'search-elsewhere');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'device boiler' }).waitFor();
    await page.getByText('Now in Plant A').waitFor();
    await page.getByRole('button', { name: 'Workspace: Plant A' }).waitFor();
  });

  test('the search finds what is elsewhere behind any number of hits here', async () => {
    const kilns = Array.from({ length: 60 }, (_, at) => `z-kiln ${at}`);
    await createProduct(server, { serialNumbers: kilns, workspaceId: home });
    await createProduct(server, { serialNumbers: ['zz-kiln'], workspaceId: plant });
    const page = await openConsole(server, '/devices');
    await page.getByRole('button', { name: 'Workspace: default' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('kiln');
    const elsewhere = page.getByRole('group', { name: 'In other workspaces' });
    await elsewhere.getByRole('option', { name: /device zz-kiln.*Plant A/ }).waitFor();
    expect(await elsewhere.getByRole('option').count()).toBe(1);
  });

  test('a link into another workspace leads into that', async () => {
    const page = await openConsole(server, `/devices/${boiler}`);
    await page.getByRole('button', { name: 'Workspace: Plant A' }).waitFor();
    await page.getByRole('navigation', { name: 'Where this is' }).getByRole('link', { name: 'Plant A' }).click();
    await page.getByRole('heading', { name: 'Plant A' }).waitFor();
  });

  test('a question mark lists the keys', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByRole('link', { name: 'device here' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Switch to another workspace').waitFor();
    await shoot(page, 'keys');
  });
});

describeInBrowser('a server that is away', () => {
  test('is told once; a screen whose code was not there yet comes by itself, a change is not promised', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'New device' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('late');
    const port = new URL(server.url).port;
    await server.stop();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByText('so this was perhaps not done').waitFor();
    await page.keyboard.press('Escape');
    const told = page.getByText('The server cannot be reached.', { exact: false });
    await expect.poll(() => told.count()).toBe(1);
    await page.getByRole('link', { name: 'Alerts' }).click();
    await page.getByText('could not be loaded yet').waitFor();
    await shoot(page, 'server-away');
    server = await startServer({ database, env: { PORT: port } });
    await page.getByText('Nothing fires.').waitFor();
    await expect.poll(() => told.count()).toBe(0);
  });
});
