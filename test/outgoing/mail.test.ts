import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailOf } from '../../src/domain/outgoing/mail-text.ts';
import { NetTransmitter } from '../../src/transmission/net-transmitter.ts';
import { MailServer } from '../support/mail-server.ts';
import { createWorkspaceWithRule } from '../support/alerting.ts';
import { startServer, type TestServer } from '../support/server.ts';

let mails: MailServer;
let server: TestServer;

beforeAll(async () => {
  mails = await MailServer.start();
  const env = { SMTP_URL: mails.url, SMTP_FROM: 'Inlet <inlet@example.org>' };
  server = await startServer({ database: 'sqlite', env });
});
afterAll(async () => {
  await server?.stop();
  mails?.stop();
});

/** The headers of a mail, unfolded, and its text. */
function read(raw: string): { headers: string[]; text: string } {
  const [head, ...rest] = raw.split('\r\n\r\n') as [string, ...string[]];
  return { headers: head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n'), text: rest.join('\r\n\r\n') };
}

test('an alert comes as one short mail, and its subject says device, rule and state', async () => {
  const { workspaceId, deviceId } = await createWorkspaceWithRule(server);
  await server.gql(
    `mutation ($w: ID) {
       createEndpoint(workspaceId: $w, input: {
         name: "ops", kind: EMAIL, addresses: ["Ada@example.org", "bob@example.org"], events: ["alert.fired", "alert.resolved"]
       }) { secret endpoint { url addresses } }
     }`,
    { w: workspaceId },
  );
  await server.record(deviceId, { field: 'temperature', value: 31 });
  await expect.poll(() => mails.mails.length).toBe(1);
  await server.record(deviceId, { field: 'temperature', value: 20 });
  await expect.poll(() => mails.mails.length).toBe(2);
  const [fired, over] = mails.mails.map(({ raw }) => read(raw)) as [ReturnType<typeof read>, ReturnType<typeof read>];
  expect(mails.mails[0]).toMatchObject({ from: 'inlet@example.org', to: ['ada@example.org', 'bob@example.org'] });
  expect(fired.headers).toContain('Subject: Freezer: Too warm fires (WARNING)');
  expect(over.headers).toContain('Subject: Freezer: Too warm is over (WARNING)');
  expect(fired.headers.join('\n')).toMatch(/^Message-ID: <msg_[\w-]+@example.org>$/m);
  expect(fired.headers.join('\n')).toMatch(/^Content-Type: text\/plain/m);
  expect(fired.text).toContain('Values: temperature 31');
  expect(fired.text.length).toBeLessThan(1_000);
});

test('names cannot add headers, addresses or lines', async () => {
  const name = 'x\r\nBcc: eve@example.org\r\n\r\nhello\u0000\u2028<script>';
  const device = { id: '1', name, serialNumber: name, tags: [] };
  const body = JSON.stringify({
    type: 'device.offline',
    timestamp: 'now',
    data: { device, product: { name }, lastHeardAt: null },
  });
  const { subject, text } = mailOf(body);
  expect(subject).toBe('x Bcc: eve@example.org hello <script>: silent');
  expect(text.split('\n')).toHaveLength(5);
  const post = new NetTransmitter({
    allowPrivateNetworks: false,
    allowedHosts: new Set(),
    mail: { url: mails.url, from: 'inlet@example.org' },
  });
  const before = mails.mails.length;
  // Also with a subject that was not cleaned.
  await post.mail({ to: ['ada@example.org'], subject: name, text: name, messageId: 'msg_1' });
  const [{ to, raw }] = mails.mails.slice(before) as [MailServer['mails'][number]];
  expect(to).toEqual(['ada@example.org']);
  expect(read(raw).headers.some((header) => header.startsWith('Bcc'))).toBe(false);
  post.stop();
});

test('what the mail server refuses is told', async () => {
  const settings = { allowPrivateNetworks: false, allowedHosts: new Set<string>() };
  const mail = { subject: 'x', text: 'x', messageId: 'msg_2' };
  const post = new NetTransmitter({ ...settings, mail: { url: mails.url, from: 'inlet@example.org' } });
  mails.refused = 'gone@example.org';
  expect(await post.mail({ ...mail, to: ['gone@example.org'] })).toMatchObject({
    isDone: false,
    error: expect.stringContaining('no such mailbox'),
  });
  expect(await post.mail({ ...mail, to: ['ada@example.org', 'gone@example.org'] })).toMatchObject({
    isDone: true,
    error: 'Refused: gone@example.org',
    answer: expect.stringContaining('250'),
  });
  post.stop();
  const wrong = new NetTransmitter({
    ...settings,
    mail: { url: mails.url.replace('secret', 'wrong'), from: 'inlet@example.org' },
  });
  expect(await wrong.mail({ ...mail, to: ['ada@example.org'] })).toMatchObject({
    isDone: false,
    error: expect.stringContaining('Invalid login'),
  });
  wrong.stop();
});
