import { EntityFactory } from '@mikro-orm/core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { MemberSchema } from '../../src/domain/entities/member.ts';
import { UserSchema } from '../../src/domain/entities/user.ts';
import { uuidV7 } from '../../src/domain/text/uuid.ts';
import { CREATE, count, create, named, newProduct } from '../support/many-devices.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { openGraphql } from '../support/open-graphql.ts';
import { DATABASES, startServer, type TestServer } from '../support/server.ts';

describe.each(DATABASES)('operations on thousands of devices on %s', (name) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ database: name });
  });
  afterAll(async () => {
    await server?.stop();
  });

  test('is dear: five times 10,000 do not go into one operation', async () => {
    const five = (field: string): string => Array.from({ length: 5 }, (_, at) => `a${at}: ${field}`).join(' ');
    const ids = named(10_000).map(({ serialNumber }) => serialNumber);
    const creating = `mutation ($p: ID!, $devices: [DeviceInput!]!) { ${five('createDevices(productId: $p, devices: $devices) { id }')} }`;
    const deleting = `mutation ($ids: [ID!]!) { ${five('deleteDevices(ids: $ids)')} }`;
    const answers = [
      await server.query(creating, { p: await newProduct(server), devices: named(10_000) }),
      await server.query(deleting, { ids }),
    ];
    for (const { errors } of answers) expect(errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX');
  });

  test('is all or nothing', async () => {
    const productId = await newProduct(server);
    const [, taken] = await create(server, productId, named(2, 'x'));
    const devices = [...named(3_000), { name: 'late', serialNumber: 'x-1' }];
    const [error] = (await server.query(CREATE, { p: productId, devices })).errors ?? [];
    expect(error).toMatchObject({ extensions: { code: 'CONFLICT' } });
    expect(error?.message).toContain('devices[3000]');
    expect(await count(server, productId)).toBe(2);
    const gone = await server.query('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', {
      ids: [taken, '01900000-0000-7000-8000-000000000000'],
    });
    expect(gone.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
    expect(await count(server, productId)).toBe(2);
  });

  test('of several that delete the same ones, in whichever order, one does and the others are told', async () => {
    const productId = await newProduct(server);
    const ids = await create(server, productId, named(1_000, 'same'));
    const deletions = [ids, ids.toReversed(), ids, ids.toReversed()].map((some) =>
      server.query('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: some }),
    );
    const codes = (await Promise.all(deletions)).map(({ errors }) => errors?.[0]?.extensions.code ?? 'DONE');
    expect(codes.toSorted()).toEqual(['DONE', 'NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND']);
    expect(await count(server, productId)).toBe(0);
  });

  test('keeps every character of what it was given', async () => {
    const productId = await newProduct(server);
    const device = {
      name: `O'Neil "x" \\ ? ?? $1 :a /* ü 🙂 \u0001`,
      serialNumber: `'; drop -- \\' ?`,
      tags: [`it's`, 'b"\\'],
      location: `line\n'two' \\n`,
      metadata: { "it's": ['\\', '?', null, 1.5, { '"': true }] },
    };
    const [id] = await create(server, productId, [device, { name: 'bare', serialNumber: 'bare' }]);
    const ask = 'query ($id: ID!) { device(id: $id) { name serialNumber tags location metadata } }';
    expect((await server.gql(ask, { id }))['device']).toEqual(device);
    const { devices } = await server.gql(
      'query ($p: ID!) { devices(productId: $p, search: "bare") { edges { node { tags location metadata } } } }',
      { p: productId },
    );
    expect(devices.edges).toEqual([{ node: { tags: [], location: null, metadata: null } }]);
  });
});

// The same code on both databases.
describe('of thousands', () => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain('sqlite');
  });
  afterAll(() => domain.close());
  afterEach(() => void vi.restoreAllMocks());

  test('the members of a workspace are read without an entity for each', async () => {
    const { access, database, workspaces } = domain;
    const { id: workspace } = await workspaces.create(access, 'many members');
    const users = Array.from({ length: 400 }, (_, at) => ({
      id: uuidV7(),
      email: `${at}@x.org`,
      operator: false,
      createdAt: 0,
    }));
    await database.write(async (em) => {
      await em.insertMany(UserSchema, users as never);
      await em.insertMany(MemberSchema, users.map(({ id }) => ({ workspace, user: id, role: 'VIEWER' })) as never);
    });
    const made = vi.spyOn(EntityFactory.prototype, 'create');
    expect((await workspaces.members(access, workspace)).length).toBeGreaterThanOrEqual(400);
    expect(made.mock.calls.length).toBeLessThan(40);
  });

  test('a file of what devices have that nobody asked for lately takes few look-ups', async () => {
    const { access, exporter, database } = domain;
    const { ask } = openGraphql(domain);
    const [w] = domain.access.workspaceIds() as [string];
    const product = await ask('mutation ($w: ID) { createProduct(input: { name: "p", workspaceId: $w }) { id } }', {
      w,
    });
    const { id: productId } = product.createProduct;
    await ask(CREATE, { p: productId, devices: named(5_000) });
    const choice = { productId, workspaceId: null, tags: [], search: null, online: null, ids: null };
    const file = { format: 'csv', layout: 'long', fields: null, from: 0, to: domain.clock.now } as const;
    const reads = vi.spyOn(database, 'read');
    const { bytes } = await exporter.ofMany(access, choice, { ...file, chart: null, spreadsheet: false });
    let text = '';
    for await (const piece of bytes) text += Buffer.from(piece).toString();
    expect(text).toBe('device,field,timestamp,value\n');
    // One by one 5,000.
    expect(reads.mock.calls.length).toBeLessThan(500);
  });

  test('variables in which nothing is right are told so at the first mistakes', async () => {
    const { ask } = openGraphql(domain);
    const query = 'mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }';
    const mistakes = vi.spyOn(Error, 'captureStackTrace');
    for (const ids of [Array.from({ length: 10_000 }, () => null), Array.from({ length: 10_000 }, () => ({}))]) {
      mistakes.mockClear();
      await expect(ask(query, { ids })).rejects.toThrow();
      // One is made of each that is told.
      expect(mistakes.mock.calls.length).toBeGreaterThan(0);
      expect(mistakes.mock.calls.length).toBeLessThan(1_000);
    }
  });
});
