import { expect, test } from 'vitest';
import { Access, scopesOfRole } from '../../src/domain/access/access.ts';

const accessOf = (
  userId: string | null,
  workspaceIds: string[],
  operator = false,
  fields: string[] | null = null,
): Access =>
  new Access({
    tokenId: 'token',
    kind: userId === null ? 'INDIVIDUAL' : 'PERSONAL',
    userId,
    operator,
    scopes: new Map(workspaceIds.map((id) => [id, scopesOfRole('ADMIN')])),
    productIds: null,
    deviceIds: null,
    fields,
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

test.each([
  [null, null, null, true],
  [['a'], ['a'], null, true],
  [['a'], null, 'token', true],
  [['a'], ['b', 'a'], 'token', true],
  [['a', 'b'], ['a'], 'token', false],
  [null, ['a'], 'token', false],
])('limited to the fields %j and then to %j it has changed: %s, and may go on: %s', (before, now, changed, goesOn) => {
  const [one, other] = [accessOf(null, ['a'], false, before), accessOf(null, ['a'], false, now)];
  expect(one.changedSince(other)).toBe(changed);
  const going = (): void => other.requireFieldsOf(one);
  if (goesOn) expect(going).not.toThrow();
  else expect(going).toThrow(/limited to other fields/);
});
