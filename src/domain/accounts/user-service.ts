import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { badInput, conflict, forbidden, notFound, unauthenticated } from '../../errors.ts';
import { containsSql } from '../sql/contains.ts';
import { placeholders } from '../sql/long-columns.ts';
import { type Page, pageOf } from '../sql/page.ts';
import { checkOptionalText, checkText, foldCase } from '../text/text.ts';
import type { Access } from '../access/access.ts';
import { holdRights } from '../access/hold-rights.ts';
import { seesUser } from '../access/find-user.ts';
import type { Cluster } from '../ports/cluster.ts';
import { MemberSchema } from '../entities/member.ts';
import { TokenSchema } from '../entities/token.ts';
import { checkEmail, EMAIL, MAX_EMAIL } from './email.ts';
import { lockWorkspace, requireOtherAdmin } from './lock-workspace.ts';
import type { CreatedToken, TokenService } from './token-service.ts';
import { uuidV7 } from '../text/uuid.ts';
import type { Passwords } from './password.ts';
import type { PasswordThrottle } from './password-throttle.ts';
import { type User, UserSchema } from '../entities/user.ts';
import { must } from '../../must.ts';

const WRONG = 'Email address or password is wrong.';

interface UserServiceDeps {
  database: Database;
  cluster: Cluster;
  passwords: Passwords;
  /** Wrong passwords of sign-ins, by email address and origin. */
  signIns: PasswordThrottle;
  /** Wrong passwords of signed-in users, by user and token: strangers cannot keep them from changing theirs. */
  passwordChanges: PasswordThrottle;
  tokens: TokenService;
  now: () => number;
}

/** A new user; without a `password` it cannot sign in. */
interface NewUser {
  email: string;
  name?: string | null;
  password?: string | null;
  operator?: boolean | null;
}

/** Left out: unchanged. null: no name, no password (cannot sign in). */
interface UserChange {
  email?: string | null;
  name?: string | null;
  password?: string | null;
  operator?: boolean | null;
}

/** A page of users after the id `after`. */
interface UserQuery {
  search?: string | null | undefined;
  after?: string | null | undefined;
  limit: number;
}

/** People, and the way to their first token. */
export class UserService {
  readonly #deps: UserServiceDeps;

  constructor(deps: UserServiceDeps) {
    this.#deps = deps;
  }

