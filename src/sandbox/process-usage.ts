import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { must } from '../must.ts';

/** Resident memory of a process in MB; 0 if unknown (not Linux, or it is gone). */
export function residentMb(pid: number | undefined): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]);
    return (pages * 4096) / 1_048_576;
  } catch {
    return 0;
  }
}

/**
 * `ms`: processor time used so far, Infinity if unknown. `sleeping`: its main thread waits for something other than a
 * processor.
 */
export function processorUse(pid: number | undefined): { ms: number; sleeping: boolean } {
  try {
    const fields = must(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]).split(' ');
    return { ms: (Number(fields[11]) + Number(fields[12])) * 10, sleeping: fields[0] === 'S' };
  } catch {
    return { ms: Infinity, sleeping: false };
  }
}

/** Whether any thread of a process could run; its main thread may sleep while a helper of V8 works. */
export function wantsProcessor(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  return threadsOf(pid).some((thread) => {
    try {
      const [state] = must(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1').split(') ')[1]);
      return state !== 'S';
    } catch {
      return false;
    }
  });
}

/** Lowers the priority of all threads of a process (as `nice`); does nothing where the system forbids it. */
export function lowerPriority(pid: number | undefined, priority: number): void {
  if (pid === undefined) return;
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch {
      // The thread is gone.
    }
  }
}

/** Threads of a process. On Linux each has its own priority, V8's helpers too. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}
