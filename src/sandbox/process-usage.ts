import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Resident memory of a process in MB; 0 where that cannot be known (not Linux, or it is gone). */
export function residentMb(pid: number | undefined): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]);
    return (pages * 4096) / 1_048_576;
  } catch {
    return 0;
  }
}

/**
 * `ms`: processor time that a process has used so far, infinite where that cannot be known. `sleeping`: its main thread
 * waits for something other than a processor.
 */
export function processorUse(pid: number | undefined): { ms: number; sleeping: boolean } {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
    return { ms: (Number(fields[11]) + Number(fields[12])) * 10, sleeping: fields[0] === 'S' };
  } catch {
    return { ms: Infinity, sleeping: false };
  }
}

/** Whether any thread of a process would run if it were let: its main thread may sleep until a helper of V8 is done. */
export function wantsProcessor(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  return threadsOf(pid).some((thread) => {
    try {
      const [state] = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1').split(') ')[1]!;
      return state !== 'S';
    } catch {
      return false;
    }
  });
}

/** Makes all threads of a process stand back (as `nice`); silently not where the system does not let us. */
export function lowerPriority(pid: number | undefined, priority: number): void {
  if (pid === undefined) return;
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch {
      // It is gone already.
    }
  }
}

/** On Linux a priority is a thread's: V8's helpers, which collect a memory eater's garbage, have their own. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}
