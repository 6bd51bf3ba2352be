import type { Server } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/sql';
import type { Logger } from 'pino';
import { Closers } from './closers.ts';
import { LocalCluster } from './cluster/local-cluster.ts';
import { type Config, StartError } from './config.ts';
import { CommitsInDoubt } from './database/commits-in-doubt.ts';
import { type DatabaseGuard, guarded } from './database/database-guard.ts';
import { OrmDatabase } from './database/orm-database.ts';
import type { Database, Dialect } from './domain/ports/database.ts';
import { bootstrap, tellSharedIdentities } from './bootstrap.ts';
import type { Cluster } from './domain/ports/cluster.ts';
import { sealWith } from './domain/text/sealed-text.ts';
import type { WriteTurns } from './domain/ports/database.ts';
import type { MeasurementStore } from './domain/ports/store.ts';
import { StoredReceiptMarks } from './domain/measurements/receipt-marks.ts';
import type { NodePlace } from './domain/measurements/receipt-times.ts';
import { type Frames, LocalFrames } from './domain/calls/frames.ts';
import { LocalWriteLimiter, type WriteLimiter } from './domain/measurements/write-limiter.ts';
import { tellLanes, tellLoad, tellPools, tellReplicas } from './build-metrics.ts';
import { lookAtInstallation } from './build-installation.ts';
import { startMqtt } from './build-mqtt.ts';
import { createTransports } from './build-transports.ts';
import { createDomain } from './build-domain.ts';
import type { Replicas } from './measurement-store/postgres/replicas.ts';
import { listen } from './listen.ts';
import type { WatchExecution } from './graphql/operation/compiled-operation.ts';
import { DrainingListener } from './http/drain.ts';
import { ClientConnections } from './http/client-connections.ts';
import { createHttpServer } from './http/http-server.ts';
import { createHttpApp } from './http/http-app.ts';
import { crossOrigin } from './http/cross-origin.ts';
import { readyRoute } from './http/health-route.ts';
import { metricsRoute, metricsServer } from './http/metrics-route.ts';
import { watchRequests } from './http/request-watch.ts';
import { createLog, endOnUncaught, logAtRest } from './log.ts';
import { measuredEngine } from './metrics/measured.ts';
import { Metrics } from './metrics/metrics.ts';
import { DecoderPool } from './sandbox/decoder-pool.ts';
import { FetchedTiles } from './transmission/fetched-tiles.ts';
import { NetTransmitter } from './transmission/net-transmitter.ts';
import type { WorkerSeat } from './workers/worker-seat.ts';
import { YamlThread } from './yaml/yaml-thread.ts';

/** Maximum time of a stop before what is left is cut off. */
const STOP_MS = 20_000;

/** A running server; `url`: where it listens (`http://host:port`). */
export interface App {
  url: string;
  log: Logger;
  /** Drains: no request accepted before it is lost. */
  stop(): Promise<void>;
}

/**
 * Builds everything, in order, and starts to listen. What was opened before a failure is closed again. `watchExecution`:
 * for tests. `seat`: among the workers of a machine.
 */
