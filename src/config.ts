import { availableParallelism } from 'node:os';
import { PLAN_SLUGS, type RetentionDays } from './domain/plans/plans.ts';

type DatabaseSetting =
  | { kind: 'sqlite'; path: string; inMemory: false }
  | { kind: 'sqlite'; inMemory: true }
  | { kind: 'postgres'; url: string };

/** Every setting of the server (CONTRACT 2), read once and never changed. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Without a final slash; null: `http://localhost:PORT`, known only once the port is bound. */
  readonly baseUrl: string | null;
  readonly database: DatabaseSetting;
  readonly redisUrl: string | null;
  readonly adminToken: string | null;
  /** Writes per second for each device and field; 0: no limit. */
  readonly writeRatePerField: number;
  readonly maxBodyBytes: number;
  /** How long a client may stop in the middle of a body, leave an answer unread or a new connection silent. */
  readonly clientIdleMs: number;
  /** Connections that one address may hold; 0: any number. */
  readonly connectionsPerAddress: number;
  /** What one address may ask for without a valid token in a minute (0: any number), and whose word counts for it. */
  readonly anonymous: { readonly perMinute: number; readonly trustedProxies: number };
  readonly maxFutureMs: number;
  /** For so many days a plan keeps history; one that is not named: for ever. */
  readonly planRetentionDays: RetentionDays;
  /** How far back live values can be resumed: until then values stay as they came, then they go into chunks. */
  readonly liveWindowMs: number;
  readonly decoder: { readonly timeoutMs: number; readonly memoryMb: number; readonly processes: number };
  readonly callLog: { readonly days: number; readonly bodyBytes: number };
  /** How long the audit log is kept, in days. */
  readonly auditLogDays: number;
  readonly logLevel: LogLevel;
  /** Which GraphQL operations are compiled; anything but `seen` is for tests. */
  readonly graphqlCompile: GraphqlCompile;
  /** Where the metrics are told without a token; null: only on `/metrics`, to ADMIN tokens. */
  readonly metricsPort: number | null;
  /** Where a copy of the SQLite file is put each day, and how many stay; null: nowhere. */
  readonly backups: { readonly folder: string; readonly keep: number } | null;
  /** How long a server that stops serves on while `readyz` says 503 already. */
  readonly shutdownGraceMs: number;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** How much is logged (`LOG_LEVEL`, CONTRACT 2): lines of this level and above. */
export type LogLevel = (typeof LOG_LEVELS)[number];
const GRAPHQL_COMPILE = ['seen', 'none', 'compare'] as const;
type GraphqlCompile = (typeof GRAPHQL_COMPILE)[number];

/** All mistakes of the environment at once. */
export class ConfigError extends Error {
  readonly mistakes: string[];

