/** Where everything is kept. */
export type DatabaseSetting =
  | { kind: 'sqlite'; path: string; inMemory: false }
  | { kind: 'sqlite'; inMemory: true }
  | { kind: 'postgres'; url: string };

/** Adds what is wrong to `mistakes`. */
interface Read {
  isUrl: (value: string, protocols: string[]) => boolean;
  mistakes: string[];
}

const PROTOCOLS = ['postgres:', 'postgresql:'];
const MAX_REPLICAS = 16;

/** Parses `DATABASE_URL`; of one that is wrong there is a mistake, and some setting. */
export function readDatabase(value: string, { isUrl, mistakes }: Read): DatabaseSetting {
  if (value.startsWith('sqlite:')) {
    const path = value.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
    if (path === ':memory:') return { kind: 'sqlite', inMemory: true };
    if (path !== '' && !path.startsWith('//')) return { kind: 'sqlite', path, inMemory: false };
  } else if (isUrl(value, PROTOCOLS)) return { kind: 'postgres', url: value };
  // The value may hold a password: name the setting only.
  mistakes.push('DATABASE_URL: expected sqlite:PATH, sqlite::memory: or postgres://user:password@host:port/database.');
  return { kind: 'sqlite', inMemory: true };
}

/** Parses `DATABASE_REPLICA_URLS`, which only PostgreSQL has. */
export function readReplicas(value: string, { kind }: DatabaseSetting, { isUrl, mistakes }: Read): string[] {
  const urls = value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (urls.length === 0) return [];
  if (kind !== 'postgres') {
    mistakes.push('DATABASE_REPLICA_URLS: only with PostgreSQL as DATABASE_URL; SQLite has no replicas.');
    return [];
  }
  // The values may hold passwords: count them only.
  for (const [at, url] of urls.entries())
    if (!isUrl(url, PROTOCOLS))
      mistakes.push(
        `DATABASE_REPLICA_URLS: number ${at + 1}: expected postgres://user:password@host:port/database (a comma in it as %2C).`,
      );
  if (urls.length > MAX_REPLICAS) mistakes.push(`DATABASE_REPLICA_URLS: expected at most ${MAX_REPLICAS} URLs.`);
  return urls;
}

/** Checks what several workers need. */
export function checkSeveral({ kind }: DatabaseSetting, redisUrl: string | null, mistakes: string[]): void {
  if (kind === 'sqlite')
    mistakes.push('WORKERS: several need PostgreSQL as DATABASE_URL; a SQLite file belongs to one process.');
  else if (redisUrl === null)
    mistakes.push('WORKERS: several need REDIS_URL, by which they tell each other what has changed.');
}
