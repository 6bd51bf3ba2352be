import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const VERSIONS = '/usr/lib/postgresql';

/** Folder of the programs of Debian's newest PostgreSQL, or null. */
export function findPostgres(): string | null {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).toSorted((a, b) => Number(b) - Number(a)) : [];
  return (
    versions.map((version) => join(VERSIONS, version, 'bin')).find((bin) => existsSync(join(bin, 'postgres'))) ?? null
  );
}

/** Whether Patroni and what it needs is there. */
export function hasPatroni(): boolean {
  return (
    findPostgres() !== null &&
    existsSync('/usr/sbin/haproxy') &&
    ['patroni', 'etcd'].every((program) => spawnSync(program, ['--version']).status === 0)
  );
}
