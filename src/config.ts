import { availableParallelism } from 'node:os';
import { checkSeveral, type DatabaseSetting, readDatabase, readReplicas } from './database-settings.ts';
import { type MqttSettings, readMqttSettings } from './mqtt-settings.ts';
import { type MapTileSettings, readMapTiles } from './map-tile-settings.ts';
import { type DeviceTags, readDeviceTags } from './domain/lines/device-tags.ts';
import { PLAN_SLUGS, type RetentionDays } from './domain/plans/plans.ts';

/**
 * Every setting of the server (CONTRACT 2), read once and never changed. A comment that begins with a variable is its row
 * in docs/operating.md: its default in brackets, then its meaning; `npm test -- test/docs.test.ts` says what differs.
 */
export interface Config {
  /** `HOST` (`0.0.0.0`): The address to listen on. */
  readonly host: string;
  /** `PORT` (`8080`): The port to listen on; 0 picks a free one, printed in the log line `listening`. */
  readonly port: number;
  /**
   * `BASE_URL` (http://localhost:PORT): What webhook URLs begin with, and where the console's own pages are; needed
   * behind a proxy that changes `Host`.
   */
  readonly baseUrl: string | null;
  /**
   * `ALLOWED_ORIGINS` (none): Origins whose pages may use `/graphql`, its WebSockets and `/v1/`, and frame public
   * links, such as `https://dashboard.example.org`, separated by commas; `*`: any. They send a token, never a cookie.
   */
  readonly allowedOrigins: ReadonlySet<string>;
  /**
   * `DATABASE_URL` (`sqlite:data/inlet.db`): `sqlite:PATH`, `sqlite::memory:` or
   * `postgres://user:password@host/database`.
   */
  readonly database: DatabaseSetting;
  /**
   * `DATABASE_REPLICA_URLS` (none): Streaming replicas of the PostgreSQL database that answer history, statistics and
   * exports, as its own URL, separated by commas.
   */
  readonly replicaUrls: readonly string[];
  /** `REDIS_URL` (none): Needed as soon as several nodes, or workers, share a PostgreSQL database. */
  readonly redisUrl: string | null;
  /**
   * `WORKERS` (`1`): Server processes behind the port, each a node of its own; more than one need PostgreSQL and
   * `REDIS_URL`.
   */
  readonly workers: number;
  /**
   * `ADMIN_TOKEN` (generated): The operator's first personal token, 32 to 512 characters; another one at a later start
   * adds a token.
   */
  readonly adminToken: string | null;
  /**
   * `WRITE_RATE_PER_FIELD` (`1`): Maximum writes per second for each device and field on the record endpoint; 0: no
   * limit.
   */
  readonly writeRatePerField: number;
  /** `MAX_BODY_BYTES` (`1048576`): Maximum bytes per request body, WebSocket message or payload of MQTT; files may have any number. */
  readonly maxBodyBytes: number;
  /**
   * `CLIENT_IDLE_SECONDS` (`30`): Maximum pause of a client in the middle of a body (then 408) or of reading an answer.
   */
  readonly clientIdleMs: number;
  /**
   * `CONNECTIONS_PER_ADDRESS` (`10000`): Maximum open connections per address; 0: no limit. Behind proxies those that are
   * busy for an address count, and a proxy itself may hold ten times as many.
   */
  readonly connectionsPerAddress: number;
  readonly anonymous: {
    /**
     * `ANONYMOUS_PER_MINUTE` (`6000`): Maximum requests per minute and address without a valid token (unknown tokens and
     * webhooks, GraphQL without a token), then 429; 0: no limit.
     */
    readonly perMinute: number;
    /**
     * `TRUSTED_PROXIES` (`0`): How many proxies stand in front and add the address that they see to `X-Forwarded-For`.
     */
    readonly trustedProxies: number;
  };
  readonly outgoing: {
    /**
     * `WEBHOOK_PRIVATE_NETWORKS` (`refuse`): Whether calls of endpoints may go to private networks, such as 10.0.0.0/8
     * and fc00::/7: `refuse` or `allow`.
     */
    readonly allowPrivateNetworks: boolean;
    /**
     * `WEBHOOK_ALLOWED_HOSTS` (none): Hosts that endpoints may call wherever they are, also on this machine, as they
     * stand in the URL, separated by commas: `localhost,10.1.2.3`.
     */
    readonly allowedHosts: ReadonlySet<string>;
    readonly mail: {
      /** `SMTP_URL` (none): The mail server of `EMAIL` endpoints, such as `smtp://user:password@mail.example.org:587`. */
      readonly url: string;
      /** `SMTP_FROM` (inlet@ the mail server): The sender of mails, such as `Inlet <inlet@example.org>`. */
      readonly from: string;
    } | null;
  };
  /** `MAX_FUTURE_SECONDS` (`86400`): How far ahead of the clock a timestamp may lie. */
  readonly maxFutureMs: number;
  /**
   * `PLAN_RETENTION_DAYS` (none): For how many days a plan keeps history, such as `free=90,standard=365`; a plan that
   * is not named: for ever.
   */
  readonly planRetentionDays: RetentionDays;
  /** `LIVE_WINDOW_SECONDS` (`3600`): How far back live values can be resumed; older values go into chunks. */
  readonly liveWindowMs: number;
  readonly decoder: {
    /** `DECODER_TIMEOUT_MS` (`250`): Maximum processor time per run of a decoder. */
    readonly timeoutMs: number;
    /** `DECODER_MEMORY_MB` (`64`): Maximum memory per run of a decoder. */
    readonly memoryMb: number;
    /** `DECODER_PROCESSES` (cores − 1): Decoder processes, at least 1 for each worker; started once there is a decoder. */
    readonly processes: number;
  };
  readonly callLog: {
    /** `CALL_LOG_DAYS` (`30`): How long logged calls are kept. */
    readonly days: number;
    /** `CALL_LOG_BODY_BYTES` (`65536`): How much of a call's body is kept. */
    readonly bodyBytes: number;
  };
  /** `AUDIT_LOG_DAYS` (`365`): How long entries of the audit log are kept. */
  readonly auditLogDays: number;
  /**
   * `LOG_LEVEL` (`info`): JSON lines on stdout from this level on: `trace`, `debug` (one for each request), `info`,
   * `warn`, `error`, `fatal`, `silent`.
   */
  readonly logLevel: LogLevel;
  /** `METRICS_PORT` (none): A port for `/metrics` without a token, beside `/metrics` for ADMIN tokens. */
  readonly metricsPort: number | null;
  readonly backups: {
    /** `BACKUP_DIR` (none): A folder that gets a copy of the SQLite file each day (UTC). */
    readonly folder: string;
    /** `BACKUP_KEEP` (`7`): How many of these copies stay. */
    readonly keep: number;
  } | null;
  /**
   * `SHUTDOWN_GRACE_MS` (`250`): How long a server that stops serves on while `readyz` says 503; longer than two health
   * checks.
   */
  readonly shutdownGraceMs: number;
  readonly mqtt: MqttSettings;
  readonly mapTiles: MapTileSettings | null;
  /**
   * `LINE_DEVICE_TAGS` (`device,host`): The tags of line protocol that name the device: the first that a line has;
   * `measurement+id` joins several by `-`.
   */
  readonly lineDeviceTags: DeviceTags;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Least severe level that is logged (`LOG_LEVEL`, CONTRACT 2). */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lists all mistakes of the environment at once. */
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

/** A valid setting whose target cannot be used. The message is all the operator needs. */
export class StartError extends Error {
  constructor(setting: string, what: string, cause: unknown) {
    // Several refused addresses are one error without a message.
    const errors: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
    const reasons = errors.map((error) => (error instanceof Error ? error.message : String(error)));
    super(`Inlet cannot start: ${setting}: ${what}: ${reasons.join('; ').replace(/(?<!\s)\s*\n\s*/g, ' ')}`, { cause });
    this.name = 'StartError';
  }
}

/** Removes slashes at the end, so that paths can be appended. */
export function withoutEndSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

/** Reads the environment; nothing else does. Throws ConfigError. */
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

