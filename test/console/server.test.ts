import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, fitsInWidth, openConsole } from '../support/browser.ts';
import { createMember } from '../support/tenant.ts';
import { createDatabase, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

let database: TestDatabase;
let server: TestServer;
beforeAll(async () => {
  database = await createDatabase('sqlite');
  server = await startServer({ database });
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

describeInBrowser('how the server is', () => {
  test('an operator finds it under Access: database, nodes, workers, Redis, replicas, and what waits', async () => {
    const page = await openConsole(server, '/access');
    await page.getByRole('link', { name: 'Server' }).click();
    const parts = page.getByRole('region', { name: 'Parts' });
    await parts.getByText('1 of 1 on this machine').waitFor();
    const said = await parts.locator('dt, dd').allTextContents();
    expect(said.slice(2)).toEqual([
      'Database', 'SQLite', 'Nodes', '1', 'Workers', '1 of 1 on this machine', 'Redis', 'none', 'Replicas', 'none',
    ]); // oxfmt-ignore
    expect(said[1]).toMatch(/^\d+\.\d+\.\d+/);
    const waits = page.getByRole('region', { name: 'What waits' });
    expect(await waits.locator('dd').allTextContents()).toEqual(['0', '0', '0']);
  });

  test('replicas and busy lanes are shown by name, with how far and how much, and fit on a phone', async () => {
    const page = await openConsole(server, '/devices', { phone: true });
    await page.route('**/graphql', async (route) => {
      if (!(route.request().postData() ?? '').includes('LookAtServer')) return route.continue();
      const answer = await (await route.fetch()).json();
      answer.data.installation.replicas = [
        { name: 'db-2:5432', used: true, lagBytes: 3_145_728, lagSeconds: 0.25 },
        { name: 'db-3:5432', used: false, lagBytes: null, lagSeconds: null },
      ];
      const { lanes } = answer.data.installation;
      lanes[0].waiting = 7;
      for (const lane of lanes) lane.refused += 1_234_567;
      return route.fulfill({ json: answer });
    });
    await page.goto(`${server.url}/console/server`);
    await page.getByText('0.3 s, 3 MB behind').waitFor();
    await page.getByText('not in use', { exact: true }).waitFor();
    await page.getByRole('row', { name: /^requests 7 / }).waitFor();
    await page.getByRole('row', { name: /^endedSubscriptions / }).waitFor();
    expect(await fitsInWidth(page)).toBe(true);
  });

  test('whoever is no operator is told so, and asks for nothing', async () => {
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const { token } = await createMember(server, workspaces[0].id, 'ADMIN');
    const page = await openConsole(server, '/server', { signedIn: false });
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).first().click();
    await page.getByText('for operators of this server').waitFor();
    expect(await page.getByRole('region', { name: 'Parts' }).count()).toBe(0);
  });
});
