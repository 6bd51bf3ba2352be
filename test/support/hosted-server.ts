import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import flags from '../../src/v8-flags.json' with { type: 'json' };
import { askGraphql, type LogLine, logLine, PROCESS_ENV, QUICK_PASSWORDS } from './server-process.ts';

/** A process that runs servers one after another (`server-host.ts`): where it is asked, and the file of its log. */
export interface ServerHost {
  socket: string;
  log: string;
}

/** Garbage is collected seldom, a tenth of the processor less: memory is looked at of servers that run alone. */
const ROOMY = ['--max-semi-space-size=64', '--heap-growing-percent=200'];

/** Starts a host, and another one whenever it ends, until `stop` is called. `place`: a path that is free. */
export function startHost(place: string): { host: ServerHost; stop: () => Promise<void> } {
  const log = `${place}.log`;
  const socket = `${place}.sock`;
  const program = fileURLToPath(new URL('./server-host.ts', import.meta.url));
  let isStopping = false;
  const begin = (): ReturnType<typeof spawn> => {
    const fd = openSync(log, 'a');
    const child = spawn(process.execPath, [...flags, ...ROOMY, program, socket], {
      stdio: ['ignore', fd, fd, 'ipc'],
      env: { PATH: process.env['PATH'] ?? '', NODE_OPTIONS: QUICK_PASSWORDS },
    });
    closeSync(fd);
    child.once('exit', () => {
      if (!isStopping) running = begin();
    });
    return child;
  };
  let running = begin();
  return {
    host: { socket, log },
    stop: () => {
      isStopping = true;
      if (running.exitCode !== null || running.signalCode !== null) return Promise.resolve();
      const ended = new Promise<void>((resolve) => running.once('exit', () => resolve()));
      running.kill('SIGKILL');
      return ended;
    },
  };
}

/** A server in a host. What only a process of its own has is told to whoever asks for it. */
export class HostedServer {
  readonly url: string;
  readonly port: number;
  readonly #link: Link;
  readonly #log: LogReader;
  #stopping: Promise<null> | null = null;

  private constructor(url: string, link: Link, log: LogReader) {
    this.port = Number(new URL(url).port);
    this.url = `http://127.0.0.1:${this.port}`;
    this.#link = link;
    this.#log = log;
  }

  /** null: the host is not there, or has a server already. Rejects with why the server does not start. */
  static async start(host: ServerHost, env: Record<string, string>): Promise<HostedServer | null> {
    const link = await Link.open(host.socket);
    if (link === null) return null;
    const log = new LogReader(host.log);
    const { taken, failed, url } = await link.ask({ start: { ...PROCESS_ENV, ...env } });
    if (taken !== undefined || (failed === undefined && url === undefined)) {
      link.end();
      return null;
    }
    if (url !== undefined) return new HostedServer(url, link, log);
    link.end();
    throw new Error(`server did not start: ${failed}`);
  }

  /** What it has logged so far. */
  get lines(): LogLine[] {
    return this.#log.lines();
  }

  /** A GraphQL call with the admin's token; throws what the errors say. */
  gql<T = Record<string, unknown>>(query: string, variables: unknown = {}): Promise<T> {
    return askGraphql<T>(this.url, query, variables);
  }

  /** As often as one likes. */
  stop(signal?: NodeJS.Signals): Promise<null> {
    if (signal !== undefined) return needsProcess();
    return (this.#stopping ??= this.#stop());
  }

  get child(): never {
    return needsProcess();
  }

  residentMb(): never {
    return needsProcess();
  }

  processorMs(): never {
    return needsProcess();
  }

  async #stop(): Promise<null> {
    const { failed } = await this.#link.ask({ stop: true });
    this.#link.end();
    if (failed !== undefined) throw new Error(`server did not stop: ${failed}`);
    return null;
  }
}

function needsProcess(): never {
  throw new Error('this server runs in a process with others: start it with { alone: true }');
}

interface Answer {
  taken?: true;
  failed?: string;
  url?: string;
}

const ENDED: Answer = { failed: 'its process has ended' };

/** The way to a host: one question at a time. */
class Link {
  readonly #socket: Socket;
  #answered: (answer: Answer) => void = () => {};
  #isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    createInterface({ input: socket })
      .on('line', (line) => this.#answered(JSON.parse(line) as Answer))
      .on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      this.#answered(ENDED);
    });
    // The test ends with its file, not with this.
    socket.unref();
  }

  static open(path: string): Promise<Link | null> {
    return new Promise((resolve) => {
      const socket = connect(path, () => resolve(new Link(socket)));
      socket.on('error', () => resolve(null));
    });
  }

  ask(question: { start?: Record<string, string>; stop?: true }): Promise<Answer> {
    if (this.#isClosed) return Promise.resolve(ENDED);
    this.#socket.ref();
    return new Promise<Answer>((resolve) => {
      this.#answered = resolve;
      this.#socket.write(`${JSON.stringify(question)}\n`);
    }).finally(() => this.#socket.unref());
  }

  end(): void {
    this.#socket.destroy();
  }
}

/** The lines that a file has gained since. */
class LogReader {
  readonly #path: string;
  readonly #lines: LogLine[] = [];
  #at: number;
  #rest = '';

  constructor(path: string) {
    this.#path = path;
    this.#at = statSync(path).size;
  }

  lines(): LogLine[] {
    const { size } = statSync(this.#path);
    if (size === this.#at) return this.#lines;
    const gained = Buffer.alloc(size - this.#at);
    const fd = openSync(this.#path, 'r');
    const read = readSync(fd, gained, 0, gained.length, this.#at);
    closeSync(fd);
    this.#at += read;
    const lines = (this.#rest + gained.toString('utf8', 0, read)).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) this.#lines.push(logLine(line));
    return this.#lines;
  }
}
