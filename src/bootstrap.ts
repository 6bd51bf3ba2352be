import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/sql';
import type { Logger } from 'pino';
import { findSharedIdentities } from './domain/devices/shared-identities.ts';
import { DecoderVersionSchema } from './domain/entities/decoder-version.ts';
import { InstallationSchema } from './domain/entities/installation.ts';
import type { Database } from './domain/ports/database.ts';
import { hashSecret } from './domain/accounts/authenticator.ts';
import { TokenSchema } from './domain/entities/token.ts';
import { newSecret } from './domain/accounts/token-service.ts';
import { type User, UserSchema } from './domain/entities/user.ts';
import { uuidV7 } from './domain/text/uuid.ts';
import { MemberSchema } from './domain/entities/member.ts';
import { WorkspaceSchema } from './domain/entities/workspace.ts';

const BOOTSTRAP_LOCK = 738_193_002;

interface BootstrapOptions {
  /** Setting ADMIN_TOKEN; null: a token is generated on the first start. */
  adminToken: string | null;
  now: () => number;
}

interface Bootstrapped {
  /** Whether the database was empty. */
  firstStart: boolean;
  /**
   * Generated token, to be printed once, as it is stored nowhere; null: ADMIN_TOKEN was given, or not the first start.
   */
  generatedToken: string | null;
  /** ADMIN_TOKEN was revoked earlier and stays so. */
  adminTokenRevoked: boolean;
  /** Key that seals cursors and ids. */
  cursorKey: string;
  /** Name shared by the nodes on this database, under whatever URL each reaches it. */
  clusterName: string;
  /** A product has a decoder, so that processes that run decoders are worth their memory at once. */
  hasDecoders: boolean;
}

/**
 * Fills an empty database with the operator user, the workspace `default` and the operator's first personal token
 * (CONTRACT 2). On a later start a changed ADMIN_TOKEN becomes another token of an operator, unless it was one and has
 * been revoked. Safe when several nodes start at once.
 */
export function bootstrap(database: Database, { adminToken, now }: BootstrapOptions): Promise<Bootstrapped> {
  return database.write(async (em) => {
    if (database.dialect === 'postgres') await em.execute(`select pg_advisory_xact_lock(${BOOTSTRAP_LOCK})`);
    const cursorKey = await fact(em, 'cursor key', () => randomBytes(32).toString('hex'));
    if ((await em.count(UserSchema)) === 0) {
      const secret = adminToken ?? newSecret();
      const operator = createOperator(em, now());
      createToken(em, operator, 'first token', secret, now());
      const clusterName = await fact(em, 'cluster name', () => operator.id);
      if (adminToken !== null) await fact(em, adminTokenFact(adminToken), () => String(now()));
      const generatedToken = adminToken === null ? secret : null;
      return { firstStart: true, generatedToken, adminTokenRevoked: false, cursorKey, clusterName, hasDecoders: false };
    }
    // Stored, as the first user may be deleted later and new nodes must still find the others.
    const clusterName = await fact(em, 'cluster name', () => firstUserId(em));
    const known = adminToken === null || (await em.count(TokenSchema, { hash: hashSecret(adminToken) })) > 0;
    let adminTokenRevoked = false;
    if (!known) {
      adminTokenRevoked = (await em.count(InstallationSchema, { name: adminTokenFact(adminToken) })) > 0;
      const operator = await findOperator(em);
      if (operator !== null && !adminTokenRevoked) {
        createToken(em, operator, 'ADMIN_TOKEN', adminToken, now());
        await fact(em, adminTokenFact(adminToken), () => String(now()));
      }
    }
    const hasDecoders = (await em.find(DecoderVersionSchema, {}, { limit: 1, fields: ['version'] })).length > 0;
    return { firstStart: false, generatedToken: null, adminTokenRevoked, cursorKey, clusterName, hasDecoders };
  });
}

/** Makes another personal token of the first operator; resolves with its secret, which is stored nowhere. */
export function createOperatorToken(database: Database, name: string, now: () => number): Promise<string> {
  return database.write(async (em) => {
    const operator = await findOperator(em);
    if (operator === null) throw new Error('the database is empty: the first start of the server prints a token');
    const secret = newSecret();
    createToken(em, operator, name, secret, now());
    return secret;
  });
}

function findOperator(em: EntityManager): Promise<User | null> {
  return em.findOne(UserSchema, { operator: true }, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

async function firstUserId(em: EntityManager): Promise<string> {
  const oldestFirst = { orderBy: { createdAt: 'asc', id: 'asc' } } as const;
  return (await em.findOneOrFail(UserSchema, { id: { $ne: '' } }, oldestFirst)).id;
}

function adminTokenFact(adminToken: string): string {
  return `admin token ${hashSecret(adminToken)}`;
}

/** A fact of the installation, made now if it is missing. */
async function fact(em: EntityManager, name: string, make: () => string | Promise<string>): Promise<string> {
  const known = await em.findOne(InstallationSchema, { name });
  return (known ?? em.create(InstallationSchema, { name, value: await make() })).value;
}

function createOperator(em: EntityManager, createdAt: number): User {
  const user = em.create(UserSchema, {
    id: uuidV7(),
    email: 'operator@localhost',
    name: 'Operator',
    passwordHash: null,
    operator: true,
    createdAt,
  });
  const workspace = em.create(WorkspaceSchema, { id: uuidV7(), name: 'default', writeRate: null, createdAt });
  em.create(MemberSchema, { workspace, user, role: 'ADMIN' });
  return user;
}

function createToken(em: EntityManager, user: User, name: string, secret: string, createdAt: number): void {
  em.create(TokenSchema, {
    id: uuidV7(),
    name,
    kind: 'PERSONAL',
    user,
    workspace: null,
    scopes: [],
    productIds: null,
    deviceIds: null,
    fields: null,
    hash: hashSecret(secret),
    createdAt,
    lastUsedAt: null,
    expiresAt: null,
    signedIn: false,
  });
}

/** Warns of EUIs and core ids that several devices share; calls for them are kept until all but one are renamed. */
export async function tellSharedIdentities(database: Database, log: Pick<Logger, 'warn'>): Promise<void> {
  try {
    const shared = await findSharedIdentities(database);
    const facts = { shared: shared.slice(0, 10), count: shared.length };
    if (shared.length > 0)
      log.warn(
        facts,
        'several devices have one EUI or core id: what a network sends for it is kept (unknownDevices); rename or delete all but one',
      );
  } catch (error) {
    log.warn({ err: error }, 'looking for devices that have one EUI or core id');
  }
}