  const readChoice = <Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice => {
    const value = text(name) ?? choices[0];
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) mistakes.push(`${name}="${shown(value)}": expected one of ${choices.join(', ')}.`);
    return chosen ?? choices[0];
  };

  const baseUrl = text('BASE_URL');
  if (baseUrl !== null && !isUrl(baseUrl, ['http:', 'https:']))
    mistakes.push(`BASE_URL="${shown(baseUrl)}": expected a URL such as https://inlet.example.org.`);

  const redisUrl = text('REDIS_URL');
  if (redisUrl !== null && !isUrl(redisUrl, ['redis:', 'rediss:']))
    mistakes.push('REDIS_URL: expected a URL such as redis://localhost:6379.');

  const database = readDatabase(text('DATABASE_URL') ?? 'sqlite:data/inlet.db', { isUrl, mistakes });
  const workers = whole('WORKERS', 1, 1, 64);
  if (workers > 1) checkSeveral(database, redisUrl, mistakes);

  const adminToken = text('ADMIN_TOKEN');
  if (adminToken !== null && (adminToken.length < 32 || adminToken.length > 512 || !/^[\x21-\x7e]+$/.test(adminToken)))
    mistakes.push('ADMIN_TOKEN: expected 32 to 512 visible ASCII characters without blanks (its value is not shown).');

  const logLevel = text('LOG_LEVEL') ?? 'info';
  if (!isLogLevel(logLevel)) mistakes.push(`LOG_LEVEL="${shown(logLevel)}": expected one of ${LOG_LEVELS.join(', ')}.`);

  const backupFolder = text('BACKUP_DIR');
  if (backupFolder !== null && (database.kind === 'postgres' || database.inMemory))
    mistakes.push('BACKUP_DIR: only for a SQLite file; on PostgreSQL use pg_dump.');

  const config: Config = {
    host: text('HOST') ?? '0.0.0.0',
    port: whole('PORT', 8080, 0, 65_535),
    baseUrl: baseUrl === null ? null : withoutEndSlashes(baseUrl),
    allowedOrigins: readOrigins(text('ALLOWED_ORIGINS') ?? '', mistakes),
    database,
    replicaUrls: readReplicas(text('DATABASE_REPLICA_URLS') ?? '', database, { isUrl, mistakes }),
    redisUrl,
    workers,
    adminToken,
    writeRatePerField: number('WRITE_RATE_PER_FIELD', 1, { min: 0, max: 1e6, whole: false }),
    maxBodyBytes: whole('MAX_BODY_BYTES', 1_048_576, 1, 256 * 1_048_576),
    clientIdleMs: whole('CLIENT_IDLE_SECONDS', 30, 1, 600) * 1000,
    connectionsPerAddress: whole('CONNECTIONS_PER_ADDRESS', 10_000, 0, 1_000_000),
    anonymous: {
      perMinute: whole('ANONYMOUS_PER_MINUTE', 6_000, 0, 1_000_000),
      trustedProxies: whole('TRUSTED_PROXIES', 0, 0, 10),
    },
    outgoing: {
      allowPrivateNetworks: readChoice('WEBHOOK_PRIVATE_NETWORKS', ['refuse', 'allow']) === 'allow',
      allowedHosts: readHosts(text('WEBHOOK_ALLOWED_HOSTS') ?? '', mistakes),
      mail: readMail(text('SMTP_URL'), text('SMTP_FROM'), mistakes),
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
    metricsPort: text('METRICS_PORT') === null ? null : whole('METRICS_PORT', 0, 0, 65_535),
    backups: backupFolder === null ? null : { folder: backupFolder, keep: whole('BACKUP_KEEP', 7, 1, 10_000) },
    shutdownGraceMs: whole('SHUTDOWN_GRACE_MS', 250, 0, 15_000),
    mqtt: readMqttSettings({ text, whole, choice: readChoice, isUrl, mistakes }),
    mapTiles: readMapTiles(text, isUrl, mistakes),
    lineDeviceTags: readDeviceTags(text('LINE_DEVICE_TAGS') ?? 'device,host', mistakes),
  };
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return Object.freeze(config);
}

