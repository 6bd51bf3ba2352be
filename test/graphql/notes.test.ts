import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executeSql } from '../support/execute-sql.ts';
import {
  createDatabase,
  createProduct,
  DATABASES,
  startServer,
  type TestDatabase,
  type TestServer,
} from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const NOTES = 'query ($id: ID!, $from: DateTime, $to: DateTime, $first: Int) { device(id: $id) { notes(from: $from, to: $to, first: $first) { id at kind text author } } }'; // oxfmt-ignore
const ADD = 'mutation ($d: ID!, $text: String!, $at: DateTime) { addNote(deviceId: $d, text: $text, at: $at) { id at kind } }'; // oxfmt-ignore

describe.each(DATABASES)('notes of devices on %s', (database) => {
  let server: TestServer;
  let place: TestDatabase;
  let workspaceId: string;
  let token: string;
  let email: string;
  let product: { id: string; deviceIds: string[] };

  beforeAll(async () => {
    place = await createDatabase(database);
    server = await startServer({ database: place, compared: true });
    workspaceId = await createWorkspace(server, 'notes');
    ({ token, email } = await createMember(server, workspaceId, 'EDITOR'));
    product = await createProduct(server, { token, serialNumbers: ['one', 'two', 'three', 'four'] });
  });

  afterAll(async () => {
    await server?.stop();
    await place?.drop();
  });

  async function notesOf(id: string, range: Record<string, unknown> = {}): Promise<Record<string, any>[]> {
    return (await server.gql(NOTES, { id, ...range }, token))['device'].notes;
  }

  test('a note is written about a time, read by range, changed and removed', async () => {
    const [d = ''] = product.deviceIds;
    const add = async (text: string, at?: string) => (await server.gql(ADD, { d, text, at }, token))['addNote'];
    const early = await add('Sensor cleaned.\nTwice.', '2026-01-02T00:00:00Z');
    await add('Battery changed', '2026-01-03T00:00:00Z');
    const present = await add('Now');
    expect(Date.now() - Date.parse(present.at)).toBeLessThan(60_000);
    expect((await notesOf(d)).map(({ text }) => text)).toEqual(['Now', 'Battery changed', 'Sensor cleaned.\nTwice.']);
    expect(await notesOf(d, { from: '2026-01-02T00:00:00Z', to: '2026-01-03T00:00:00Z' })).toEqual([
      { id: early.id, at: '2026-01-02T00:00:00.000Z', kind: 'WRITTEN', text: 'Sensor cleaned.\nTwice.', author: email },
    ]);
    expect(await notesOf(d, { first: 1 })).toHaveLength(1);
    const update = 'mutation ($id: ID!) { updateNote(id: $id, text: "Moved", at: "2026-01-04T00:00:00Z") { at text } }';
    expect((await server.gql(update, { id: early.id }, token))['updateNote']).toEqual({ at: '2026-01-04T00:00:00.000Z', text: 'Moved' }); // oxfmt-ignore
    const remove = 'mutation ($id: ID!) { removeNote(id: $id) }';
    expect((await server.gql(remove, { id: early.id }, token))['removeNote']).toBe(early.id);
    expect((await notesOf(d)).map(({ text }) => text)).toEqual(['Now', 'Battery changed']);
    const { errors } = await server.query(remove, { id: early.id }, token);
    expect(errors?.[0]?.extensions.code).toBe('NOT_FOUND');
    const long = await server.query(ADD, { d, text: 'x'.repeat(2_001) }, token);
    expect(long.errors?.[0]?.message).toMatch(/^text: 2001 characters, at most 2000/);
  });

  test('the server notes another sensor, another product, another plan and a changed configuration', async () => {
    const [, id = '', absorb = ''] = product.deviceIds;
    const field = 'mutation ($p: ID!) { addConfigurationField(productId: $p, input: { identifier: "DEPTH", type: NUMBER }) { id } }'; // oxfmt-ignore
    await server.gql(field, { p: product.id }, token);
    const set = 'mutation ($id: ID!, $values: JSON!) { setConfiguration(deviceId: $id, values: $values) { id } }';
    await server.gql(set, { id, values: { DEPTH: 10 } }, token);
    await server.gql(set, { id, values: { DEPTH: 10 } }, token);
    await server.gql(set, { id, values: { DEPTH: null } }, token);
    await server.gql(ADD, { d: absorb, text: 'From the other one', at: '2026-01-01T00:00:00Z' }, token);
    const replace = 'mutation ($id: ID!, $absorb: ID) { replaceDevice(id: $id, serialNumber: "three", absorb: $absorb) { id } }'; // oxfmt-ignore
    await server.gql(replace, { id, absorb }, token);
    const update = 'mutation ($id: ID!, $input: UpdateDeviceInput!) { updateDevice(id: $id, input: $input, confirm: true) { id } }'; // oxfmt-ignore
    await server.gql(update, { id, input: { serialNumber: 'five', plan: 'standard', name: 'renamed' } }, token);
    const other = await createProduct(server, { token, serialNumbers: [], input: { name: 'other' } });
    await server.gql(update, { id, input: { productId: other.id } }, token);
    await server.gql(update, { id, input: { name: 'again' } }, token);
    expect((await notesOf(id)).map(({ kind, text, author }) => [kind, text, author])).toEqual([
      ['MOVED', 'Moved from the product "product" to "other".', email],
      ['CHANGED', 'Serial number three → five. Plan unlimited → standard.', email],
      ['REPLACED', 'Sensor replaced: serial number two → three. It goes on with what "device three" had recorded.', email], // oxfmt-ignore
      ['CONFIGURED', 'Configuration: DEPTH 10 → default.', email],
      ['CONFIGURED', 'Configuration: DEPTH default → 10.', email],
      ['WRITTEN', 'From the other one', email],
    ]);
  });

  test('nobody else sees or changes them, and they go with the device', async () => {
    const d = product.deviceIds[3] ?? '';
    const { id } = (await server.gql(ADD, { d, text: 'secret' }, token))['addNote'];
    const other = await createMember(server, await createWorkspace(server, 'others'), 'ADMIN');
    for (const query of [
      'mutation ($id: ID!) { removeNote(id: $id) }',
      'mutation ($id: ID!) { updateNote(id: $id, text: "x") { id } }',
    ])
      // oxfmt-ignore
      expect((await server.query(query, { id }, other.token)).errors?.[0]?.extensions.code).toBe('NOT_FOUND');
    const admin = await createMember(server, workspaceId, 'ADMIN');
    const limited = await createToken(server, admin.token, workspaceId, ['READ'], { fields: ['temperature'], productIds: [product.id] }); // oxfmt-ignore
    expect((await server.query(NOTES, { id: d }, limited.secret)).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    await server.gql('mutation ($id: ID!) { deleteDevices(ids: [$id]) }', { id: d }, token);
    expect((await server.query('mutation ($id: ID!) { removeNote(id: $id) }', { id }, token)).errors?.[0]?.extensions.code).toBe('NOT_FOUND'); // oxfmt-ignore
  });

  test('beyond a thousand the oldest go', async () => {
    const { deviceIds } = await createProduct(server, { token, serialNumbers: ['many'] });
    const base = Date.UTC(2026, 0, 1);
    const timeOf = (at: number): string => new Date(base + at).toISOString();
    const [d = ''] = deviceIds;
    await executeSql(
      place.url,
      `with recursive more(n) as (select 0 union all select n + 1 from more where n < 999)
         insert into device_note (id, device_key, at, kind, text, created_at)
         select 'note ' || n, device."key", ${base} + n, 'WRITTEN', 'x', ${base} from more, device where device.id = '${d}'`,
    );
    const before = await notesOf(d, { to: timeOf(2) });
    expect(before.map(({ at }) => at)).toEqual([1, 0].map(timeOf));
    const adds = Array.from({ length: 20 }, (_, i) => `n${i}: addNote(deviceId: $d, text: "x", at: "${timeOf(1_000 + i)}") { id }`); // oxfmt-ignore
    await server.gql(`mutation ($d: ID!) { ${adds.join(' ')} }`, { d }, token);
    const early = await notesOf(d, { to: timeOf(25) });
    expect(early.map(({ at }) => at)).toEqual([24, 23, 22, 21, 20].map(timeOf));
    const { updateDevices } = await server.gql(
      'mutation ($d: [ID!]) { updateDevices(ids: $d, input: { plan: "free" }, confirm: true) { changed } }',
      { d: deviceIds },
      token,
    );
    expect(updateDevices).toEqual({ changed: 1 });
    expect((await notesOf(d, { to: timeOf(25) })).map(({ at }) => at)).toEqual([24, 23, 22, 21].map(timeOf));
  });
});
