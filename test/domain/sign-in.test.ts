import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { UserSchema } from '../../src/domain/entities/user.ts';
import { Passwords } from '../../src/domain/users/password.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { processorMsOf } from '../support/processor-time.ts';
import { DATABASES } from '../support/server.ts';

/** Of a hash that takes no time. */
const CHEAP = ['scrypt', 16, 1, 1, 'c2FsdA', Buffer.alloc(32).toString('base64url')].join('$');

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

test('however many passwords are set, whether one after the other or side by side, who signs in is next but one', async () => {
  const passwords = new Passwords();
  const set = () => passwords.hash('a password', 'password', 'operator');
  for (const others of [0, 3]) {
    const beside = Array.from({ length: others }, set);
    let count = 0;
    const from = performance.now();
    const usedMs = processorMsOf(async () => {
      for (; count < 3; count += 1) await set();
    });
    // The others have begun.
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await passwords.matches('x', CHEAP, 'caller')).toBe(false);
    expect(count).toBeLessThan(2);
    // They rest as well, but for who signs in.
    expect((await usedMs) / (performance.now() - from)).toBeLessThan(0.5);
    await Promise.all(beside);
  }
});

test('twenty sign-ins may wait, and no more', async () => {
  const passwords = new Passwords();
  const outcome = (work: Promise<unknown>) => work.catch((error: { code: string }) => error.code);
  const outcomes = Array.from({ length: 22 }, () => outcome(passwords.matches('x', CHEAP, 'caller')));
  expect(() => passwords.requireRoom('caller')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }) as Error);
  expect(await outcomes[21]).toBe('OVERLOADED');
  expect(await outcomes[0]).toBe(false);
  expect(await outcomes[20]).toBe(false);
});

describe.each(DATABASES)('a password that is changed during a sign-in with it, %s', (name) => {
  let domain: OpenDomain;
  const [email, old] = ['eve@example.org', 'her password'];
  const signIn = () => domain.users.signIn(email, old, 'eve');
  beforeAll(async () => {
    domain = await openDomain(name);
    await domain.users.create(domain.access, { email, password: old });
  });
  afterAll(() => domain.close());

  test('gives no token, whether it was changed behind the look at it or is just being changed', async () => {
    const change = async (to: string): Promise<void> => {
      const access = await domain.authenticator.authenticate((await signIn()).secret);
      domain.pause.afterRead = async () => void (await domain.users.changePassword(access!, old, to));
      await expect(signIn()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
      expect(domain.pause.afterRead).toBeNull();
    };
    await change('another password');
    const { id } = (await domain.users.byEmail(domain.access, email))!;
    await domain.users.update(domain.access, id, { password: old });

    const passwordHash = await new Passwords().hash('another password', 'password', 'eve');
    let late: Promise<unknown> = Promise.resolve();
    await domain.database.write(async (em) => {
      await em.nativeUpdate(UserSchema, { id }, { passwordHash });
      late = signIn().catch(({ code }: { code: string }) => code);
      // Until it has looked at the password of before and waits for this.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    });
    expect(await late).toBe('UNAUTHENTICATED');
  });
});

test('strangers who guess keep nobody from changing their password, nor does another token of the same user', async () => {
  const { id } = await domain.users.create(domain.access, { email: 'eve@example.org', password: 'her password' });
  const session = async (): Promise<Access> => {
    const { secret } = await domain.users.signIn('eve@example.org', 'her password', 'her place');
    return (await domain.authenticator.authenticate(secret))!;
  };
  const [hers, thiefs] = [await session(), await session()];
  // So long that it is wrong without being hashed.
  const wrong = 'x'.repeat(1_025);
  const failing = async (work: () => Promise<unknown>): Promise<void> => {
    for (let code = ''; code !== 'RATE_LIMITED';)
      code = await work().then(
        () => '',
        ({ code: found }: { code: string }) => found,
      );
  };
  let place = 0;
  await failing(() => domain.users.signIn('eve@example.org', wrong, `place ${(place += 1)}`));
  await failing(() => domain.users.changePassword(thiefs, wrong, 'his password'));
  expect(await domain.users.changePassword(hers, 'her password', 'another password')).toMatchObject({ id });
});
