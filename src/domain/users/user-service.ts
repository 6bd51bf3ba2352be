import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { Database } from '../database.ts';
import { badInput, conflict, unauthenticated } from '../../errors.ts';
import { checkOptionalText, checkText, foldCase } from '../text.ts';
import type { Access } from '../access/access.ts';
import type { CreatedToken, TokenService } from '../tokens/token-service.ts';
import { uuidV7 } from '../uuid.ts';
import type { Passwords } from './password.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';
import { type User, UserSchema } from '../entities/user.ts';

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const MAX_EMAIL = 254;
const WRONG = 'Email address or password is wrong.';

interface UserServiceDeps {
  database: Database;
  passwords: Passwords;
  throttle: SignInThrottle;
  tokens: TokenService;
  now: () => number;
}

/** `password` left out: cannot sign in. */
interface NewUser {
  email: string;
  name?: string | null;
  password?: string | null;
  operator?: boolean | null;
}

/** People, and how they get their first token. */
export class UserService {
  readonly #deps: UserServiceDeps;

  constructor(deps: UserServiceDeps) {
    this.#deps = deps;
  }

  /** For operators. CONFLICT when the email address is taken, in whatever case. */
  async create(access: Access, input: NewUser): Promise<User> {
    access.requireOperator();
    access.requireOutlasts(null);
    const email = foldCase(checkText(input.email, 'input.email', { max: MAX_EMAIL }));
    if (!EMAIL.test(email) || email.length > MAX_EMAIL)
      throw badInput('input.email: expected an email address such as ada@example.org.');
    const name = checkOptionalText(input.name, 'input.name', { max: 200 });
    const passwordHash =
      input.password == null ? null : await this.#deps.passwords.hash(input.password, 'input.password');
    const createdAt = this.#deps.now();
    const operator = input.operator ?? false;
    try {
      return await this.#deps.database.write(async (em) =>
        em.create(UserSchema, { id: uuidV7(), email, name, passwordHash, operator, createdAt }),
      );
    } catch (error) {
      if (error instanceof UniqueConstraintViolationException)
        throw conflict(`input.email: there is already a user with the email address ${email}.`);
      throw error;
    }
  }

  /**
   * A new PERSONAL token for who knows the password. UNAUTHENTICATED in the same words and after the same work for an
   * unknown address, a wrong password and a user without one; RATE_LIMITED after many failures.
   */
  async signIn(emailGiven: string, password: string): Promise<CreatedToken> {
    // Nothing is remembered of what can be no address, nor of whom there is no room for.
    if (emailGiven.length > MAX_EMAIL) throw unauthenticated(WRONG);
    const email = foldCase(emailGiven);
    this.#deps.passwords.requireRoom();
    this.#deps.throttle.begin(email);
    const known = EMAIL.test(email) && !email.includes('\0') && email.isWellFormed();
    const user = known ? await this.#deps.database.read().findOne(UserSchema, { email }) : null;
    const matches = await this.#deps.passwords.matches(password, user?.passwordHash ?? null);
    if (user === null || !matches) throw unauthenticated(WRONG);
    this.#deps.throttle.succeeded(email);
    return this.#deps.tokens.createForSignIn(user.id);
  }
}
