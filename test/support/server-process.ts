import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { residentMb } from './processor-time.ts';
import flags from '../../src/v8-flags.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const ADMIN_TOKEN = 'test-admin-token-0123456789abcdefghijklmnop';

interface StartOptions {
  /** A process group of its own, with its decoder processes. */
  ownGroup?: boolean;
  /** The folder that `dist` and `node_modules` are in. */
  root?: string;
  /** Tells in which pieces its event loop computes (`pieces.ts`). */
  watched?: boolean;
}

/** One line of a server's log. */
export type LogLine = Record<string, unknown>;

/** Preloaded: passwords cost next to nothing. */
export const QUICK_PASSWORDS = `--require=${fileURLToPath(new URL('./quick-passwords.cjs', import.meta.url))}`;

/** The settings of every server of the tests, unless one says otherwise. */
export const PROCESS_ENV = { HOST: '127.0.0.1', PORT: '0', ADMIN_TOKEN, SHUTDOWN_GRACE_MS: '0' };

const WATCH_PIECES = `--require=${fileURLToPath(new URL('./watch-pieces.cjs', import.meta.url))}`;

/** A real server process from `dist`, as `npm start` runs it. */
export class ServerProcess {
  readonly child: ChildProcess;
  readonly port: number;
  readonly url: string;
  readonly lines: LogLine[];

  private constructor(child: ChildProcess, port: number, lines: LogLine[]) {
    this.child = child;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.lines = lines;
  }

  /** The process alone, from its first moment. */
  static spawn(
    env: Record<string, string>,
    { ownGroup = false, root = ROOT, watched = false }: StartOptions = {},
  ): ChildProcessByStdio<null, Readable, Readable> {
    const { NODE_OPTIONS = '' } = env;
    return spawn(process.execPath, [...flags, 'dist/src/main.js'], {
      cwd: root,
      env: {
        PATH: process.env['PATH'] ?? '',
        ...PROCESS_ENV,
        ...env,
        NODE_OPTIONS: watched ? `${NODE_OPTIONS} ${WATCH_PIECES}` : NODE_OPTIONS,
      },
      stdio: ['ignore', 'pipe', 'pipe', ...(watched ? ['ipc' as const] : [])],
      detached: ownGroup,
    }) as ChildProcessByStdio<null, Readable, Readable>;
  }

  /** Resolves at the line `listening`; rejects with what was printed when the process ends before it. */
  static start(env: Record<string, string>, options: StartOptions = {}): Promise<ServerProcess> {
    const child = ServerProcess.spawn(env, options);
    const lines: LogLine[] = [];
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    return new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const entry = logLine(line);
        lines.push(entry);
        if (entry['msg'] === 'listening') resolve(new ServerProcess(child, Number(entry['port']), lines));
      });
      child.on('exit', (code) => reject(new Error(`server ended with ${code}: ${errors} ${JSON.stringify(lines)}`)));
    });
  }

  /** Sends the signal and waits for the end; resolves with the exit code, null after a signal. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    return new Promise((resolve) => {
      this.child.once('exit', (code) => resolve(code));
      this.child.kill(signal);
    });
  }

  /** Resident memory of the server process, without its decoder processes, in MB. */
  residentMb(): number {
    return residentMb(this.child.pid!);
  }

  /** What its event loop has computed so far, in ms; Infinity once it is gone. */
  processorMs(): number {
    const { pid } = this.child;
    try {
      const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    } catch {
      return Infinity;
    }
  }

  /** A GraphQL call with the admin's token; throws what the errors say. */
  gql<T = Record<string, unknown>>(query: string, variables: unknown = {}): Promise<T> {
    return askGraphql<T>(this.url, query, variables);
  }
}

/** A GraphQL call with the admin's token to the server at `url`; throws what the errors say. */
export async function askGraphql<T>(url: string, query: string, variables: unknown): Promise<T> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Token ${ADMIN_TOKEN}` },
    body: JSON.stringify({ query, variables }),
  });
  const answer = (await response.json()) as { data: T; errors?: unknown[] };
  if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors));
  return answer.data;
}

/** A line of a log, as the object that it says, or `{ line }`. */
export function logLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { line };
  }
}
