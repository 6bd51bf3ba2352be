import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/sql';
import { AppError, badInput, conflict, forbidden, notFound } from '../../errors.ts';
import { type Access, scopesOfRole } from '../access/access.ts';
import { holdRights } from '../access/hold-rights.ts';
import { type AccessLink, AccessLinkSchema } from '../entities/access-link.ts';
import { MemberSchema, type Role } from '../entities/member.ts';
import { TokenSchema } from '../entities/token.ts';
import { type User, UserSchema } from '../entities/user.ts';
import type { Workspace } from '../entities/workspace.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { checkOptionalText } from '../text/text.ts';
import { uuidV7 } from '../text/uuid.ts';
import { hashSecret } from './authenticator.ts';
import { checkEmail } from './email.ts';
import { lockWorkspace } from './lock-workspace.ts';
import type { Passwords } from './password.ts';
import type { CreatedToken, TokenService } from './token-service.ts';
import type { UserService } from './user-service.ts';
import { must } from '../../must.ts';

const INVITATION_MS = 7 * 86_400_000;
const RESET_MS = 86_400_000;
/** Maximum open invitations per workspace. */
const MAX_INVITATIONS = 200;

interface AccessLinksDeps {
  database: Database;
  cluster: Cluster;
  passwords: Passwords;
  users: UserService;
  tokens: TokenService;
  now: () => number;
}

/** A new link; `secret` is known only here and to the caller. */
interface CreatedLink {
  link: AccessLink;
  secret: string;
}

/** Links by which people join a workspace, or choose a new password; each works once. */
export class AccessLinks {
  readonly #deps: AccessLinksDeps;

  constructor(deps: AccessLinksDeps) {
    this.#deps = deps;
  }

  /**
   * Invites an address into the workspace, for ADMINs who have every scope of the role; an earlier invitation of the
   * same address ends. CONFLICT when the address belongs to a member.
   */
  async invite(access: Access, workspaceId: string, emailGiven: string, role: Role): Promise<CreatedLink> {
    const allow = (present: Access): void => {
      for (const scope of ['ADMIN', ...scopesOfRole(role)] as const) present.requireWorkspace(workspaceId, scope);
      // The member stays for good.
      present.requireOutlasts(null);
    };
    allow(access);
    const email = checkEmail(emailGiven, 'email');
    return this.#create({ kind: 'INVITATION', email, role, lastsMs: INVITATION_MS }, async (em) => {
      allow(await holdRights(em, access, this.#deps.now(), { workspaces: { id: workspaceId } }));
      const workspace = await lockWorkspace(em, workspaceId);
      const [member] = await em.execute<{ id: string }[]>(
        'select u.id from user_account u join member m on m.user_id = u.id where m.workspace_id = ? and u.email = ?',
        [workspaceId, email],
      );
      if (member !== undefined)
        throw conflict(`email: ${email} is a member already; setMember changes the role.`, { existingId: member.id });
      await em.nativeDelete(AccessLinkSchema, { workspace: workspaceId, email });
      if ((await em.count(AccessLinkSchema, { workspace: workspaceId })) >= MAX_INVITATIONS)
        throw badInput(`email: a workspace has at most ${MAX_INVITATIONS} open invitations; revoke one first.`);
      return { workspace };
    });
  }

  /** The open invitations of the workspace, oldest first; for ADMINs. */
  async invitations(access: Access, workspaceId: string): Promise<AccessLink[]> {
    access.requireWorkspace(workspaceId, 'ADMIN');
    const where = { workspace: workspaceId, expiresAt: { $gt: this.#deps.now() } };
    return this.#deps.database.read().find(AccessLinkSchema, where, { orderBy: { id: 'asc' } });
  }

  /** Ends the open invitation of the address, if there is one; for ADMINs of the workspace. */
  async revoke(access: Access, workspaceId: string, email: string): Promise<Workspace> {
    access.requireWorkspace(workspaceId, 'ADMIN');
    const where = { workspace: workspaceId, email: checkEmail(email, 'email') };
    return this.#deps.database.write(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      await em.nativeDelete(AccessLinkSchema, where);
      return workspace;
    });
  }

  /**
   * Makes the invited address a member and signs it in: a new user chooses a password, one that exists gives the
   * present one (UNAUTHENTICATED for another). A role that is there already is never lowered.
   */
  async accept(
    secret: string,
    given: { name?: string | null; password: string },
    caller: string,
  ): Promise<CreatedToken> {
    const { database, cluster, passwords, users, tokens, now } = this.#deps;
    const link = await this.#open(secret, 'INVITATION');
    const known = await database.read().findOne(UserSchema, { email: link.email });
    // Prove who it is before the link is used up.
    const signedIn = known === null ? null : await users.signIn(link.email, given.password, caller);
    const name = checkOptionalText(given.name, 'name', { max: 200 });
    const passwordHash = known === null ? await passwords.hash(given.password, 'password', caller) : null;
    const user = await database.write(async (em) => {
      const taken = await take(em, link, now());
      const [workspace, role] = [must(taken.workspace).id, must(taken.role)];
      await lockWorkspace(em, workspace);
      const createdAt = now();
      const there = await em.findOne(UserSchema, { email: link.email });
      if ((there === null) !== (known === null)) throw conflict('The user has changed in the meantime; try again.');
      const joined =
        there ??
        em.create(UserSchema, { id: uuidV7(), email: link.email, name, passwordHash, operator: false, createdAt });
      const member = there && (await em.findOne(MemberSchema, { workspace, user: there.id }));
      if (member === null) em.create(MemberSchema, { workspace, user: joined, role });
      else if (scopesOfRole(role).size > scopesOfRole(member.role).size) member.role = role;
      return joined;
    });
    await cluster.changed([{ kind: 'user', id: user.id }]);
    return signedIn ?? (await signInAgain(tokens, user));
  }