export async function startApp(config: Config, watchExecution?: WatchExecution, seat?: WorkerSeat): Promise<App> {
  const log = createLog(config.logLevel, seat?.number);
  endOnUncaught(log);
  const closers = new Closers();
  const stop = async (): Promise<void> => {
    for (const { name, error } of await closers.closeAll(STOP_MS)) log.error({ err: error }, `stopping: ${name}`);
    await logAtRest();
  };
  try {
    const url = await build(config, log, closers, { watchExecution, seat });
    return { url, log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(
  config: Config,
  log: Logger,
  closers: Closers,
  { watchExecution, seat }: { watchExecution: WatchExecution | undefined; seat: WorkerSeat | undefined },
): Promise<string> {
  const now = (): number => Date.now();
  const metrics = new Metrics();
  const doubts = new CommitsInDoubt();
  const watchers = { metrics, doubts };
  const { database, store, nodePlace, nodes } = await openDatabase(config, watchers, log, closers).catch(cannotOpen);
  const { adminToken } = config;
  const first = await bootstrap(database, { adminToken, now }).catch(cannotOpen);
  const { generatedToken, adminTokenRevoked, cursorKey, clusterName } = first;
  if (adminTokenRevoked) log.warn('ADMIN_TOKEN was revoked earlier and stays so; set another one to get in');
  sealWith(cursorKey);
  // Printed at once, as later steps may fail, and at any log level: it is shown this once and stored nowhere.
  if (generatedToken !== null)
    console.log(
      JSON.stringify({
        level: 'info',
        msg: 'first start: the operator’s personal token, shown this once',
        token: generatedToken,
      }),
    );
  const { cluster, limiter, frames } = await joinCluster(config, { database, name: clusterName, nodes }, log, closers);
  doubts.start({
    ask: (statement) => database.read().execute(statement),
    forget: () => cluster.changed([{ kind: 'everything' }]),
  });
  closers.add('commits in doubt', () => doubts.stop());

  let listener: DrainingListener;
  const { trustedProxies } = config.anonymous;
  const clients = new ClientConnections({ most: config.connectionsPerAddress, trustedProxies });
  const server = createHttpServer({
    clients,
    isQuiet: (socket) => listener.isQuiet(socket),
    endBehindAnswers: (socket) => listener.endBehindAnswers(socket),
  });
  // Kept, as a stopping server has no address any more.
  let { port } = config;
  const baseUrl = (): string => config.baseUrl ?? `http://localhost:${port}`;

  const pool = new DecoderPool({ ...config.decoder, log: (level, message, facts) => log[level](facts, message) });
  closers.add('decoders', () => pool.stop());
  if (first.hasDecoders) pool.begin();
  const engine = measuredEngine(pool, metrics);
  const yaml = new YamlThread();
  closers.add('YAML', () => yaml.stop());
  const transmitter = new NetTransmitter(config.outgoing);
  closers.add('connections to receivers', () => transmitter.stop());
  const onRejected = (code: string): void => metrics.rejected(code);
  const receiptMarks = await openMarks(database, now, log, closers);
  const onForgotten = (values: number): void => metrics.forgotten(values);
  const watchSending = {
    onTried: (outcome: string) => metrics.deliveryTried(outcome),
    onSwitchedOff: () => metrics.endpointSwitchedOff(),
  };
  const told = { watchSending, onRejected, onForgotten, nodePlace, receiptMarks };
  const around = {
    config,
    database,
    store,
    cluster,
    limiter,
    frames,
    engine,
    yaml,
    transmitter,
    baseUrl,
    ...told,
    now,
    log,
  };
  const domain = createDomain(around, closers);
  const transports = await createTransports({
    config,
    domain,
    database,
    cluster,
    mapTiles: config.mapTiles === null ? null : new FetchedTiles({ ...config.mapTiles, log }),
    baseUrl,
    installation: lookAtInstallation({ config, store, pool, domain, cluster, nodes, seat }),
    now,
    watchExecution,
    log,
  });
  const ready = readyRoute({
    accepting: () => (listener.accepting ? 'ok' : 'failed'),
    // Asks each pool; the database must take a write.
    database: () => database.beat(now()).then(() => 'ok'),
    measurements: () => store.ping().then(() => 'ok'),
    decoders: () => (engine.ready() ? 'ok' : 'failed'),
    ...(config.redisUrl === null ? {} : { redis: () => (cluster.connected ? 'ok' : 'degraded') }),
    ...(seat === undefined ? {} : { workers: () => (seat.areAllUp ? 'ok' : 'degraded') }),
  });
  const app = createHttpApp({
    ...transports,
    handlers: {
      ...transports.handlers,
      '/readyz': ready,
      '/metrics': metricsRoute(seat?.allOf(metrics.registry) ?? metrics.registry),
    },
    log,
  });
  const serve = crossOrigin(config.allowedOrigins, app, log);
  const watched = watchRequests({ answered: (...facts) => metrics.request(...facts), log });
  listener = new DrainingListener(server, {
    serve,
    clients,
    ended: (exchange, seconds) => {
      transports.bodies.release(exchange.request);
      watched(exchange, seconds);
    },
    idleMs: config.clientIdleMs,
    log,
  });
  server.on('connection', () => transports.turns.noteConnection());
  transports.attachWebSocket(server);
  closers.add('http', async () => {
    await listener.stop({ endSockets: () => transports.endSockets(), graceMs: config.shutdownGraceMs });
    await transports.stop();
  });
  // First, as they may take minutes; accepted ones are waited for.
  closers.add('replays and adoptions', () => {
    domain.replay.stop();
    domain.unknownDevices.endAdoptions();
  });
  tellLoad(metrics, { store, pool, transports, domain, cluster, accepting: () => listener.accepting });
  tellLanes(metrics);
  tellPools(metrics);
  if (store.replicas) tellReplicas(metrics, store.replicas);
  if (config.metricsPort !== null) await startMetricsServer(metrics, config, closers);
  if (seat === undefined || seat.number === 1) await tellSharedIdentities(database, log);
  await listen(server, config.host, config.port, 'HOST, PORT');
  port = portOf(server);
  const url = `http://localhost:${port}`;
  await startBackups(config, log, closers);
  await startMqtt({ config, domain, transports, cluster, metrics, now, log }, closers);
  domain.startSending();
  domain.recordedSender.start();
  domain.statusSender.start();
  void domain.callFailures.start();
  const facts = { url, console: `${url}/console/`, host: config.host, port, database: config.database.kind };
  if (seat === undefined) log.info(facts, 'listening');
  else seat.listening(facts);
  transports.warmUp().catch((error: unknown) => log.debug({ err: error }, 'the first query was not warmed up'));
  return url;
}

async function openMarks(
  database: Database,
  now: () => number,
  log: Logger,
  closers: Closers,
): Promise<StoredReceiptMarks> {
  const onError = (error: unknown): void => log.warn({ err: error }, 'writing down receipt times ahead of the clock');
  const marks = await StoredReceiptMarks.open({ database, now, onError }).catch(cannotOpen);
  closers.add('receipt times', () => marks.stop());
  return marks;
}

/** A store whose number of waiting values can be read. */
type WatchedStore = MeasurementStore & { readonly waitingValues: number; readonly replicas?: Replicas | null };

/** Opens the catalogue and the measurement store over one database, and migrates it. */
async function openDatabase(
  config: Config,
  { metrics, doubts }: { metrics: Metrics; doubts: CommitsInDoubt },
  log: Logger,
  closers: Closers,
): Promise<{ database: OrmDatabase; store: WatchedStore; nodePlace?: () => NodePlace; nodes?: () => Promise<number> }> {
  const { database: setting, replicaUrls } = config;
  // Imported when needed: a server uses one of the two, and start-up is mostly loading modules.
  const { openPostgresOrm, openSqliteOrm } = await import('./database/open-orm.ts');
  const tell = (message: string): void => log.error(message);
  const options = {
    log,
    keptMs: config.liveWindowMs,
    compactEveryMs: Math.min(60_000, config.liveWindowMs / 10),
    onFlush: (values: number, seconds: number): void => metrics.flushed(values, seconds),
    onFailure: (receipts: number): void => metrics.commitFailed(receipts),
  };
  const finish = (orm: MikroORM, dialect: Dialect, store: WatchedStore & WriteTurns, guard: DatabaseGuard) => {
    closers.add('store', () => store.stop());
    return { database: new OrmDatabase(orm, dialect, store, guard), store: guarded(store, guard) };
  };
  if (setting.kind === 'postgres') {
    const { PostgresGuard } = await import('./database/postgres-guard.ts');
    const guard = await PostgresGuard.open(setting.url, config.redisUrl !== null, tell);
    closers.add('database guard', () => guard.stop());
    const orm = await openPostgresOrm(setting.url, (backend) => doubts.note(backend));
    closers.add('orm', () => orm.close());
    const { PostgresMeasurementStore } = await import('./measurement-store/postgres/postgres-measurement-store.ts');
    const store = await PostgresMeasurementStore.open({ url: setting.url, replicaUrls, ...options });
    return { ...finish(orm, 'postgres', store, guard), nodePlace: () => guard.place, nodes: () => guard.countNodes() };
  }
  const { SqliteGuard } = await import('./database/sqlite-guard.ts');
  const path = setting.inMemory ? temporaryFile(closers) : setting.path;
  const guard = new SqliteGuard(path, tell);
  closers.add('database guard', () => guard.stop());
  const orm = await openSqliteOrm(path);
  closers.add('orm', () => orm.close());
  const { SqliteMeasurementStore } = await import('./measurement-store/sqlite/sqlite-measurement-store.ts');
  return finish(orm, 'sqlite', await SqliteMeasurementStore.open({ path, ...options }), guard);
}

/** Makes a folder that goes with the process, for SQLite in memory: two threads cannot share SQLite's own. */
function temporaryFile(closers: Closers): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  closers.add('temporary folder', remove);
  // Also after a stop that is cut short.
  process.once('exit', remove);
  return join(folder, 'inlet.db');
}

function cannotOpen(cause: unknown): never {
  throw new StartError('DATABASE_URL', 'the database cannot be opened', cause);
}

async function joinCluster(
  { redisUrl }: Config,
  { database, name, nodes }: { database: Database; name: string; nodes: (() => Promise<number>) | undefined },
  log: Logger,
  closers: Closers,
): Promise<{ cluster: Cluster; limiter: WriteLimiter; frames: Frames }> {
  if (redisUrl === null)
    return { cluster: new LocalCluster(), limiter: new LocalWriteLimiter(), frames: new LocalFrames() };
  const { RedisCluster } = await import('./cluster/redis-cluster.ts');
  const { RedisFrames } = await import('./cluster/redis-frames.ts');
  const { RedisWriteLimiter } = await import('./cluster/redis-write-limiter.ts');
  const prefix = `inlet:${name}`;
  const shared = database.dialect === 'postgres' ? database : null;
  const cluster = await RedisCluster.connect({ url: redisUrl, prefix, database: shared, nodes, log }).catch(
    (cause: unknown) => {
      throw new StartError('REDIS_URL', 'Redis cannot be reached', cause);
    },
  );
  closers.add('redis', () => cluster.stop());
  const { commands } = cluster;
  const limiter = new RedisWriteLimiter(commands, prefix, log);
  return { cluster, limiter, frames: new RedisFrames(commands, prefix, log) };
}

async function startBackups({ backups, database }: Config, log: Logger, closers: Closers): Promise<void> {
  if (backups === null || database.kind === 'postgres' || database.inMemory) return;
  const { DailyBackups } = await import('./database/daily-backups.ts');
  const tell = (file: string, failure: string | null): void =>
    failure === null ? log.info({ file }, 'backup made') : log.error({ file, failure }, 'backup failed');
  const daily = new DailyBackups({ ...backups, path: database.path, now: Date.now, tell });
  closers.add('backups', () => daily.stop());
}

async function startMetricsServer(metrics: Metrics, config: Config, closers: Closers): Promise<void> {
  const server = metricsServer(metrics.registry);
  await listen(server, config.host, config.metricsPort ?? 0, 'HOST, METRICS_PORT');
  closers.add('metrics', () => {
    server.close();
    server.closeAllConnections();
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
