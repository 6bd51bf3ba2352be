import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { childrenOf, processorMs } from '../support/processor-time.ts';

/** Parts of an installation that use processors: threads of the node, its decoder processes, and what it is connected to. */
export const PROCESSOR_PARTS = ['loop', 'writer', 'readers', 'helpers', 'decoders', 'database', 'redis'] as const;

/** What a load uses: processor time in µs, and bytes to clients, to the database and in its log. */
export const PARTS = [...PROCESSOR_PARTS, 'clientBytes', 'databaseBytes', 'logBytes'] as const;
export type Part = (typeof PARTS)[number];
/** An amount for each part. */
export type Amounts = Record<Part, number>;
/** Amounts so far, and those of each connection to the database by its port. */
export type Look = Amounts & { connections: Map<string, number> };

interface Processes {
  /** The node's. */
  pid: number;
  /** The first process of PostgreSQL, and the port that it listens at. */
  postgres?: { pid: number; port: string };
  redisPid?: number;
}

/** What the processes have used since they began, in µs; threads of V8 and libuv are the helpers. */
export function usedSoFar({ pid, postgres, redisPid }: Processes): Look {
  const used = Object.fromEntries(PARTS.map((part) => [part, 0])) as Amounts;
  let connections = new Map<string, number>();
  for (const [thread, name, micros] of threadsOf(pid)) used[partOf(thread === pid, name)] += micros;
  used.decoders = ofChildren(pid);
  if (postgres !== undefined) {
    used.database = processorMs(postgres.pid) * 1_000 + ofChildren(postgres.pid);
    connections = connectionsTo(pid, postgres.port);
  }
  if (redisPid !== undefined) used.redis = threadsOf(redisPid).reduce((sum, [, , micros]) => sum + micros, 0);
  return { ...used, connections };
}

function partOf(isFirst: boolean, name: string): Part {
  if (isFirst) return 'loop';
  return name === 'writer' ? 'writer' : name.startsWith('reader') ? 'readers' : 'helpers';
}

function threadsOf(pid: number): [id: number, name: string, micros: number][] {
  return readdirSync(`/proc/${pid}/task`).flatMap((id): [number, string, number][] => {
    try {
      const read = (file: string): string => readFileSync(`/proc/${pid}/task/${id}/${file}`, 'latin1').trim();
      return [[Number(id), read('comm'), Number(read('schedstat').split(' ')[0]) / 1_000]];
    } catch {
      return []; // It has ended meanwhile.
    }
  });
}

/** Those that run, and those that have ended. */
function ofChildren(pid: number): number {
  const running = childrenOf(pid).flatMap((child) => {
    try {
      return threadsOf(child);
    } catch {
      return [];
    }
  });
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  const ended = (Number(fields[13]) + Number(fields[14])) * 10_000;
  return ended + running.reduce((sum, [, , micros]) => sum + micros, 0);
}

/** Bytes in both directions over each connection that a process has to a port. */
function connectionsTo(pid: number, port: string): Map<string, number> {
  const lines = execFileSync('ss', ['-tinpOH', 'dport', '=', `:${port}`], { encoding: 'utf8' }).split('\n');
  const count = (line: string, name: string): number => Number(new RegExp(`${name}:(\\d+)`).exec(line)?.[1] ?? 0);
  return new Map(
    lines
      .filter((line) => line.includes(`pid=${pid},`))
      .map((line) => [/\S+:(\d+)\s/.exec(line)![1]!, count(line, 'bytes_acked') + count(line, 'bytes_received')]),
  );
}

/** What was used between two looks; connections that have ended are not counted. */
export function between(before: Look, after: Look): Amounts {
  const used = Object.fromEntries(PARTS.map((part) => [part, after[part] - before[part]])) as Amounts;
  for (const [port, bytes] of after.connections) used.databaseBytes += bytes - (before.connections.get(port) ?? 0);
  return used;
}
