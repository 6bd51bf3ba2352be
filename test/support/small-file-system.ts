import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real file system in memory that is only so large. */
export class SmallFileSystem {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** null where mounting is not allowed. A `ramfs` has no bound, and does not say what it has. */
  static mount(megabytes: number, type: 'tmpfs' | 'ramfs' = 'tmpfs'): SmallFileSystem | null {
    const folder = mkdtempSync(join(tmpdir(), 'inlet-small-'));
    if (asRoot('mount', '-t', type, '-o', `size=${megabytes}m,mode=0777`, type, folder))
      return new SmallFileSystem(folder);
    rmSync(folder, { recursive: true });
    return null;
  }

  /** Leaves no free block, although others write meanwhile. */
  fill(): void {
    for (;;) {
      const { bavail, bsize } = statfsSync(this.folder);
      if (bavail === 0) return;
      try {
        appendFileSync(this.#filler, Buffer.alloc(bavail * bsize));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  unmount(): void {
    asRoot('umount', '-l', this.folder);
    rmSync(this.folder, { recursive: true, force: true });
  }

  get #filler(): string {
    return join(this.folder, 'filler');
  }
}

function asRoot(...command: string[]): boolean {
  const words = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command];
  return spawnSync(words[0]!, words.slice(1)).status === 0;
}
