import { type ScryptOptions, scryptSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { UserSchema } from '../../src/domain/entities/user.ts';
import { Passwords } from '../../src/domain/accounts/password.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

/** What each hash was to cost. */
const hashed = vi.hoisted(() => [] as unknown[]);
/** By the clock of the test; null: as long as it takes, with next to no work. */
let takesMs: number | null = null;
vi.mock('node:crypto', async (original) => ({
  ...(await original<typeof import('node:crypto')>()),
  scrypt: (
    password: string,
    salt: Buffer,
    length: number,
    options: ScryptOptions,
    done: (error: null, key: Buffer) => void,
  ) => {
    hashed.push(options);
    const key = scryptSync(password, salt, length, { ...options, N: 2, p: 1 });
    if (takesMs === null) setImmediate(() => done(null, key));
    else setTimeout(() => done(null, key), takesMs);
  },
}));

/** A hash of no password that is tried here. */
const CHEAP = ['scrypt', 16, 1, 1, 'c2FsdA', Buffer.alloc(32).toString('base64url')].join('$');

let domain: OpenDomain;
beforeAll(async () => {
  domain = await openDomain('sqlite');
  await domain.users.create(domain.access, { email: 'ada@example.org', password: 'her password' });
});
afterAll(() => domain.close());

test('an unknown address takes as much work as a wrong password', async () => {
  const refused = async (email: string): Promise<unknown[]> => {
    hashed.length = 0;
    await expect(domain.users.signIn(email, 'not her password', email)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    return [...hashed];
  };
  const wrong = await refused('ada@example.org');
  expect(wrong).toHaveLength(1);
  expect(await refused('nobody@example.org')).toEqual(wrong);
});

describe('where a hash takes a tenth of a second', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    takesMs = 100;
  });
  afterEach(() => {
    vi.useRealTimers();
    takesMs = null;
  });

  test('however many sign in, hashing takes a third of one processor', async () => {
    const passwords = new Passwords();
    hashed.length = 0;
    const all = Promise.all(Array.from({ length: 20 }, (_, at) => passwords.matches('x', null, `caller ${at}`)));
    await vi.advanceTimersByTimeAsync(2_950);
    expect(hashed).toHaveLength(10);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await all).toHaveLength(20);
  });

  test('however many passwords are set, who signs in is next but one, and they rest as well', async () => {
    for (const others of [0, 3]) {
      const passwords = new Passwords();
      const set = () => passwords.hash('a password', 'password', 'operator');
      hashed.length = 0;
      const beside = Array.from({ length: others }, set);
      let count = 0;
      const setting = (async () => {
        for (; count < 3; count += 1) await set();
      })();
      await vi.advanceTimersByTimeAsync(10);
      let isIn: boolean | null = null;
      void passwords.matches('x', CHEAP, 'caller').then((found) => (isIn = found));
      await vi.advanceTimersByTimeAsync(190);
      expect([isIn, hashed.length]).toEqual([false, 2]);
      await vi.advanceTimersByTimeAsync(300);
      // Two in a row have twice the rest.
      expect(hashed).toHaveLength(2);
      await vi.advanceTimersByTimeAsync(3_000);
      await Promise.all([...beside, setting]);
    }
  });
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
