import { afterAll, beforeAll, expect, test } from 'vitest';
import { Passwords } from '../../src/domain/users/password.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { processorMsOf } from '../support/processor-time.ts';

let domain: OpenDomain;
beforeAll(async () => {
  domain = await openDomain('sqlite');
  await domain.users.create(domain.access, { email: 'ada@example.org', password: 'her password' });
});
afterAll(() => domain.close());

test('an unknown address takes as much work as a wrong password', async () => {
  const refused = (email: string) =>
    processorMsOf(() =>
      expect(domain.users.signIn(email, 'not her password', email)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' }),
    );
  const wrong = await refused('ada@example.org');
  const unknown = await refused('nobody@example.org');
  expect(unknown).toBeGreaterThan(wrong / 2);
});

test('however many sign in, hashing takes a third of one processor', async () => {
  const passwords = new Passwords();
  const from = performance.now();
  const usedMs = await processorMsOf(() =>
    Promise.all(Array.from({ length: 6 }, (_, at) => passwords.matches('x', null, `caller ${at}`))),
  );
  // Nobody waits for the rest after the last one. All at once they take all the processors there are.
  expect(usedMs / (performance.now() - from)).toBeLessThan(0.5);
});

test('twenty sign-ins may wait, and no more', async () => {
  const passwords = new Passwords();
  const outcome = (work: Promise<unknown>) => work.catch((error: { code: string }) => error.code);
  const cheap = ['scrypt', 16, 1, 1, 'c2FsdA', Buffer.alloc(32).toString('base64url')].join('$');
  const outcomes = Array.from({ length: 22 }, () => outcome(passwords.matches('x', cheap, 'caller')));
  expect(() => passwords.requireRoom('caller')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }) as Error);
  expect(await outcomes[21]).toBe('OVERLOADED');
  expect(await outcomes[0]).toBe(false);
  expect(await outcomes[20]).toBe(false);
});
