import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntityManager } from '@mikro-orm/sql';
import { inject } from 'vitest';
import { bootstrap } from '../../src/bootstrap.ts';
import { createDomain, type Domain } from '../../src/build-domain.ts';
import { Closers } from '../../src/closers.ts';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import { readConfig } from '../../src/config.ts';
import { openPostgresOrm, openSqliteOrm } from '../../src/database/open-orm.ts';
import { OrmDatabase } from '../../src/database/orm-database.ts';
import type { Access } from '../../src/domain/access/access.ts';
import type { Database } from '../../src/domain/ports/database.ts';
import type { Transmitter } from '../../src/domain/ports/transmitter.ts';
import type { DecoderEngine } from '../../src/domain/decoders/decoder-engine.ts';
import { LocalWriteLimiter } from '../../src/domain/measurements/write-limiter.ts';
import { createLog } from '../../src/log.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { createPostgresDatabase } from './postgres.ts';
import type { DatabaseName } from './server.ts';
import { ADMIN_TOKEN } from './server-process.ts';
import { YamlThread } from '../../src/yaml/yaml-thread.ts';

/** The real domain on a real database in this process, without transports and, unless an `engine` is given, decoders, and with a clock to turn. */
export interface OpenDomain extends Domain {
  database: Database;
  cluster: LocalCluster;
  /** In ms UTC; starts at the real time. */
  clock: { now: number };
  /** The operator's. */
  access: Access;
  /** What is done after the next read of rows, before the reader gets them: a change that comes at the worst moment. */
  pause: { afterRead: (() => Promise<void>) | null };
  close: () => Promise<void>;
}

export async function openDomain(
  name: DatabaseName,
  engine = {} as DecoderEngine,
  transmitter = { sendsMail: true } as Transmitter,
): Promise<OpenDomain> {
  const closers = new Closers();
  const log = createLog('silent');
  const { orm, store, url } = name === 'sqlite' ? await openSqlite(closers) : await openPostgres(closers);
  const pause: OpenDomain['pause'] = { afterRead: null };
  const database = pausing(new OrmDatabase(orm, name, store), pause);
  const clock = { now: Date.now() };
  const now = (): number => clock.now;
  await bootstrap(database, { adminToken: ADMIN_TOKEN, now });
  const cluster = new LocalCluster();
  const domain = createDomain(
    {
      config: readConfig({ DATABASE_URL: url }),
      database,
      store,
      cluster,
      limiter: new LocalWriteLimiter(),
      engine,
      yaml: new YamlThread(),
      transmitter,
      now,
      log,
    },
    closers,
  );
  const access = await domain.authenticator.authenticate(ADMIN_TOKEN);
  return {
    ...domain,
    database,
    cluster,
    clock,
    access: access!,
    pause,
    close: async () => {
      const failed = await closers.closeAll(20_000);
      if (failed.length > 0) throw failed[0]!.error;
    },
  };
}

/** The same database; `find`, `findOne` and `execute` of units that read let `pause` come between. */
function pausing(database: Database, pause: OpenDomain['pause']): Database {
  const pausingRead = (em: EntityManager): EntityManager =>
    new Proxy(em, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        if (key !== 'find' && key !== 'findOne' && key !== 'execute') return value.bind(target) as unknown;
        return async (...args: unknown[]): Promise<unknown> => {
          const rows: unknown = await value.apply(target, args);
          const { afterRead } = pause;
          pause.afterRead = null;
          await afterRead?.();
          return rows;
        };
      },
    });
  return {
    dialect: database.dialect,
    time: database.time,
    read: () => (pause.afterRead === null ? database.read() : pausingRead(database.read())),
    write: (work, party) => database.write(work, party),
  };
}

async function openSqlite(closers: Closers) {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-domain-'));
  closers.add('folder', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'inlet.db');
  const orm = await openSqliteOrm(path);
  closers.add('orm', () => orm.close());
  const store = await SqliteMeasurementStore.open({ path });
  closers.add('store', () => store.stop());
  return { orm, store, url: `sqlite:${path}` };
}

async function openPostgres(closers: Closers) {
  const { url, drop } = await createPostgresDatabase(inject('postgresUrl'), inject('migratedTemplate'));
  closers.add('database', drop);
  const orm = await openPostgresOrm(url);
  closers.add('orm', () => orm.close());
  const store = await PostgresMeasurementStore.open({ url });
  closers.add('store', () => store.stop());
  return { orm, store, url };
}
