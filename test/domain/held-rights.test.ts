import { type EntityManager, LockMode } from '@mikro-orm/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { readAccess, readAccesses } from '../../src/domain/access/read-access.ts';
import { MemberSchema } from '../../src/domain/entities/member.ts';
import { TokenSchema } from '../../src/domain/entities/token.ts';
import { UserSchema } from '../../src/domain/entities/user.ts';
import { WorkspaceSchema } from '../../src/domain/entities/workspace.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

const PASSWORD = 'correct horse battery';

describe.each(DATABASES)('rights are made by who has them when they are made, on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  /** An ADMIN of a new workspace and operator, signed in. */
  async function person() {
    const email = `${crypto.randomUUID()}@example.org`;
    const user = await domain.users.create(domain.access, { email, operator: true });
    const workspace = await domain.workspaces.create(domain.access, 'w');
    await domain.workspaces.setMember(domain.access, workspace.id, user.id, 'ADMIN');
    const { token, secret } = (await domain.tokens.createForSignIn(user))!;
    const access = (await domain.authenticator.authenticate(secret)) as Access;
    return { userId: user.id, workspaceId: workspace.id, tokenId: token.id, access };
  }
  type Person = Awaited<ReturnType<typeof person>>;

  /** What becomes of what the person asks for while the right to it is being taken away. */
  async function meanwhile(
    end: (em: EntityManager) => Promise<unknown>,
    ask: () => Promise<unknown>,
  ): Promise<unknown> {
    const { asked } = await domain.database.write(async (em) => {
      await end(em);
      const asking = ask().then(
        () => 'done',
        (error: { code?: string }) => error.code ?? error,
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { asked: asking };
    });
    return asked;
  }

  const ENDS = {
    revoked: (em: EntityManager, { tokenId }: Person) => em.nativeDelete(TokenSchema, { id: tokenId }),
    removed: async (em: EntityManager, { userId, workspaceId }: Person) => {
      await em.findOne(WorkspaceSchema, { id: workspaceId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      await em.nativeDelete(MemberSchema, { user: userId, workspace: workspaceId });
    },
    demoted: (em: EntityManager, { userId }: Person) =>
      em.nativeUpdate(UserSchema, { id: userId }, { operator: false }),
  };
  const ASKS: Record<string, (person: Person) => Promise<unknown>> = {
    'createToken PERSONAL': ({ access }) => domain.tokens.create(access, { name: 't', kind: 'PERSONAL' }),
    'createToken INDIVIDUAL': ({ access, workspaceId }) =>
      domain.tokens.create(access, { name: 't', kind: 'INDIVIDUAL', workspaceId, scopes: ['READ'] }),
    setMember: ({ access, workspaceId, userId }) => domain.workspaces.setMember(access, workspaceId, userId, 'ADMIN'),
    removeMember: ({ access, workspaceId }) =>
      domain.workspaces.removeMember(access, workspaceId, domain.access.userId ?? ''),
    createWorkspace: ({ access }) => domain.workspaces.create(access, 'another'),
    createUser: ({ access }) => domain.users.create(access, { email: `${crypto.randomUUID()}@example.org` }),
    updateUser: ({ access, userId }) => domain.users.update(access, userId, { operator: true }),
    changePassword: ({ access }) => domain.users.changePassword(access, null, PASSWORD),
  };

  test.each([
    ['revoked', 'UNAUTHENTICATED', 'createToken PERSONAL'],
    ['revoked', 'UNAUTHENTICATED', 'createToken INDIVIDUAL'],
    ['revoked', 'UNAUTHENTICATED', 'setMember'],
    ['revoked', 'UNAUTHENTICATED', 'removeMember'],
    ['revoked', 'UNAUTHENTICATED', 'createWorkspace'],
    ['revoked', 'UNAUTHENTICATED', 'createUser'],
    ['revoked', 'UNAUTHENTICATED', 'updateUser'],
    ['revoked', 'UNAUTHENTICATED', 'changePassword'],
    ['removed', 'NOT_FOUND', 'createToken INDIVIDUAL'],
    ['removed', 'NOT_FOUND', 'setMember'],
    ['removed', 'NOT_FOUND', 'removeMember'],
    ['demoted', 'FORBIDDEN', 'createWorkspace'],
    ['demoted', 'FORBIDDEN', 'createUser'],
    ['demoted', 'FORBIDDEN', 'updateUser'],
  ] as const)('who is being %s gets %s from %s', async (end, code, ask) => {
    const one = await person();
    expect(
      await meanwhile(
        (em) => ENDS[end](em, one),
        () => ASKS[ask]!(one),
      ),
    ).toBe(code);
  });

  test.each([
    ['revoked', 'UNAUTHENTICATED'],
    ['removed', 'NOT_FOUND'],
  ] as const)('who is being %s gets %s from updateToken and rotateWebhook', async (end, code) => {
    const one = await person();
    const { workspaceId, access } = one;
    const limits = { expiresAt: domain.clock.now + 60_000 };
    const input = { name: 't', kind: 'INDIVIDUAL', workspaceId, scopes: ['READ'], ...limits } as const;
    const { token } = await domain.tokens.create(access, { ...input, scopes: [...input.scopes] });
    const product = await domain.products.create(access, { name: 'p', workspaceId });
    const [updated, rotated] = [
      () => domain.tokens.update(access, token.id, { expiresAt: null }),
      () => domain.products.rotateWebhook(access, product.id),
    ];
    expect(await meanwhile((em) => ENDS[end](em, one), updated)).toBe(code);
    await expect(rotated()).rejects.toMatchObject({ code });
  });

  test('two ADMINs who remove each other at once do not wait for each other', async () => {
    const { workspaceId, ...one } = await person();
    const other = await person();
    const { access } = domain;
    for (let round = 0; round < 20; round += 1) {
      await domain.workspaces.setMember(access, workspaceId, one.userId, 'ADMIN');
      await domain.workspaces.setMember(access, workspaceId, other.userId, 'ADMIN');
      const accesses = await Promise.all([one, other].map(({ access: old }) => domain.authenticator.follow(old)()));
      const codes = await Promise.all(
        [other, one].map(({ userId }, index) =>
          domain.workspaces.removeMember(accesses[index]!, workspaceId, userId).then(
            () => 'done',
            (error: { code: string }) => error.code,
          ),
        ),
      );
      expect(codes.toSorted()).toEqual(['NOT_FOUND', 'done']);
    }
  });

  test('what is read of one token is what is read of several, whatever they are', async () => {
    const { userId, workspaceId, access } = await person();
    const product = await domain.products.create(access, { name: 'p', workspaceId });
    const limits = { productIds: [product.id], deviceIds: null, expiresAt: domain.clock.now + 60_000 };
    const individual = { name: 't', kind: 'INDIVIDUAL', workspaceId, scopes: ['READ', 'RECORD'] } as const;
    const made = await domain.tokens.create(access, { ...individual, scopes: ['READ', 'RECORD'], ...limits });
    const em = domain.database.read();
    const ids = [access.tokenId, domain.access.tokenId, made.token.id];
    const several = await readAccesses(em, [...ids, userId], domain.clock.now);
    expect(several.map(({ tokenId }) => tokenId).toSorted()).toEqual(ids.toSorted());
    for (const one of several) {
      const present = await readAccess(em, { id: one.tokenId }, domain.clock.now);
      expect(one.changedSince(present)).toBeNull();
      expect([present!.tenant, present!.signedIn]).toEqual([one.tenant, one.signedIn]);
    }
    expect(await readAccesses(em, [made.token.id], limits.expiresAt)).toEqual([]);
    expect(await readAccess(em, { id: made.token.id }, limits.expiresAt)).toBeNull();
    expect(await readAccess(em, { id: userId }, domain.clock.now)).toBeNull();
  });
});