/** Parses `https://one.example,http://localhost:3000`: origins as browsers send them. */
function readOrigins(value: string, mistakes: string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const part of value.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const url = isUrl(part, ['http:', 'https:']) ? new URL(part) : null;
    if (part === '*') found.add(part);
    else if (url !== null && url.href === `${url.origin}/`) found.add(url.origin);
    else mistakes.push(`ALLOWED_ORIGINS: "${shown(part)}": expected * or an origin such as https://dash.example.org.`);
  }
  return found;
}

/** Parses `localhost,10.1.2.3,[::1]`: hosts as URLs have them. */
function readHosts(value: string, mistakes: string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const part of value.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const written = part.includes(':') && !part.startsWith('[') ? `[${part}]` : part;
    const url = URL.canParse(`http://${written}/`) ? new URL(`http://${written}/`) : null;
    if (url !== null && url.href === `http://${url.hostname}/`) found.add(url.hostname.replace(/^\[(.*)\]$/, '$1'));
    else
      mistakes.push(
        `WEBHOOK_ALLOWED_HOSTS: "${shown(part)}": expected a host name or address without scheme and port.`,
      );
  }
  return found;
}

function readMail(url: string | null, sender: string | null, mistakes: string[]): Config['outgoing']['mail'] {
  const isMail = url !== null && isUrl(url, ['smtp:', 'smtps:']) && new URL(url).hostname !== '';
  // The value may hold a password: name the setting only.
  if (url !== null && !isMail) mistakes.push('SMTP_URL: expected a URL such as smtp://user:password@mail.example.org.');
  if (sender !== null && !/^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(sender))
    mistakes.push(`SMTP_FROM="${shown(sender)}": expected an address such as Inlet <inlet@example.org>.`);
  return url === null || !isMail ? null : { url, from: sender ?? `inlet@${new URL(url).hostname}` };
}

const MOST_DAYS = 36_500;

/** Parses `free=90,standard=365`. */
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

function isUrl(value: string, protocols: string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol);
}

function isLogLevel(value: string): value is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(value);
}

function shown(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}