  constructor(mistakes: string[]) {
    super(
      `Inlet cannot start, ${mistakes.length} wrong setting(s):\n${mistakes.map((text) => `  - ${text}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

/** A setting that reads well, but what it names cannot be had. Its message is all the operator needs. */
export class StartError extends Error {
  constructor(setting: string, what: string, cause: unknown) {
    // Several addresses refused are one error without a message.
    const errors: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
    const reasons = errors.map((error) => (error instanceof Error ? error.message : String(error)));
    super(`Inlet cannot start: ${setting}: ${what}: ${reasons.join('; ').replace(/(?<!\s)\s*\n\s*/g, ' ')}`, { cause });
    this.name = 'StartError';
  }
}

/** A server's URL, as paths are put behind it. */
export function withoutEndSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

/** The only reader of the environment. Throws ConfigError. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const mistakes: string[] = [];
  const text = (name: string): string | null => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const number = (
    name: string,
    fallback: number,
    { min, max, whole }: { min: number; max: number; whole: boolean },
  ): number => {
    const value = text(name);
    if (value === null) return fallback;
    const parsed = Number(value);
    if (Number.isFinite(parsed) && parsed >= min && parsed <= max && (!whole || Number.isInteger(parsed)))
      return parsed;
    mistakes.push(`${name}="${shown(value)}": expected a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`);
    return fallback;
  };
  const whole = (name: string, fallback: number, min: number, max: number): number =>
    number(name, fallback, { min, max, whole: true });

  const baseUrl = text('BASE_URL');
  if (baseUrl !== null && !isUrl(baseUrl, ['http:', 'https:']))
    mistakes.push(`BASE_URL="${shown(baseUrl)}": expected a URL such as https://inlet.example.org.`);

  const redisUrl = text('REDIS_URL');
  if (redisUrl !== null && !isUrl(redisUrl, ['redis:', 'rediss:']))
    mistakes.push('REDIS_URL: expected a URL such as redis://localhost:6379.');

  const adminToken = text('ADMIN_TOKEN');
  if (adminToken !== null && (adminToken.length < 32 || adminToken.length > 512 || !/^[\x21-\x7e]+$/.test(adminToken)))
    mistakes.push('ADMIN_TOKEN: expected 32 to 512 visible ASCII characters without blanks (its value is not shown).');

  const logLevel = text('LOG_LEVEL') ?? 'info';
  if (!isLogLevel(logLevel)) mistakes.push(`LOG_LEVEL="${shown(logLevel)}": expected one of ${LOG_LEVELS.join(', ')}.`);

  const graphqlCompile = GRAPHQL_COMPILE.find((mode) => mode === (text('GRAPHQL_COMPILE') ?? 'seen'));
  if (graphqlCompile === undefined) mistakes.push(`GRAPHQL_COMPILE: expected one of ${GRAPHQL_COMPILE.join(', ')}.`);

  const database = readDatabase(text('DATABASE_URL') ?? 'sqlite:data/inlet.db', mistakes);
  const backupFolder = text('BACKUP_DIR');
  if (backupFolder !== null && (database.kind === 'postgres' || database.inMemory))
    mistakes.push('BACKUP_DIR: only for a SQLite file; on PostgreSQL use pg_dump.');

  const config: Config = {
    host: text('HOST') ?? '0.0.0.0',
    port: whole('PORT', 8080, 0, 65_535),
    baseUrl: baseUrl === null ? null : withoutEndSlashes(baseUrl),
    database,
    redisUrl,
    adminToken,
    writeRatePerField: number('WRITE_RATE_PER_FIELD', 1, { min: 0, max: 1e6, whole: false }),
    maxBodyBytes: whole('MAX_BODY_BYTES', 1_048_576, 1, 256 * 1_048_576),
    clientIdleMs: whole('CLIENT_IDLE_SECONDS', 30, 1, 600) * 1000,
    connectionsPerAddress: whole('CONNECTIONS_PER_ADDRESS', 10_000, 0, 1_000_000),
    anonymous: {
      perMinute: whole('ANONYMOUS_PER_MINUTE', 6_000, 0, 1_000_000),
      trustedProxies: whole('TRUSTED_PROXIES', 0, 0, 10),
    },
    planRetentionDays: readRetention(text('PLAN_RETENTION_DAYS') ?? '', mistakes),
    maxFutureMs: number('MAX_FUTURE_SECONDS', 86_400, { min: 0, max: 1e10, whole: false }) * 1000,
    liveWindowMs: whole('LIVE_WINDOW_SECONDS', 3_600, 10, 7 * 86_400) * 1000,
    decoder: {
      timeoutMs: whole('DECODER_TIMEOUT_MS', 250, 1, 60_000),
      memoryMb: whole('DECODER_MEMORY_MB', 64, 8, 4096),
      processes: whole('DECODER_PROCESSES', Math.max(1, availableParallelism() - 1), 1, 256),
    },
    auditLogDays: number('AUDIT_LOG_DAYS', 365, { min: 0, max: 36_500, whole: false }),
    callLog: {
      days: number('CALL_LOG_DAYS', 30, { min: 0, max: 36_500, whole: false }),
      bodyBytes: whole('CALL_LOG_BODY_BYTES', 65_536, 0, 16 * 1_048_576),
    },
    logLevel: isLogLevel(logLevel) ? logLevel : 'info',
    graphqlCompile: graphqlCompile ?? 'seen',
    metricsPort: text('METRICS_PORT') === null ? null : whole('METRICS_PORT', 0, 0, 65_535),
    backups: backupFolder === null ? null : { folder: backupFolder, keep: whole('BACKUP_KEEP', 7, 1, 10_000) },
    shutdownGraceMs: whole('SHUTDOWN_GRACE_MS', 250, 0, 15_000),
  };
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return Object.freeze(config);
}

const MOST_DAYS = 36_500;

/** `free=90,standard=365`. */
function readRetention(value: string, mistakes: string[]): RetentionDays {
  const found: RetentionDays = {};
  for (const part of value === '' ? [] : value.split(',')) {
    const at = part.indexOf('=');
    const [name, days] = at < 0 ? ['', ''] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    const plan = PLAN_SLUGS.find((slug) => slug === name);
    const number = /^\d{1,5}$/.test(days) ? Number(days) : 0;
    const wrong = (what: string): unknown => mistakes.push(`PLAN_RETENTION_DAYS: "${shown(part)}": ${what}`);
    if (plan === undefined) wrong(`expected PLAN=DAYS, for example free=90, with a plan of ${PLAN_SLUGS.join(', ')}.`);
    else if (number < 1 || number > MOST_DAYS) wrong(`expected a whole number of days from 1 to ${MOST_DAYS}.`);
    else if (found[plan] !== undefined) wrong('this plan is there twice.');
    else found[plan] = number;
  }
  return found;
}

function readDatabase(value: string, mistakes: string[]): DatabaseSetting {
  if (value.startsWith('sqlite:')) {
    const path = value.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
    if (path === ':memory:') return { kind: 'sqlite', inMemory: true };
    if (path !== '' && !path.startsWith('//')) return { kind: 'sqlite', path, inMemory: false };
  } else if (isUrl(value, ['postgres:', 'postgresql:'])) return { kind: 'postgres', url: value };
  // The value may hold a password: name the setting only.
  mistakes.push('DATABASE_URL: expected sqlite:PATH, sqlite::memory: or postgres://user:password@host:port/database.');
  return { kind: 'sqlite', inMemory: true };
}

function isUrl(value: string, protocols: string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol);
}

function isLogLevel(value: string): value is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(value);
}

function shown(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}
