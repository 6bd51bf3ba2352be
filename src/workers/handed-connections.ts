import type { ChildProcess } from 'node:child_process';

interface Handle {
  close(): void;
}

/**
 * Closes what `worker` was handed and never took when it ends. Node's cluster hands a worker the next connection of a
 * port when it has taken the one before, and forgets that one when the worker is killed first: its sender would wait for
 * ever.
 */
export function closeUntakenConnections(worker: ChildProcess): void {
  /** The latest of each port; one that was taken is closed here already. */
  const latest = new Map<unknown, Handle>();
  const send = worker.send.bind(worker) as (...args: unknown[]) => boolean;
  worker.send = (message: unknown, handle?: unknown, ...rest: unknown[]): boolean => {
    const { act, key } = message as { act?: unknown; key?: unknown };
    if (act === 'newconn' && isHandle(handle)) latest.set(key, handle);
    return send(message, handle, ...rest);
  };
  worker.once('exit', () => {
    for (const handle of latest.values()) handle.close();
  });
}

function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && 'close' in value && typeof value.close === 'function';
}
