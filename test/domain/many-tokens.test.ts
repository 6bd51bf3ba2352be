import { EntityManager } from '@mikro-orm/core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MemberSchema } from '../../src/domain/entities/member.ts';
import { TokenSchema } from '../../src/domain/entities/token.ts';
import { hashSecret } from '../../src/domain/accounts/authenticator.ts';
import { personalScopes } from '../../src/domain/accounts/personal-scopes.ts';
import { readTokenLimits } from '../../src/domain/accounts/token-limits.ts';
import { uuidV7 } from '../../src/domain/text/uuid.ts';
import { countTurns } from '../support/loop-turns.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

describe.each(DATABASES)('many tokens, on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  /** Rows as createToken and signIn make them. */
  async function insert(count: number, whose: { user: string; signedIn: boolean } | { workspace: string }) {
    const kind = 'user' in whose ? 'PERSONAL' : 'INDIVIDUAL';
    const rows = Array.from({ length: count }, (_, at) => ({
      id: uuidV7(),
      name: `t${at}`,
      kind,
      scopes: kind === 'PERSONAL' ? [] : ['READ'],
      signedIn: false,
      hash: uuidV7(),
      createdAt: domain.clock.now,
      ...whose,
    }));
    await domain.database.write((em) => em.insertMany(TokenSchema, rows as never));
    return rows.map(({ id }) => id);
  }

  test('a workspace has at most 2,000, and is shown all of them in their order', async () => {
    const { access, tokens } = domain;
    const { id } = await domain.workspaces.create(access, 'w');
    const inserted = await insert(1_999, { workspace: id });
    const input = { name: 'last', kind: 'INDIVIDUAL', workspaceId: id, scopes: ['READ'] } as const;
    const { token } = await tokens.create(access, { ...input, scopes: ['READ'] });
    await expect(tokens.create(access, { ...input, scopes: ['READ'] })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: 'A workspace has at most 2000 tokens; revoke one first.',
    });
    const listed = await tokens.ofWorkspace(access, id);
    expect(listed.map((row) => row.id)).toEqual([...inserted, token.id]);
    await tokens.revoke(access, token.id);
    await tokens.create(access, { ...input, scopes: ['READ'] });
  });

  test('that were all used are written down a hundred at a time, each with its time', async () => {
    const { access, authenticator, database, clock, cluster } = domain;
    const { id: workspace } = await domain.workspaces.create(access, 'used');
    const secrets = Array.from({ length: 1_000 }, (_, at) => `used ${at}`);
    const ids = await insert(secrets.length, { workspace });
    await database.write(async (em) => {
      for (const [at, secret] of secrets.entries())
        await em.nativeUpdate(TokenSchema, { id: ids[at]! }, { hash: hashSecret(secret) });
    });
    await authenticator.flush();
    const turns = countTurns();
    const begun: number[] = [];
    const write = database.write.bind(database);
    const writing = vi.spyOn(database, 'write').mockImplementation((work, party) => {
      begun.push(turns.turns);
      return write(work, party);
    });
    const from = clock.now;
    let looks = 0;
    for (const secret of secrets) {
      clock.now += 1;
      const known = await authenticator.authenticate(secret);
      const { tokenId } = known!;
      Object.defineProperty(known, 'tokenId', { get: () => ((looks += 1), tokenId) });
    }
    await cluster.changed([{ kind: 'token', id: ids[7]! }]);
    // Not each of them, whichever has changed.
    expect(looks).toBe(0);
    expect(secrets.findIndex((secret) => authenticator.cached(secret) === null)).toBe(7);
    // As by the timer, just before.
    void authenticator.flush();
    await authenticator.flush();
    turns.stop();
    writing.mockRestore();
    // Perhaps one more, where the timer came in between.
    expect(begun.length).toBeGreaterThanOrEqual(10);
    expect(new Set(begun).size).toBe(begun.length);
    const rows = await database.read().find(TokenSchema, { id: { $in: ids } }, { orderBy: { id: 'asc' } });
    expect(rows.map(({ lastUsedAt }) => lastUsedAt)).toEqual(ids.map((_, at) => from + at + 1));
  });

  test('are listed without what they are limited to, of which 2,000 tokens with 2,000 ids took 250 MB', async () => {
    const { access, tokens, products, database } = domain;
    const { id: workspaceId } = await domain.workspaces.create(access, 'limited');
    const { id } = await products.create(access, { name: 'p', workspaceId });
    const input = { name: 't', kind: 'INDIVIDUAL', workspaceId, productIds: [id] } as const;
    const { token } = await tokens.create(access, { ...input, scopes: ['READ'], productIds: [id] });
    const [listed] = await tokens.ofWorkspace(access, workspaceId);
    expect(listed).toMatchObject({ id: token.id, name: 't', scopes: ['READ'] });
    expect(listed!.productIds).toBeUndefined();
    expect(listed!.deviceIds).toBeUndefined();
    const limits = await readTokenLimits(database, [token.id, uuidV7()]);
    expect([...limits]).toEqual([[token.id, { productIds: [id], deviceIds: null, fields: null }]]);
  });

  test('a user has at most 500 and may still sign in; the newest 500 are shown, with scopes found at once', async () => {
    const { access, tokens } = domain;
    const user = access.userId!;
    await insert(30, { user, signedIn: true });
    const before = (await tokens.ofUser(access)).filter(({ signedIn }) => !signedIn).length;
    await insert(500 - before, { user, signedIn: false });
    const create = () => tokens.create(access, { name: 'more', kind: 'PERSONAL' });
    await expect(create()).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: 'A user has at most 500 tokens; revoke one first.',
    });
    const listed = await tokens.ofUser(access);
    expect(listed).toHaveLength(500);
    expect(listed.map(({ id }) => id)).toEqual(listed.map(({ id }) => id).sort().reverse()); // oxfmt-ignore
    expect((await personalScopes(domain.database, [user, uuidV7()])).get(user)).toContain('ADMIN');
    await tokens.revoke(access, listed[0]!.id);
    await create();
  });

  test('of their users no entity is made for each workspace in which they are members', async () => {
    const { access, authenticator, database, workspaces, workspaceRemoval } = domain;
    const { id } = await workspaces.create(access, 'w');
    const find = vi.spyOn(EntityManager.prototype, 'find');
    try {
      expect((await personalScopes(database, [access.userId!])).get(access.userId!)).toContain('ADMIN');
      expect((await authenticator.accessesOf([access.tokenId])).get(access.tokenId)?.workspaceIds()).toContain(id);
      await workspaceRemoval.delete(access, id);
      expect((await authenticator.present(access))?.workspaceIds()).not.toContain(id);
      expect(find.mock.calls.map(([schema]) => schema)).not.toContain(MemberSchema);
    } finally {
      find.mockRestore();
    }
  });

  test('of more than 500 sign-ins of a user the oldest end', async () => {
    const { tokens, users, database, authenticator } = domain;
    const user = await users.create(domain.access, { email: `${uuidV7()}@example.org`, password: 'her password' });
    const first = (await tokens.createForSignIn(user))!;
    expect(await authenticator.authenticate(first.secret)).not.toBeNull();
    await insert(1_200, { user: user.id, signedIn: true });
    const signIns = () => database.read().count(TokenSchema, { user: user.id, signedIn: true });
    for (const left of [702, 500, 500]) {
      const { secret } = (await tokens.createForSignIn(user))!;
      expect(await authenticator.authenticate(secret)).not.toBeNull();
      expect(await signIns()).toBe(left);
    }
    expect(await authenticator.authenticate(first.secret)).toBeNull();
  });
});
