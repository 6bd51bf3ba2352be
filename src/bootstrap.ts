import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from './domain/database.ts';
import { hashSecret } from './domain/tokens/authenticator.ts';
import { TokenSchema } from './domain/entities/token.ts';
import { newSecret } from './domain/tokens/token-service.ts';
import { type User, UserSchema } from './domain/entities/user.ts';
import { uuidV7 } from './domain/uuid.ts';
import { MemberSchema } from './domain/entities/member.ts';
import { WorkspaceSchema } from './domain/entities/workspace.ts';

const BOOTSTRAP_LOCK = 738_193_002;

interface BootstrapOptions {
  /** The setting ADMIN_TOKEN; null: one is generated on the first start. */
  adminToken: string | null;
  now: () => number;
}

interface Bootstrapped {
  /** The database was empty. */
  firstStart: boolean;
  /** A token that was generated and is known nowhere else: to be printed once. null: ADMIN_TOKEN was given, or not the first start. */
  generatedToken: string | null;
}

/**
 * On an empty database: the operator user, the workspace `default` and the operator's first personal token (CONTRACT 2).
 * Later: a changed ADMIN_TOKEN becomes another token of an operator. Safe when several nodes start at once.
 */
export function bootstrap(database: Database, { adminToken, now }: BootstrapOptions): Promise<Bootstrapped> {
  return database.write(async (em) => {
    if (database.dialect === 'postgres') await em.execute(`select pg_advisory_xact_lock(${BOOTSTRAP_LOCK})`);
    if ((await em.count(UserSchema)) === 0) {
      const secret = adminToken ?? newSecret();
      createToken(em, createOperator(em, now()), 'first token', secret, now());
      return { firstStart: true, generatedToken: adminToken === null ? secret : null };
    }
    if (adminToken !== null && (await em.count(TokenSchema, { hash: hashSecret(adminToken) })) === 0) {
      const operator = await findOperator(em);
      if (operator !== null) createToken(em, operator, 'ADMIN_TOKEN', adminToken, now());
    }
    return { firstStart: false, generatedToken: null };
  });
}

/** Another personal token of the first operator; resolves with its secret, which is kept nowhere. */
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
    hash: hashSecret(secret),
    createdAt,
    lastUsedAt: null,
    expiresAt: null,
  });
}
