import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, fitsInWidth, openConsole, shoot } from '../support/browser.ts';
import { Receiver } from '../support/receiver.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createMember } from '../support/tenant.ts';

const FIELDS = [
  { identifier: 'temperature', type: 'FLOAT', unit: '°C', role: 'PRIMARY' },
  { identifier: 'door', type: 'BOOLEAN' },
  { identifier: 'place', type: 'GEOLOCATION' },
];
const HALF_HOUR = 1_800;
const DAY = 86_400;

let server: TestServer;
let receiver: Receiver;
let freezers: TestProduct;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } });
  receiver = await Receiver.start();
  freezers = await createProduct(server, {
    serialNumbers: ['f-1', 'f-2'],
    input: { name: 'Freezer', fields: FIELDS },
  });
  const now = Math.floor(Date.now() / 1_000);
  const cold = Array.from({ length: 20 * 48 }, (_, at) => ({
    field: 'temperature',
    // Too warm for two hours, five days ago.
    value: at >= 240 && at < 244 ? -9 : -18,
    timestamp: now - at * HALF_HOUR - 60,
  }));
  await server.record(freezers.deviceIds[0]!, cold);
  await server.record(freezers.deviceIds[0]!, { field: 'place', value: '(52.52,13.405)', timestamp: now - DAY });
});
afterAll(async () => {
  receiver?.stop();
  await server?.stop();
});

async function rulesOf(id: string): Promise<Record<string, any>[]> {
  const text = `query ($id: ID!) { product(id: $id) { rules {
    id name enabled forSeconds levels { severity any { field operator value absentSeconds circle { center meters } } }
  } } }`;
  return (await server.gql(text, { id }))['product'].rules;
}

/** The number of pixels of the chart that are of the colour of a warning. */
const warnPixels = (page: Page): Promise<number> =>
  page.locator('.tried-chart').evaluate((element) => {
    const canvas = element.querySelector('canvas')!;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at]! - data[at + 2]! > 100 && data[at + 3]! > 150) found += 1;
    return found;
  });

