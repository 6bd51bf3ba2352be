import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
const PREFIX = 'inlet-tests-';
/** More than a whole run writes at a time; as much again is left to what runs. */
const ROOM_BYTES = 3 * 2 ** 30;

/**
 * A folder in memory for the files of this run, or null where there is no room for it. Each test makes its own
 * databases, of three hundred files each on PostgreSQL: on a disk that passes on what is deleted, making and dropping one
 * costs the system 0.05 to 0.2 s, in memory 0.03. What is killed keeps what it wrote either way.
 */
export function makeMemoryFolder(): string | null {
  if (!hasRoom()) return null;
  // Of runs that were killed.
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : NaN;
    if (!Number.isNaN(pid) && !isAlive(pid)) rmSync(`${MEMORY}/${name}`, { recursive: true, force: true });
  }
  const folder = `${MEMORY}/${PREFIX}${process.pid}`;
  // The user whom PostgreSQL runs as goes through it.
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  return folder;
}

function hasRoom(): boolean {
  try {
    // Programs are copied there, too.
    if (!/^\S+ \/dev\/shm tmpfs (?!\S*\bnoexec\b)/m.test(readFileSync('/proc/mounts', 'latin1'))) return false;
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, process.availableMemory() / 2) > ROOM_BYTES;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
