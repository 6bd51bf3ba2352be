import { expect, test } from 'vitest';
import { Access, scopesOfRole } from '../../src/domain/access/access.ts';

const accessOf = (userId: string | null, workspaceIds: string[], operator = false): Access =>
  new Access({
    tokenId: 'token',
    kind: userId === null ? 'INDIVIDUAL' : 'PERSONAL',
    userId,
    operator,
    scopes: new Map(workspaceIds.map((id) => [id, scopesOfRole('ADMIN')])),
    productIds: null,
    deviceIds: null,
    fields: null,
    expiresAt: null,
    signedIn: false,
  });

test.each([
  ['a token of a workspace is that workspace’s', accessOf(null, ['a']), 'a'],
  ['a user of one workspace uses its share', accessOf('user', ['a']), 'a'],
  ['who sees several has a share of their own', accessOf('user', ['a', 'b']), 'user'],
  ['and who sees none', accessOf('user', []), 'user'],
  ['an operator of many has it too', accessOf('operator', ['a', 'b'], true), 'operator'],
])('%s', (_, { tenant }, expected) => {
  expect(tenant).toBe(expected);
});