describeInBrowser('rules', () => {
  test('a rule is typed with its episodes of the last 30 days in sight, and then says in words what it watches', async () => {
    const page = await openConsole(server, `/products/${freezers.id}`);
    await page.getByRole('link', { name: 'Add rule' }).click();
    await page.getByLabel('Name').fill('Too warm');
    await page.getByText('Fill in what is watched').waitFor();
    await page.getByLabel('Value (°C)').fill('-15');
    await page.getByText('It would have fired once.').waitFor();
    await expect.poll(() => warnPixels(page)).toBeGreaterThan(50);
    await page.getByLabel('Value (°C)').fill('-5');
    await page.getByText('It would not have fired.').waitFor();
    await page.getByLabel('Value (°C)').fill('-15');
    await page.getByLabel('Told when it lasts for', { exact: true }).fill('10');
    await page.getByLabel('Until (°C)').fill('-10');
    // The server's words stand at the field that they name.
    await page.getByText('With GT -15 it must be -15 or less, not -10.').waitFor();
    expect(await page.getByLabel('Until (°C)').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Until (°C)').fill('-16');
    await page.getByRole('button', { name: 'Or says nothing' }).click();
    await page.getByText('It would have fired once.').waitFor();
    await page.getByRole('button', { name: /20\d\d/ }).click();
    await page.getByRole('button', { name: 'All 30 days' }).waitFor();
    await shoot(page, 'rule');
    await page.getByRole('button', { name: 'Make rule' }).click();
    await page.getByText('temperature above -15 °C (until -16 °C) for 10 min or nothing heard for 1 h').waitFor();
    expect(await rulesOf(freezers.id)).toMatchObject([
      {
        name: 'Too warm',
        enabled: true,
        forSeconds: 600,
        levels: [
          {
            severity: 'WARNING',
            any: [{ field: 'temperature', operator: 'GT', value: -15 }, { absentSeconds: 3_000 }],
          },
        ],
      },
    ]);
    await page.getByRole('switch', { name: 'Too warm is on' }).click();
    await page.getByText('“Too warm” is off.').waitFor();
    await page.getByRole('link', { name: 'Too warm' }).click();
    expect(await page.getByLabel('Silent for', { exact: true }).inputValue()).toBe('1');
    expect(await page.getByLabel('On', { exact: true }).isChecked()).toBe(false);
    await page.getByLabel('On', { exact: true }).check();
    await page.getByLabel('Name').fill('');
    await page.getByLabel('Name').evaluate((input) => input.removeAttribute('required'));
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Name').fill('Much too warm');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('switch', { name: 'Much too warm is on' }).waitFor();
    // The form begins with what is saved, not with what it had before.
    await page.getByRole('link', { name: 'Much too warm' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('Much too warm');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Delete Much too warm' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click();
    await page.getByText('A rule tells somebody when').waitFor();
    expect(await rulesOf(freezers.id)).toEqual([]);
  });

  test('a place is taken from where the device is, on a phone', async () => {
    const page = await openConsole(server, `/products/${freezers.id}/rules/new`, { phone: true });
    await page.getByLabel('Name').fill('Carried away');
    await page.getByLabel('Watch for').selectOption({ label: 'A place' });
    await page.getByRole('button', { name: 'Where the device is now' }).click();
    await expect.poll(() => page.getByLabel('Middle').inputValue()).toBe('(52.52,13.405)');
    await page.getByText('It would not have fired.').waitFor();
    expect(await fitsInWidth(page)).toBe(true);
    await shoot(page, 'rule-on-a-phone');
    await page.getByRole('button', { name: 'Make rule' }).click();
    await page.getByText('place outside 500 m around (52.52,13.405)').waitFor();
    const [rule] = await rulesOf(freezers.id);
    expect(rule!['levels'][0].any[0].circle).toEqual({ center: '(52.52,13.405)', meters: 500 });
  });
});

describeInBrowser('alerts', () => {
  test('what fires is in the list, in the navigation, on the product and the device at once; it is acknowledged, snoozed and over', async () => {
    const doors = await createProduct(server, {
      serialNumbers: ['d-1', 'd-2'],
      input: { name: 'Doors', fields: FIELDS },
    });
    const levels = [
      { severity: 'WARNING', all: [{ field: 'temperature', operator: 'GT', value: 5 }] },
      { severity: 'CRITICAL', all: [{ field: 'temperature', operator: 'GT', value: 20 }] },
    ];
    const { createRule } = await server.gql(
      'mutation ($id: ID!, $input: RuleInput!) { createRule(productId: $id, input: $input) { id } }',
      { id: doors.id, input: { name: 'Left open', levels } },
    );
    const [device] = doors.deviceIds;
    const page = await openConsole(server, `/products/${doors.id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('quiet', { exact: true }).waitFor();
    await server.record(device!, { field: 'temperature', value: 9 });
    await page.getByRole('link', { name: '1 device fires' }).waitFor();
    await page.getByRole('link', { name: 'Alerts 1 firing' }).waitFor();
    await page.getByRole('link', { name: '1 device fires' }).click();
    const list = page.getByRole('region', { name: 'Alerts' });
    await list.getByText('Warning').waitFor();
    // The same alert, whatever its level.
    await server.record(device!, { field: 'temperature', value: 25 });
    await list.getByText('Critical').waitFor();
    await server.record(doors.deviceIds[1]!, { field: 'temperature', value: 9 });
    await page.getByRole('link', { name: 'Alerts 2 firing' }).waitFor();
    await shoot(page, 'alerts');
    await list.getByRole('link', { name: /Critical/ }).click();
    const panel = page.getByRole('complementary', { name: 'The alert chosen' });
    await panel.getByText('temperature 25 °C').waitFor();
    await panel.getByLabel('Note').fill('Somebody is on the way');
    await panel.getByRole('button', { name: 'Acknowledge' }).click();
    await panel.getByText('Somebody is on the way').waitFor();
    await panel.getByRole('button', { name: 'Snooze' }).click();
    await panel.getByText('snoozed', { exact: true }).first().waitFor();
    await shoot(page, 'alert');
    await list.getByRole('button', { name: 'Acknowledge Left open of device d-2' }).click();
    await list.getByText('acknowledged').nth(1).waitFor();
    // What is over stays where it is until one asks anew.
    await server.record(device!, { field: 'temperature', value: 1 });
    await panel.getByText('Over', { exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'Alerts 1 firing' }).waitFor();
    await panel.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(await list.getByRole('listitem').count()).toBe(2);
    await page.getByLabel('Device', { exact: true }).fill('d-1');
    await page.getByRole('button', { name: /device d-1/ }).click();
    await list.getByText('No alert is like that.').waitFor();
    await page.getByRole('button', { name: 'Over', exact: true }).click();
    await list.getByRole('link', { name: /Critical/ }).waitFor();

    await page.goto(`${server.url}/console/devices/${doors.deviceIds[1]}`);
    await page.getByRole('link', { name: 'Left open' }).waitFor();
    await server.gql('mutation ($id: ID!) { deleteRule(id: $id) }', { id: createRule.id });
  });

  test('a VIEWER looks, and is shown no deed', async () => {
    const levels = [{ severity: 'INFO', all: [{ field: 'door', operator: 'EQ', value: true }] }];
    const input = { name: 'Open', levels };
    await server.gql('mutation ($id: ID!, $input: RuleInput!) { createRule(productId: $id, input: $input) { id } }', {
      id: freezers.id,
      input,
    });
    await server.record(freezers.deviceIds[0]!, { field: 'door', value: true });
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const { token } = await createMember(server, workspaces[0].id, 'VIEWER');
    const page = await openConsole(server, '/alerts', { signedIn: false });
    await page.getByRole('button', { name: 'Token' }).click();
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('region', { name: 'Alerts' }).getByRole('link', { name: /Open/ }).click();
    await page.getByRole('complementary').getByText('by a value').waitFor();
    expect(await page.getByRole('button', { name: /Acknowledge|Snooze/ }).count()).toBe(0);
    await page.getByRole('complementary').getByRole('link', { name: 'Open' }).click();
    await page.getByText(/It would have fired/).waitFor();
    expect(await page.getByLabel('Name').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Freezer' }).click();
    await page.getByRole('heading', { name: 'Rules' }).waitFor();
    expect(await page.getByRole('link', { name: 'Add rule' }).count()).toBe(0);
    expect(await page.getByRole('switch', { name: 'Open is on' }).isDisabled()).toBe(true);

    await server.gql('mutation ($input: EndpointInput!) { createEndpoint(input: $input) { secret } }', {
      input: { name: 'Seen', kind: 'WEBHOOK', url: `${receiver.url}secret-path`, events: [] },
    });
    await page.getByRole('link', { name: /^Alerts/ }).click();
    await page.getByRole('link', { name: 'Endpoints' }).click();
    await page.getByRole('link', { name: 'Seen' }).waitFor();
    expect(await page.content()).not.toContain('secret-path');
    expect(await page.getByRole('button', { name: 'New endpoint' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Seen' }).click();
    await page.getByText('Nothing has been sent yet.').waitFor();
    expect(await page.getByRole('button', { name: /Send|More/ }).count()).toBe(0);
  });
});

describeInBrowser('endpoints', () => {
  test('an endpoint is made, its secret shown once; a sample is sent, and what failed is counted and sent again', async () => {
    const page = await openConsole(server, '/endpoints');
    await page.getByRole('button', { name: 'New endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Hook');
    await dialog.getByLabel('URL').fill('ftp://example.org');
    await dialog.getByRole('button', { name: 'Make endpoint' }).click();
    await expect.poll(() => dialog.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('URL').fill(receiver.url);
    await shoot(page, 'new-endpoint');
    await dialog.getByRole('button', { name: 'Make endpoint' }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    const secret = (await dialog.locator('pre').textContent())!;
    await dialog.getByRole('button', { name: 'I have it' }).click();

    // A rule names it, and says how often.
    await page.goto(`${server.url}/console/products/${freezers.id}/rules/new`);
    await page.getByLabel('Name').fill('For the hook');
    await page.getByLabel('Value (°C)').fill('30');
    await page.getByLabel('Hook', { exact: true }).check();
    await page.getByLabel('Remind every (left out: never)', { exact: true }).fill('2');
    await page.getByLabel('Reminders at most').fill('5000');
    await page.getByRole('button', { name: 'Make rule' }).click();
    await expect.poll(() => page.getByLabel('Reminders at most').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Reminders at most').fill('3');
    await page.getByLabel('Many devices at one moment are one message').check();
    await page.getByRole('button', { name: 'Make rule' }).click();
    await page.getByRole('link', { name: 'For the hook' }).click();
    expect(await page.getByLabel('Hook', { exact: true }).isChecked()).toBe(true);
    expect(await page.getByLabel('Reminders at most').inputValue()).toBe('3');
    const { product } = await server.gql(
      'query ($id: ID!) { product(id: $id) { rules { id name notify { endpoints { name } groupBy remindEverySeconds maxReminders } } } }',
      { id: freezers.id },
    );
    expect(product.rules).toContainEqual({
      id: expect.any(String),
      name: 'For the hook',
      notify: { endpoints: [{ name: 'Hook' }], groupBy: 'PRODUCT', remindEverySeconds: 7_200, maxReminders: 3 },
    });

    await page.goto(`${server.url}/console/endpoints`);
    await page.getByRole('link', { name: 'Hook' }).click();
    const list = page.getByRole('region', { name: 'Deliveries' });
    await list.getByText('Nothing has been sent yet.').waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: 'Send a sample' }).click();
    await list.getByText('Delivered', { exact: true }).nth(1).waitFor();
    expect(receiver.bodies.at(-1)).toMatchObject({ type: 'alert.fired' });

    receiver.answer = (response) => response.writeHead(503).end('closed on Sundays');
    await page.getByRole('button', { name: 'Send a sample' }).click();
    await list.getByRole('listitem').getByText('Given up').click();
    await list.getByText('closed on Sundays').waitFor();
    await shoot(page, 'endpoint');
    receiver.answer = (response) => response.writeHead(204).end();
    await page.getByRole('button', { name: 'Send again…' }).click();
    await dialog.getByRole('button', { name: 'Count them' }).click();
    await dialog.getByText('1 delivery would be sent again.').waitFor();
    expect(receiver.received).toHaveLength(2);
    await dialog.getByRole('button', { name: 'Send 1 again' }).click();
    // Live: nobody has to ask.
    await list.getByRole('listitem').getByText('Delivered').nth(1).waitFor();
    expect(receiver.received).toHaveLength(3);

    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Another secret' }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    expect(await dialog.locator('pre').textContent()).not.toBe(secret);
    await dialog.getByRole('button', { name: 'I have it' }).click();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('On', { exact: true }).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Off', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    // A rule names it.
    await dialog.getByRole('button', { name: 'Delete endpoint' }).click();
    await dialog.getByRole('alert').getByText('For the hook').waitFor();
    const named = product.rules.find(({ name }: { name: string }) => name === 'For the hook').id;
    await server.gql('mutation ($id: ID!) { deleteRule(id: $id) }', { id: named });
    await dialog.getByRole('button', { name: 'Delete endpoint' }).click();
    await page.getByRole('button', { name: 'New endpoint' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Hook' }).count()).toBe(0);
  });
});
