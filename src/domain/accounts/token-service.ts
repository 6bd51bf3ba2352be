import { randomBytes } from 'node:crypto';
import { type FilterQuery, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { badInput, notFound } from '../../errors.ts';
import type { Cluster } from '../ports/cluster.ts';
import { placeOfProduct } from '../access/find-product.ts';
import { type Product, ProductSchema } from '../entities/product.ts';
import { placeholders } from '../sql/long-columns.ts';
import { checkText } from '../text/text.ts';
import { uuidV7 } from '../text/uuid.ts';
import { soleWorkspace } from '../access/sole-workspace.ts';
import type { Access } from '../access/access.ts';
import { holdRights } from '../access/hold-rights.ts';
import { hashSecret } from './authenticator.ts';
import {
  checkFieldLimit,
  checkIndividual,
  checkLimit,
  checkPersonal,
  type NewToken,
  type TokenChange,
} from './new-token.ts';
import { type Token, type TokenScope, TokenSchema } from '../entities/token.ts';
import { UserSchema } from '../entities/user.ts';

const SIGN_IN_MS = 30 * 86_400_000;
/** Maximum sign-in tokens per user; the oldest end. They are locked, and deleted, together. */
const MAX_SIGN_INS = 500;
/** Maximum surplus tokens ended per sign-in: older versions had no bound. */
const ENDED_AT_ONCE = 500;
const MAX_SHOWN = 500;
/** Maximum PERSONAL tokens made by createToken, per user. */
const MAX_OF_USER = 500;
/** Maximum INDIVIDUAL tokens per workspace. */
export const MAX_OF_WORKSPACE = 2_000;
/** Tokens read at once, for short pieces of the event loop. */
const READ_AT_ONCE = 200;

interface TokenServiceDeps {
  database: Database;
  cluster: Cluster;
  now: () => number;
}

/** A new token; `secret` is known only here and to the caller, as its hash is what is stored. */
export interface CreatedToken {
  token: Token;
  secret: string;
}

/** A secret of 256 random bits. */
export function newSecret(): string {
  return `inl_${randomBytes(32).toString('base64url')}`;
}

/** Makes, lists and revokes tokens (CONTRACT 1). `Access` decides what they allow. */
export class TokenService {
  readonly #deps: TokenServiceDeps;

  constructor(deps: TokenServiceDeps) {
    this.#deps = deps;
  }

  async create(access: Access, input: NewToken): Promise<CreatedToken> {
    checkText(input.name, 'input.name', { max: 200 });
    const expiresAt = this.#checkEnd(input.expiresAt);
    return input.kind === 'PERSONAL'
      ? this.#createPersonal(access, input, expiresAt)
      : this.#createIndividual(access, input, expiresAt);
  }

  /**
   * A token for a user whose password was right while it had this hash; null: the user has another one by now, or is
   * gone. Beyond 500 such tokens the oldest ends.
   */
  async createForSignIn(user: { id: string; passwordHash?: string | null }): Promise<CreatedToken | null> {
    const expiresAt = this.#deps.now() + SIGN_IN_MS;
    const given = { name: 'sign-in', user: user.id, scopes: [], expiresAt, signedIn: true };
    const secret = newSecret();
    const ended: string[] = [];
    const token = await this.#deps.database.write(async (em) => {
      // Lock the user: a change of the password waits for this token and ends it, or has happened before; other
      // sign-ins wait too.
      const now = await em.findOne(UserSchema, { id: user.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (now === null || now.passwordHash !== user.passwordHash) return null;
      ended.push(...(await endOldSignIns(em, user.id)));
      return this.#add(em, secret, { kind: 'PERSONAL', ...given });
    });
    if (ended.length > 0) await this.#deps.cluster.changed(ended.map((id) => ({ kind: 'token', id })));
    return token && { token, secret };
  }

  /** The INDIVIDUAL tokens of the workspace, oldest first, without their limits (`readTokenLimits`); for ADMINs. */
  async ofWorkspace(access: Access, workspaceId: string): Promise<Token[]> {
    access.requireWorkspace(workspaceId, 'ADMIN');
    return this.#read((last) => ({ workspace: workspaceId, ...(last && { id: { $gt: last } }) }), 'asc', Infinity);
  }

  /** The PERSONAL tokens of the calling user, newest first, at most 500; none of an INDIVIDUAL token. */
  async ofUser(access: Access): Promise<Token[]> {
    if (access.userId === null) return [];
    const { userId } = access;
    return this.#read((last) => ({ user: userId, ...(last && { id: { $lt: last } }) }), 'desc', MAX_SHOWN);
  }

  /**
   * Changes name, limits and expiry of the caller's own PERSONAL token, or as ADMIN of an INDIVIDUAL token of the
   * workspace. The caller needs every scope of that token and, for more than its name, must outlast it as changed; only
   * INDIVIDUAL tokens have limits.
   */
  async update(access: Access, id: string, change: TokenChange): Promise<Token> {
    const { database, cluster } = this.#deps;
    const known = await this.#find(database.read(), access, id);
    const { name: _, ...rights } = change;
    if (change.name === null) throw badInput('input.name: a token needs a name; leave it out to keep it.');
    if (change.name !== undefined) checkText(change.name, 'input.name', { max: 200 });
    const expiresAt = this.#checkEnd(change.expiresAt);
    const productIds = checkLimit(change.productIds, 'input.productIds');
    const deviceIds = checkLimit(change.deviceIds, 'input.deviceIds');
    const fields = checkFieldLimit(change.fields, known.scopes);
    const workspaceId = known.workspace?.id;
    if (workspaceId == null) checkPersonal(change);
    else {
      for (const scope of known.scopes) access.requireWorkspace(workspaceId, scope);
      await this.#requireAll('product', workspaceId, productIds);
      await this.#requireAll('device', workspaceId, deviceIds);
    }
    const token = await database.write(async (em) => {
      const workspaces = workspaceId == null ? {} : { workspaces: { id: workspaceId } };
      const present = await holdRights(em, access, this.#deps.now(), { ...workspaces, tokens: { id: known.id } });
      const found = await this.#find(em, present, id);
      if (workspaceId != null) for (const scope of found.scopes) present.requireWorkspace(workspaceId, scope);
      if (change.name !== undefined) found.name = change.name ?? found.name;
      if (change.expiresAt !== undefined) found.expiresAt = expiresAt;
      if (change.productIds !== undefined) found.productIds = productIds;
      if (change.deviceIds !== undefined) found.deviceIds = deviceIds;
      if (change.fields !== undefined) found.fields = fields;
      // Changed limits may be wider, so the caller grants whatever the token may do from now on.
      if (Object.values(rights).some((given) => given !== undefined)) present.requireOutlasts(found.expiresAt ?? null);
      return found;
    });
    await cluster.changed([{ kind: 'token', id: token.id }]);
    return token;
  }

  /**
   * Gives an INDIVIDUAL token of the workspace another secret, as ADMIN with every scope of it whom the token does not
   * outlast. The next request with the old one is rejected.
   */
  async renew(access: Access, id: string): Promise<CreatedToken> {
    const { database, cluster, now } = this.#deps;
    const known = await this.#find(database.read(), access, id);
    const workspaceId = known.workspace?.id;
    if (workspaceId == null) throw badInput('id: a PERSONAL token keeps its secret; make another and revoke this one.');
    const allow = (present: Access, { scopes, expiresAt }: Token): void => {
      for (const scope of ['ADMIN', ...scopes] as const) present.requireWorkspace(workspaceId, scope);
      present.requireOutlasts(expiresAt ?? null);
    };
    allow(access, known);
    const secret = newSecret();
    const token = await database.write(async (em) => {
      const held = { workspaces: { id: workspaceId }, tokens: { id: known.id } };
      const present = await holdRights(em, access, now(), held);
      const found = await this.#find(em, present, id);
      allow(present, found);
      found.hash = hashSecret(secret);
      return found;
    });
    await cluster.changed([{ kind: 'token', id: token.id }]);
    return { token, secret };
  }

  /**
   * Revokes the caller's own PERSONAL token, or as ADMIN an INDIVIDUAL token of the workspace. The next request with it
   * is rejected.
   */
  async revoke(access: Access, id: string): Promise<string> {
    const token = await this.#find(this.#deps.database.read(), access, id);
    await this.#deps.database.write((em) => em.nativeDelete(TokenSchema, { id: token.id }));
    await this.#deps.cluster.changed([{ kind: 'token', id: token.id }]);
    return token.id;
  }

  /** Ends the calling token if it was made by signing in; tokens made by createToken stay. */
  async signOut(access: Access): Promise<void> {
    if (access.signedIn) await this.revoke(access, access.tokenId);
  }

  /** The products that the token is limited to and that still exist; null: not limited that way. Showing them needs READ. */
  async productsOf(access: Access, token: Pick<Token, 'workspace' | 'productIds'>): Promise<Product[] | null> {
    if (token.productIds == null || token.workspace == null) return null;
    access.requireWorkspace(token.workspace.id, 'READ');
    const { id: workspaceId } = token.workspace;
    const where = { id: { $in: token.productIds } };
    const products = await this.#deps.database.read().find(ProductSchema, where, { orderBy: { key: 'asc' } });
    return products
      .filter((product) => product.workspace.id === workspaceId)
      .filter((product) => access.coversProduct(placeOfProduct(product)));
  }

  async #read(behind: (last: string | undefined) => FilterQuery<Token>, order: 'asc' | 'desc', most: number) {
    const tokens: Token[] = [];
    for (;;) {
      const limit = Math.min(READ_AT_ONCE, most - tokens.length);
      const options = { orderBy: { id: order }, limit, exclude: ['productIds', 'deviceIds', 'fields'] } as const;
      const rows = await this.#deps.database.read().find(TokenSchema, behind(tokens.at(-1)?.id), options);
      tokens.push(...(rows as Token[]));
      if (rows.length < limit || tokens.length === most) return tokens;
    }
  }

  /** The caller's own PERSONAL token, or as ADMIN an INDIVIDUAL token of the workspace; NOT_FOUND or FORBIDDEN else. */
  async #find(em: EntityManager, access: Access, id: string): Promise<Token> {
    const token = id.includes('\0') ? null : await em.findOne(TokenSchema, { id });
    const workspaceId = token?.workspace?.id;
    const visible = workspaceId == null ? token?.user?.id === access.userId : access.seesWorkspace(workspaceId);
    if (token === null || !visible) throw notFound('token', id);
    if (workspaceId != null) access.requireWorkspace(workspaceId, 'ADMIN');
    return token;
  }

  /** The expiry in milliseconds, null: never; BAD_USER_INPUT when it is past. */
  #checkEnd(expiresAt: number | null | undefined): number | null {
    if (expiresAt != null && expiresAt <= this.#deps.now()) throw badInput('input.expiresAt: must be in the future.');
    return expiresAt ?? null;
  }

  #createPersonal(access: Access, input: NewToken, expiresAt: number | null): Promise<CreatedToken> {
    const userId = access.requireUser();
    checkPersonal(input);
    const allow = (present: Access): void => present.requireOutlasts(expiresAt);
    allow(access);
    return this.#store({ name: input.name, kind: 'PERSONAL', user: userId, scopes: [], expiresAt }, async (em) => {
      allow(await holdRights(em, access, this.#deps.now()));
      await requireRoom(em, { user: userId, signedIn: false }, MAX_OF_USER, 'user');
    });
  }

  async #createIndividual(access: Access, input: NewToken, expiresAt: number | null): Promise<CreatedToken> {
    const workspaceId = input.workspaceId ?? soleWorkspace(access, 'input.workspaceId');
    access.requireWorkspace(workspaceId, 'ADMIN');
    const { scopes, productIds, deviceIds, fields } = checkIndividual(input);
    const allow = (present: Access): void => {
      for (const scope of ['ADMIN', ...scopes] as const) present.requireWorkspace(workspaceId, scope);
      present.requireOutlasts(expiresAt);
    };
    allow(access);
    await this.#requireAll('product', workspaceId, productIds);
    await this.#requireAll('device', workspaceId, deviceIds);
    const limits = { productIds, deviceIds, fields, expiresAt };
    return this.#store(
      { name: input.name, kind: 'INDIVIDUAL', workspace: workspaceId, scopes, ...limits },
      async (em) => {
        allow(await holdRights(em, access, this.#deps.now(), { workspaces: { id: workspaceId } }));
        await requireRoom(em, { workspace: workspaceId }, MAX_OF_WORKSPACE, 'workspace');
      },
    );
  }

  async #requireAll(what: 'product' | 'device', workspaceId: string, ids: string[] | null): Promise<void> {
    if (ids === null) return;
    const asked = ids.filter((id) => !id.includes('\0'));
    // Compare workspaces here: SQLite would go through all rows of the workspace.
    const rows = await this.#deps.database
      .read()
      .execute<{ id: string; workspaceId: string }[]>(
        `select id, workspace_id as "workspaceId" from ${what} where id in (${placeholders(asked) || 'null'})`,
        asked,
      );
    const found = new Set(rows.flatMap((row) => (row.workspaceId === workspaceId ? [row.id] : [])));
    const missing = ids.find((id) => !found.has(id));
    if (missing !== undefined) throw notFound(what, missing);
  }

  async #store(data: TokenData, hold: Hold): Promise<CreatedToken> {
    const secret = newSecret();
    // Return the token without its secret: the audit log keeps the transaction's result.
    const token = await this.#deps.database.write(async (em) => {
      await hold(em);
      return this.#add(em, secret, data);
    });
    return { token, secret };
  }

  #add(em: EntityManager, secret: string, token: TokenData): Token {
    return em.create(TokenSchema, {
      id: uuidV7(),
      hash: hashSecret(secret),
      createdAt: this.#deps.now(),
      lastUsedAt: null,
      user: null,
      workspace: null,
      productIds: null,
      deviceIds: null,
      fields: null,
      signedIn: false,
      ...token,
    });
  }
}

/** Ends the oldest sign-ins to make room for one; returns their ids. */
async function endOldSignIns(em: EntityManager, userId: string): Promise<string[]> {
  const options = { orderBy: { id: 'desc' }, offset: MAX_SIGN_INS - 1, limit: ENDED_AT_ONCE, fields: ['id'] } as const;
  const ids = (await em.find(TokenSchema, { user: userId, signedIn: true }, options)).map(({ id }) => id);
  if (ids.length > 0) await em.nativeDelete(TokenSchema, { id: { $in: ids } });
  return ids;
}

async function requireRoom(em: EntityManager, among: FilterQuery<Token>, most: number, whose: string): Promise<void> {
  if ((await em.count(TokenSchema, among)) >= most)
    throw badInput(`A ${whose} has at most ${most} tokens; revoke one first.`);
}

/** Throws unless the token may be made in this transaction, which locks all that this depends on. */
type Hold = (em: EntityManager) => Promise<void>;

interface TokenData {
  name: string;
  kind: Token['kind'];
  user?: string;
  workspace?: string;
  scopes: TokenScope[];
  productIds?: string[] | null;
  deviceIds?: string[] | null;
  fields?: string[] | null;
  expiresAt: number | null;
  signedIn?: boolean;
}