  /** Makes a user, for operators. CONFLICT when the email address is taken, in whatever case. */
  async create(access: Access, input: NewUser): Promise<User> {
    allowLasting(access);
    const email = checkEmail(input.email, 'input.email');
    const name = checkOptionalText(input.name, 'input.name', { max: 200 });
    const passwordHash =
      input.password == null ? null : await this.#deps.passwords.hash(input.password, 'input.password', access.tokenId);
    const createdAt = this.#deps.now();
    const operator = input.operator ?? false;
    return this.#write(email, async (em) => {
      allowLasting(await holdRights(em, access, createdAt));
      return em.create(UserSchema, { id: uuidV7(), email, name, passwordHash, operator, createdAt });
    });
  }

  /** The user with this address, in whatever case; null: none that the token sees. For ADMINs and operators. */
  async byEmail(access: Access, emailGiven: string): Promise<User | null> {
    if (!access.operator) {
      access.workspaceIdsWith('ADMIN');
      access.requireUnlimited();
    }
    const email = foldCase(checkText(emailGiven, 'email', { max: MAX_EMAIL }));
    const em = this.#deps.database.read();
    const user = await em.findOne(UserSchema, { email });
    return user !== null && (await seesUser(em, access, user)) ? user : null;
  }

  /**
   * Users in the order of creation: all for an operator, else the members of workspaces where the token is ADMIN.
   * `search`: part of the address, in any case.
   */
  async list(access: Access, { search, after, limit }: UserQuery): Promise<Page<User>> {
    const { sql, values } = this.#listed(access, search);
    const text = `select u.id, u.email, u.name, u.operator from user_account u where ${sql} and u.id > ? order by u.id limit ?`;
    const rows = await this.#deps.database.read().execute<User[]>(text, [...values, after ?? '', limit + 1]);
    // SQLite has no booleans.
    const users = rows.map((row) => ({ ...row, operator: Boolean(row.operator) }));
    return pageOf(users, limit);
  }

  /** Number of users on all pages together. */
  async countListed(access: Access, search: string | null | undefined): Promise<number> {
    const { sql, values } = this.#listed(access, search);
    const text = `select count(*) as count from user_account u where ${sql}`;
    const [row] = await this.#deps.database.read().execute<{ count: number | string }[]>(text, values);
    return Number(must(row).count);
  }

  #listed(access: Access, search: string | null | undefined): { sql: string; values: unknown[] } {
    const conditions = ['1 = 1'];
    const values: unknown[] = [];
    if (!access.operator) {
      access.requireUnlimited();
      const ids = access.workspaceIdsWith('ADMIN');
      const members = `select m.user_id from member m where m.workspace_id in (${placeholders(ids)})`;
      conditions.push(`u.id in (${members})`);
      values.push(...ids);
    }
    if (search != null && search !== '') {
      conditions.push(containsSql(this.#deps.database.dialect, 'u.email'));
      values.push(foldCase(checkText(search, 'search', { max: MAX_EMAIL })));
    }
    return { sql: conditions.join(' and '), values };
  }

  /**
   * Changes a user, for operators. CONFLICT when the address is taken or no operator would be left. A changed or
   * removed password ends all sign-ins of the user except the calling token; tokens made by createToken stay.
   */
  async update(access: Access, id: string, change: UserChange): Promise<User> {
    allowLasting(access);
    if (change.email === null) throw badInput('input.email: a user needs an email address; leave it out to keep it.');
    const email = change.email === undefined ? undefined : checkEmail(change.email, 'input.email');
    const name = checkOptionalText(change.name, 'input.name', { max: 200 });
    const passwordHash =
      change.password == null
        ? null
        : await this.#deps.passwords.hash(change.password, 'input.password', access.tokenId);
    const user = await this.#write(email ?? '', async (em) => {
      const users = userOrOperators(id);
      const tokens = change.password === undefined ? {} : { tokens: signInsOf(id) };
      allowLasting(await holdRights(em, access, this.#deps.now(), { users, ...tokens }));
      const found = await findUser(em, id);
      if (change.operator != null && change.operator !== found.operator) {
        if (!change.operator) await requireOtherOperator(em, found);
        found.operator = change.operator;
      }
      if (email !== undefined) found.email = email;
      if (change.name !== undefined) found.name = name;
      if (change.password !== undefined) {
        found.passwordHash = passwordHash;
        await endSignIns(em, id, access);
      }
      return found;
    });
    await this.#deps.cluster.changed([{ kind: 'user', id: user.id }]);
    return user;
  }

  /**
   * Deletes a user with their PERSONAL tokens, for operators. CONFLICT for the last operator and for the last ADMIN of
   * a workspace.
   */
  async delete(access: Access, id: string): Promise<string> {
    access.requireOperator();
    const userId = await this.#deps.database.write(async (em) => {
      const users = userOrOperators(id);
      // Lock the user, who then joins no workspace meanwhile. The deleted tokens are locked in the common order.
      const tokens = id.includes('\0') ? {} : { tokens: { user: id } };
      (await holdRights(em, access, this.#deps.now(), { users, ...tokens })).requireOperator();
      const user = await findUser(em, id);
      if (user.operator) await requireOtherOperator(em, user);
      const places = await em.find(MemberSchema, { user: user.id, role: 'ADMIN' });
      for (const workspaceId of places.map(({ workspace }) => workspace.id).sort()) {
        await lockWorkspace(em, workspaceId);
        await requireOtherAdmin(em, workspaceId, user.id);
      }
      em.remove(user);
      return user.id;
    });
    await this.#deps.cluster.changed([{ kind: 'user', id: userId }]);
    return userId;
  }

  /**
   * Changes the password of the calling user, who knows the current one (null: there is none yet). Ends all their
   * sign-ins except the calling token; tokens made by createToken stay. FORBIDDEN for a wrong password; RATE_LIMITED
   * after many.
   */
  async changePassword(access: Access, current: string | null, wanted: string): Promise<User> {
    const id = access.requireUser();
    access.requireOutlasts(null);
    const { database, cluster, passwords, passwordChanges, now } = this.#deps;
    const known = await findUser(database.read(), id);
    if (known.passwordHash != null) {
      passwords.requireRoom(id);
      const { passwordHash: expected } = known;
      const matches = await passwordChanges.attempt(id, access.tokenId, () =>
        passwords.matches(current ?? '', expected, id),
      );
      if (!matches) throw forbidden('currentPassword: this is not your current password.');
      passwordChanges.succeeded(id, access.tokenId);
    }
    const passwordHash = await passwords.hash(wanted, 'newPassword', id);
    const user = await database.write(async (em) => {
      const present = await holdRights(em, access, now(), { tokens: signInsOf(id) });
      present.requireOutlasts(null);
      const found = await findUser(em, id);
      if (found.passwordHash !== known.passwordHash)
        throw conflict('The password has been changed by another request in the meantime.');
      found.passwordHash = passwordHash;
      await endSignIns(em, id, access);
      return found;
    });
    await cluster.changed([{ kind: 'user', id }]);
    return user;
  }

  /**
   * A new PERSONAL token for a correct password. UNAUTHENTICATED in the same words and after the same work for an
   * unknown address, a wrong password and a user without one; RATE_LIMITED after many failures. `caller`: the party
   * that is queued and whose failures count, such as the network address.
   */
  async signIn(emailGiven: string, password: string, caller: string): Promise<CreatedToken> {
    // Keep no state for texts that are not addresses, nor when the queue is full.
    if (emailGiven.length > MAX_EMAIL) throw unauthenticated(WRONG);
    const email = foldCase(emailGiven);
    this.#deps.passwords.requireRoom(caller);
    const known = EMAIL.test(email) && !email.includes('\0') && email.isWellFormed();
    const { user, matches } = await this.#deps.signIns.attempt(email, caller, async () => {
      const found = known ? await this.#deps.database.read().findOne(UserSchema, { email }) : null;
      const { passwordHash = null } = found ?? {};
      return { user: found, matches: await this.#deps.passwords.matches(password, passwordHash, caller) };
    });
    if (user === null || !matches) throw unauthenticated(WRONG);
    const succeeded = (): void => this.#deps.signIns.succeeded(email, caller);
    const created = await this.#deps.tokens.createForSignIn(user).catch((error: unknown) => {
      // The password was right, although the database failed.
      succeeded();
      throw error;
    });
    if (created === null) throw unauthenticated(WRONG);
    succeeded();
    return created;
  }

  /** CONFLICT when the address is taken, for operators, who see all users. */
  async #write(email: string, work: (em: EntityManager) => Promise<User>): Promise<User> {
    try {
      return await this.#deps.database.write(work);
    } catch (error) {
      if (!(error instanceof UniqueConstraintViolationException)) throw error;
      const there = await this.#deps.database.read().findOne(UserSchema, { email });
      const message = `input.email: there is already a user with the email address ${email}.`;
      throw conflict(message, there === null ? undefined : { existingId: there.id });
    }
  }
}

/** Required of operators for things that outlast the token. */
function allowLasting(access: Access): void {
  access.requireOperator();
  access.requireOutlasts(null);
}

/** Matches the user and every operator: one of those must be left. */
function userOrOperators(id: string) {
  return { $or: [{ id: id.replaceAll('\0', '').toLowerCase() }, { operator: true }] };
}

function signInsOf(id: string) {
  return { user: id.replaceAll('\0', '').toLowerCase(), signedIn: true };
}

/** Ends the user's sign-ins except the calling token. */
async function endSignIns(em: EntityManager, id: string, { tokenId }: Access): Promise<void> {
  await em.nativeDelete(TokenSchema, { ...signInsOf(id), id: { $ne: tokenId } });
}

async function findUser(em: EntityManager, id: string): Promise<User> {
  const user = id.includes('\0') ? null : await em.findOne(UserSchema, { id: id.toLowerCase() });
  if (user === null) throw notFound('user', id);
  return user;
}

async function requireOtherOperator(em: EntityManager, user: User): Promise<void> {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } } as const;
  const operators = await em.find(UserSchema, { operator: true }, lock);
  if (!operators.some(({ id }) => id !== user.id))
    throw conflict('This is the last operator; make somebody else operator first.');
}
