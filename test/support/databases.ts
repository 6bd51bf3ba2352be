import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openPostgresOrm } from '../../src/database/open-orm.ts';
import { type ServerHost, startHost } from './hosted-server.ts';
import { freePort } from './free-port.ts';
import { createPostgresDatabase, endProcess, ready, startPostgres } from './postgres.ts';
import { hasRedis, leftOut, missingTools } from './tools.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a database whose user may create others: give it to `createPostgresDatabase`. */
    postgresUrl: string;
    /** The name of a migrated, otherwise empty database there: to be copied, which takes a third of migrating another one. */
    migratedTemplate: string;
    /** null: there is no redis-server on this machine (never in CI). */
    redisUrl: string | null;
    /** Processes that run servers one after another, one for each worker; none in the nightly runs, where each has its own. */
    serverHosts: ServerHost[];
  }
}

/**
 * vitest's global set-up: one PostgreSQL and one Redis for the whole run, unless TEST_POSTGRES_URL or TEST_REDIS_URL
 * names one. A database that does not start fails the run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = missingTools();
  if (missing.length > 0) {
    const what = missing.map(({ name, tests }) => `${name} (${tests})`).join(' and ');
    const line = `apt-get install ${missing.map(({ name }) => name).join(' ')}`;
    const said = `left out as it is not installed: ${what}; to run everything: ${line}`;
    // Everything is to run in CI.
    if (process.env['CI']) throw new Error(said);
    console.warn(said);
  }
  const stops: (() => Promise<void>)[] = [];
  const stopAll = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const stop of stops) await stop().catch((error: unknown) => failures.push(error));
    for (const { name, count } of leftOut(project.vitest.state.getTestModules()))
      console.warn(`left out: ${count} tests for want of ${name}`);
    if (failures.length > 0) throw failures[0];
  };
  try {
    let postgresUrl = process.env['TEST_POSTGRES_URL'];
    if (!postgresUrl) {
      const server = await startPostgres({ durable: false });
      stops.push(server.stop);
      postgresUrl = server.url;
    }
    let redisUrl = process.env['TEST_REDIS_URL'] ?? null;
    if (redisUrl === null) {
      const server = await startRedis();
      if (server) stops.push(server.stop);
      redisUrl = server?.url ?? null;
    }
    const template = await createPostgresDatabase(postgresUrl);
    stops.unshift(template.drop);
    await (await openPostgresOrm(template.url)).close();
    project.provide('postgresUrl', postgresUrl);
    project.provide('migratedTemplate', new URL(template.url).pathname.slice(1));
    project.provide('redisUrl', redisUrl);
    const place = mkdtempSync(join(tmpdir(), 'inlet-hosts-'));
    stops.push(async () => rmSync(place, { recursive: true, force: true }));
    const count = process.env['INLET_TESTS'] === undefined ? project.vitest.config.maxWorkers : 0;
    const hosts = Array.from({ length: count }, (_, i) => startHost(join(place, String(i))));
    stops.unshift(...hosts.map(({ stop }) => stop));
    project.provide(
      'serverHosts',
      hosts.map(({ host }) => host),
    );
  } catch (error) {
    await stopAll();
    throw error;
  }
  return stopAll;
}

/** Starts a Redis that keeps nothing; null: there is none on this machine. */
export async function startRedis(): Promise<{ url: string; stop: () => Promise<void> } | null> {
  if (!hasRedis()) return null;
  const home = mkdtempSync(join(tmpdir(), 'inlet-redis-'));
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', home];
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'pipe'] });
  await ready(server, /Ready to accept connections/, 'Redis');
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      await endProcess(server, 'SIGTERM');
      rmSync(home, { recursive: true, force: true });
    },
  };
}
