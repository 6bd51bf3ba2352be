import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { uuidV7 } from '../../src/domain/text/uuid.ts';
import { countTurns } from '../support/loop-turns.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { piecesOf } from '../support/pieces.ts';
import { DATABASES } from '../support/server.ts';

describe.each(DATABASES)('what holds much is deleted with turns for others in between, on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
    // The first deletions compile what they run.
    const { id } = await domain.workspaces.create(domain.access, 'first');
    await domain.products.create(domain.access, { name: 'p', workspaceId: id });
    await domain.workspaceRemoval.delete(domain.access, id);
  });
  afterAll(() => domain.close());

  /** A row for each of the values, which is `value` in what is selected. */
  async function insert(into: string, select: string, values: unknown[], ...bound: string[]): Promise<void> {
    const from = name === 'sqlite' ? 'json_each(?)' : 'json_array_elements_text(?::json) as rows (value)';
    const sql = `insert into ${into} select ${select} from ${from}`;
    await domain.database.write((em) => em.execute(sql, [...bound, JSON.stringify(values)], 'run'));
  }

  async function count(table: string, column: string, value: unknown): Promise<number> {
    const sql = `select count(*) as rows from ${table} where ${column} = ?`;
    const [row] = await domain.database.read().execute<{ rows: number }[]>(sql, [value]);
    return Number(row!.rows);
  }

  /** In how many turns of the event loop the work begins to write, and how many pieces it makes up. */
  async function slicesOf(work: () => Promise<unknown>): Promise<[slices: number, pieces: number]> {
    const loop = countTurns();
    const turns = new Set<number>();
    const write = domain.database.write.bind(domain.database);
    const writing = vi.spyOn(domain.database, 'write').mockImplementation((unit, party) => {
      turns.add(loop.turns);
      return write(unit, party);
    });
    const pieces = await piecesOf(work).finally(() => {
      loop.stop();
      writing.mockRestore();
    });
    return [turns.size, pieces];
  }

  function ids(length: number): string[] {
    return Array.from({ length }, () => uuidV7());
  }

  test('a product with 600 versions of its decoder', async () => {
    const { access, products, workspaces } = domain;
    const { id: workspaceId } = await workspaces.create(access, 'w');
    const { id, key } = await products.create(access, { name: 'p', workspaceId });
    const source = 'x'.repeat(100_000);
    const versions = Array.from({ length: 600 }, (_, at) => at + 1);
    const into = 'decoder_version (product_key, version, created_at, source)';
    await insert(into, `${key}, cast(value as integer), 1, ?`, versions, source);
    const [slices, pieces] = await slicesOf(() => products.delete(access, id));
    expect(slices).toBeGreaterThanOrEqual(10);
    expect(pieces).toBeGreaterThanOrEqual(3);
    expect(await count('decoder_version', 'product_key', key)).toBe(0);
  });

  test('500 devices with long metadata and configurations', async () => {
    const { access, products, workspaces, devices } = domain;
    const { id: workspaceId } = await workspaces.create(access, 'w');
    const product = await products.create(access, { name: 'p', workspaceId });
    const rows = Array.from({ length: 500 }, () => ({ name: 'd' }));
    const deviceIds = (await devices.create(access, product.id, rows, 'unlimited')).map(({ id }) => id);
    const text = JSON.stringify({ a: 'x'.repeat(65_000) });
    await domain.database.write((em) =>
      em.execute('update device set metadata = ?, configuration = ? where product_key = ?', [text, text, product.key]),
    );
    expect(await piecesOf(() => devices.delete(access, deviceIds))).toBeGreaterThanOrEqual(2);
    expect(await count('device', 'product_key', product.key)).toBe(0);
  });

  test('unknown devices that were last heard of long ago, with their calls', async () => {
    const { access, workspaces, unknownDevices } = domain;
    const { id } = await workspaces.create(access, 'w');
    const [old, recent] = ids(2) as [string, string];
    await insertUnknown(id, old, 1, 500);
    await insertUnknown(id, recent, 1_000, 1);
    const [slices] = await slicesOf(() => unknownDevices.forgetBefore(1_000));
    expect(slices).toBeGreaterThanOrEqual(5);
    expect(await count('unknown_device', 'workspace_id', id)).toBe(1);
    expect(await count('unknown_call', 'unknown_device_id', old)).toBe(0);
    expect(await count('unknown_call', 'unknown_device_id', recent)).toBe(1);
  });

  test('a workspace with tokens of many limits, calls of unknown devices and a long log, by one of its tokens', async () => {
    const { access, workspaces, tokens, authenticator, workspaceRemoval } = domain;
    const { id } = await workspaces.create(access, 'w');
    const scopes = ['READ', 'CONFIGURE', 'ADMIN'] as const;
    const made = await tokens.create(access, { name: 't', kind: 'INDIVIDUAL', workspaceId: id, scopes: [...scopes] });
    const caller: Access = (await authenticator.authenticate(made.secret))!;
    const other = await tokens.create(access, { name: 'o', kind: 'INDIVIDUAL', workspaceId: id, scopes: ['READ'] });
    expect(await authenticator.authenticate(other.secret)).not.toBeNull();
    const limits = JSON.stringify(ids(1_000));
    await insertTokens(id, 300, limits);
    const device = uuidV7();
    await insertUnknown(id, device, 1, 500);
    const log = 'audit_entry (id, workspace_id, at, operation, token_id, subjects, arguments)';
    await insert(log, `value, '${id}', 1, 'updateDevice', 't', '[]', ?`, ids(2_500), 'x'.repeat(3_000));
    const [slices, pieces] = await slicesOf(() => workspaceRemoval.delete(caller, id));
    // A hundred tokens and calls, and 500 entries.
    expect(slices).toBeGreaterThanOrEqual(3 + 5 + 5);
    expect(pieces).toBeGreaterThanOrEqual(5);
    for (const table of ['token', 'unknown_device', 'audit_entry'])
      expect(await count(table, 'workspace_id', id)).toBe(0);
    expect(await count('unknown_call', 'unknown_device_id', device)).toBe(0);
    for (const { secret } of [made, other]) expect(await authenticator.authenticate(secret)).toBeNull();
  });

  test('of a workspace no more than its caller may', async () => {
    const { access, workspaces, tokens, authenticator, cluster, workspaceRemoval } = domain;
    const { id } = await workspaces.create(access, 'w');
    const scopes = ['READ', 'CONFIGURE', 'ADMIN'] as const;
    const made = await tokens.create(access, { name: 't', kind: 'INDIVIDUAL', workspaceId: id, scopes: [...scopes] });
    const caller = (await authenticator.authenticate(made.secret))!;
    await insertTokens(id, 450, '[]');
    const revoking: Promise<unknown>[] = [];
    cluster.onChanged((changes) => {
      const isSlice = changes.length > 1 && changes[0]!.kind === 'token';
      if (isSlice && revoking.length === 0) revoking.push(tokens.revoke(access, made.token.id));
    });
    await expect(workspaceRemoval.delete(caller, id)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await Promise.all(revoking);
    expect(await count('token', 'workspace_id', id)).toBeGreaterThan(100);
  });

  /** A device that was last heard of at that time, with so many long calls. */
  async function insertUnknown(workspaceId: string, device: string, lastSeenAt: number, calls: number): Promise<void> {
    const into = 'unknown_device (id, workspace_id, identifier, identity, network, first_seen_at, last_seen_at, seen)';
    await insert(into, `value, '${workspaceId}', value, value, 'TTN', 1, ${lastSeenAt}, 1`, [device]);
    const ofCalls = 'unknown_call (id, unknown_device_id, received_at, path, query, headers, body)';
    await insert(ofCalls, `value, '${device}', 1, '', '', '{}', ?`, ids(calls), 'x'.repeat(65_536));
  }

  async function insertTokens(workspaceId: string, length: number, limits: string): Promise<void> {
    const columns = 'id, name, kind, workspace_id, scopes, product_ids, device_ids, hash, created_at, signed_in';
    const [json, no] = name === 'sqlite' ? ['?', 0] : ['?::jsonb', false];
    const select = `value, 't', 'INDIVIDUAL', '${workspaceId}', '["READ"]', ${json}, ${json}, value, 1, ${no}`;
    await insert(`token (${columns})`, select, ids(length), limits, limits);
  }
});