  /**
   * A link by which a user chooses a new password: for operators, and for ADMINs of all workspaces of a user who is no
   * operator. Earlier ones of the user end.
   */
  async createReset(access: Access, userId: string): Promise<CreatedLink> {
    const id = userId.replaceAll('\0', '').toLowerCase();
    const user = await this.#deps.database.read().findOne(UserSchema, { id });
    if (user === null) throw notFound('user', userId);
    return this.#create({ kind: 'RESET', email: user.email, role: null, lastsMs: RESET_MS }, async (em) => {
      const present = await holdRights(em, access, this.#deps.now(), { users: { id } });
      await requireResetting(em, present, user, userId);
      await em.nativeDelete(AccessLinkSchema, { user: id });
      return { user: em.getReference(UserSchema, id) };
    });
  }

  /** Sets the password that the user of the link chose, ends all sign-ins of the user, and signs in. */
  async reset(secret: string, password: string, caller: string): Promise<CreatedToken> {
    const { database, cluster, passwords, tokens, now } = this.#deps;
    const link = await this.#open(secret, 'RESET');
    const passwordHash = await passwords.hash(password, 'password', caller);
    const user = await database.write(async (em) => {
      const taken = await take(em, link, now());
      const found = await em.findOneOrFail(UserSchema, { id: must(taken.user).id });
      found.passwordHash = passwordHash;
      await em.nativeDelete(TokenSchema, { user: found.id, signedIn: true });
      return found;
    });
    await cluster.changed([{ kind: 'user', id: user.id }]);
    return signInAgain(tokens, user);
  }

  async #create(
    { kind, email, role, lastsMs }: Pick<AccessLink, 'kind' | 'email'> & { role: Role | null; lastsMs: number },
    check: (em: EntityManager) => Promise<Partial<Pick<AccessLink, 'workspace' | 'user'>>>,
  ): Promise<CreatedLink> {
    const secret = randomBytes(32).toString('base64url');
    const link = await this.#deps.database.write(async (em) => {
      const createdAt = this.#deps.now();
      const place = await check(em);
      await em.nativeDelete(AccessLinkSchema, { expiresAt: { $lte: createdAt } });
      const times = { createdAt, expiresAt: createdAt + lastsMs };
      return em.create(AccessLinkSchema, {
        id: uuidV7(),
        kind,
        hash: hashSecret(secret),
        email,
        role,
        ...place,
        ...times,
      });
    });
    return { link, secret };
  }

  /** NOT_FOUND, in the same words, for a link that is none, was used or revoked, or has expired. */
  async #open(secret: string, kind: AccessLink['kind']): Promise<AccessLink> {
    const link = await this.#deps.database.read().findOne(AccessLinkSchema, { hash: hashSecret(secret), kind });
    if (link === null || link.expiresAt <= this.#deps.now()) throw usedUp();
    return link;
  }
}

/** Uses the link up, in the transaction of its effect: of two requests one gets it. */
async function take(em: EntityManager, { id }: AccessLink, now: number): Promise<AccessLink> {
  const link = await em.findOne(AccessLinkSchema, { id, expiresAt: { $gt: now } });
  const gone = link === null ? 0 : await em.nativeDelete(AccessLinkSchema, { id });
  if (gone === 0) throw usedUp();
  return must(link);
}

async function requireResetting(em: EntityManager, access: Access, user: User, given: string): Promise<void> {
  access.requireOutlasts(null);
  if (access.operator) return;
  const places = await em.find(MemberSchema, { user: user.id });
  const ids = places.map(({ workspace }) => workspace.id);
  if (!ids.some((id) => access.seesWorkspace(id))) throw notFound('user', given);
  if (user.operator || !ids.every((id) => access.may(id, 'ADMIN')))
    throw forbidden('userId: only an operator may do this for an operator, or for a member of other workspaces.');
  // Whoever resets a password could sign in as that user.
  for (const { workspace, role } of places)
    for (const scope of ['ADMIN', ...scopesOfRole(role)] as const) access.requireWorkspace(workspace.id, scope);
}

async function signInAgain(tokens: TokenService, user: User): Promise<CreatedToken> {
  const created = await tokens.createForSignIn(user);
  if (created === null) throw conflict('The password has been changed by another request in the meantime.');
  return created;
}

function usedUp(): AppError {
  return new AppError('NOT_FOUND', 'This link was used already, has expired or was taken back; ask for another one.');
}
