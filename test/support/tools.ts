import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { TestModule } from 'vitest/node';
import { hasAlertmanager } from './has-alertmanager.ts';
import { hasMosquittoClients, hasPaho } from './has-foreign-clients.ts';
import { findMosquitto } from './has-mosquitto.ts';
import { hasPatroni } from './has-patroni.ts';

/** Debian's, and where others put it; nothing is ever downloaded. The shell takes a quarter less of the processor. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** A program that some tests need, named as its Debian package. */
interface Tool {
  name: string;
  /** Which tests. */
  tests: string;
  isThere: () => boolean;
  /** The name by which a test file that needs it imports or injects it. */
  mark: string;
}

const TOOLS: readonly Tool[] = [
  { name: 'redis-server', tests: 'several nodes', isThere: hasRedis, mark: 'redisUrl' },
  {
    name: 'chromium-headless-shell',
    tests: 'the console in a browser',
    isThere: () => findChromium() !== null,
    mark: 'describeInBrowser',
  },
  {
    name: 'prometheus-alertmanager',
    tests: 'alerts at an Alertmanager',
    isThere: hasAlertmanager,
    mark: 'describeWithAlertmanager',
  },
  {
    name: 'mosquitto',
    tests: 'messages of a broker',
    isThere: () => findMosquitto() !== null,
    mark: 'describeWithMosquitto',
  },
  {
    name: 'mosquitto-clients',
    tests: 'messages of mosquitto_pub',
    isThere: hasMosquittoClients,
    mark: 'describeWithForeignClients',
  },
  {
    name: 'patroni etcd-server haproxy postgresql',
    tests: 'a standby that takes over',
    isThere: hasPatroni,
    mark: 'describeWithPatroni',
  },
  { name: 'python3-paho-mqtt', tests: 'messages of paho', isThere: hasPaho, mark: 'describeWithForeignClients' },
];

/** Path of a Chromium, or null. */
export function findChromium(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null;
}

/** Whether a Redis can be used: one of this machine, or the one that TEST_REDIS_URL names. */
export function hasRedis(): boolean {
  return Boolean(process.env['TEST_REDIS_URL']) || spawnSync('redis-server', ['--version']).status === 0;
}

/** The programs that are not there. */
export function missingTools(): readonly Tool[] {
  return TOOLS.filter(({ isThere }) => !isThere());
}

/** How many tests of a run were left out, for want of which program (or of the Linux that some need). */
export function leftOut(modules: readonly TestModule[]): { name: string; count: number }[] {
  const missing = missingTools();
  const counts = new Map<string, number>();
  for (const module of modules) {
    const count = [...module.children.allTests('skipped')].length;
    if (count === 0) continue;
    const text = readFileSync(module.moduleId, 'utf8');
    const name = missing.find(({ mark }) => text.includes(mark))?.name ?? 'a Linux with what they need (see the file)';
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return [...counts].map(([name, count]) => ({ name, count }));
}
