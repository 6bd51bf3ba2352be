import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../src/config.ts';
import { ServerProcess } from './support/server-process.ts';

test('without settings there are the defaults of the contract', () => {
  expect(readConfig({})).toMatchObject({
    host: '0.0.0.0',
    port: 8080,
    baseUrl: null,
    database: { kind: 'sqlite', path: 'data/inlet.db' },
    redisUrl: null,
    adminToken: null,
    writeRatePerField: 1,
    maxBodyBytes: 1_048_576,
    maxFutureMs: 86_400_000,
    decoder: { timeoutMs: 250, memoryMb: 64 },
    callLog: { days: 30, bodyBytes: 65_536 },
    logLevel: 'info',
  });
});

test('every mistake is named in one message, and no secret is shown', () => {
  const wrong = {
    PORT: '99999',
    BASE_URL: 'inlet',
    DATABASE_URL: 'mysql://root:hunter2@db/x',
    DATABASE_REPLICA_URLS: 'mysql://root:hunter2@db/y',
    REDIS_URL: 'localhost',
    ADMIN_TOKEN: 'short-secret',
    WRITE_RATE_PER_FIELD: '-1',
    MAX_BODY_BYTES: '1.5',
    DECODER_TIMEOUT_MS: 'soon',
    LOG_LEVEL: 'loud',
    MQTT_DATACAKE: 'yes',
    MQTT_SOURCE_URL: 'tcp://user:hunter2@broker',
    MQTT_SOURCE_TOKEN: '',
    MQTT_SOURCE_TOPICS: 'v1/+/+,tele/#/SENSOR',
    MQTT_SOURCE_WEBHOOK: 'short-secret',
    MQTT_SOURCE_RETAINED: 'true',
    MAP_TILES_URL: 'https://tiles.example.org/{z}/{x}.png?key=short-secret',
  };
  const error = (() => {
    try {
      readConfig(wrong);
    } catch (caught) {
      return caught;
    }
    return null;
  })();
  expect(error).toBeInstanceOf(ConfigError);
  const { message, mistakes } = error as ConfigError;
  for (const name of Object.keys(wrong)) expect(message).toContain(name);
  expect(mistakes).toHaveLength(Object.keys(wrong).length);
  expect(message).not.toMatch(/hunter2|short-secret/);
});

test('a server with wrong settings ends at once with that message', async () => {
  await expect(ServerProcess.start({ PORT: 'x', LOG_LEVEL: 'y' })).rejects.toThrow(
    /2 wrong setting[\s\S]*LOG_LEVEL[\s\S]*PORT/,
  );
});

test('what a setting names but cannot be had ends the start with one line that names the setting', async () => {
  const start = (env: Record<string, string>): Promise<ServerProcess> =>
    ServerProcess.start({ DATABASE_URL: 'sqlite::memory:', ...env });
  await expect(start({ DATABASE_URL: 'postgres://inlet:hunter2@127.0.0.1:1/x' })).rejects.toThrow(
    /^server ended with 1: Inlet cannot start: DATABASE_URL: the database cannot be opened: .*ECONNREFUSED.*\n \[\]$/,
  );
  const server = await start({});
  await expect(start({ PORT: String(server.port) })).rejects.toThrow(
    /Inlet cannot start: HOST, PORT: cannot listen: .*EADDRINUSE/,
  );
  await server.stop();
});

test('PLAN_RETENTION_DAYS names plans and days; each mistake in it is told', () => {
  const read = (value: string): unknown => readConfig({ PLAN_RETENTION_DAYS: value }).planRetentionDays;
  expect(readConfig({}).planRetentionDays).toEqual({});
  expect(read('free=90')).toEqual({ free: 90 });
  expect(read(' free = 90 , standard=365,unlimited=36500')).toEqual({ free: 90, standard: 365, unlimited: 36_500 });
  expect(() => read('gold=3,free=0,standard=1.5,free,unlimited=9,unlimited=8,,')).toThrow(
    /7 wrong[^]*"gold=3": expected PLAN=DAYS[^]*"free=0": expected a whole number[^]*"standard=1.5"[^]*"free": expected PLAN=DAYS[^]*"unlimited=8": this plan is there twice/,
  );
});

test('replicas are PostgreSQL’s alone, each by a URL', () => {
  const urls = 'postgres://u:hunter2@a/inlet, postgres://u:hunter2@b:5433/inlet,';
  const database = 'postgres://u@primary/inlet';
  expect(readConfig({ DATABASE_URL: database, DATABASE_REPLICA_URLS: urls }).replicaUrls).toEqual([
    'postgres://u:hunter2@a/inlet',
    'postgres://u:hunter2@b:5433/inlet',
  ]);
  expect(() => readConfig({ DATABASE_REPLICA_URLS: urls })).toThrow(/only with PostgreSQL as DATABASE_URL/);
  expect(() => readConfig({ DATABASE_URL: database, DATABASE_REPLICA_URLS: `${urls} sqlite:x` })).toThrow(
    /number 3: expected postgres:/,
  );
});
