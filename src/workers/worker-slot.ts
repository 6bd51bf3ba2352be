import cluster, { type Worker } from 'node:cluster';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { StartError } from '../config.ts';
import { forwardLine } from '../log.ts';
import { closeUntakenConnections } from './handed-connections.ts';
import { METRICS_MS, type OfSupervisor, type OfWorker } from './messages.ts';

/** Maximum time without a sign of life before a worker is ended: its event loop stands still. */
const HANGS_MS = 30_000;
/** A worker that was up for less starts again only after a pause, which doubles. */
const STABLE_MS = 10_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 30_000];

interface SlotDeps {
  number: number;
  log: Logger;
  /** It takes requests, or does not any more. */
  changed: () => void;
  /** It asks for the metrics of all workers. */
  collect: () => Promise<string>;
}

/** Place of one worker: there is always one, whatever happens to it. */
export class WorkerSlot {
  readonly number: number;
  readonly #deps: SlotDeps;
  readonly #asked = new Map<number, (text: string | null) => void>();
  #worker: Worker | null = null;
  /** Facts of the one that takes requests. */
  #facts: Record<string, unknown> | null = null;
  #restarts = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #isStopping = false;

  constructor(deps: SlotDeps) {
    this.number = deps.number;
    this.#deps = deps;
  }

  /** What it said when it began to take requests; null: it does not. */
  get facts(): Record<string, unknown> | null {
    return this.#facts;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** Resolves when it takes requests; rejects if it ends before that. */
  start(): Promise<void> {
    const { number, log, changed, collect } = this.#deps;
    const worker = cluster.fork({ INLET_WORKER: String(number) });
    this.#worker = worker;
    closeUntakenConnections(worker.process);
    const begunAt = performance.now();
    const hangs = setTimeout(() => {
      log.error({ worker: number }, `a worker has said nothing for ${HANGS_MS / 1_000} seconds and is ended`);
      worker.process.kill('SIGKILL');
    }, HANGS_MS);
    if (worker.process.stdout)
      createInterface({ input: worker.process.stdout })
        .on('line', forwardLine)
        .on('error', () => {});
    return new Promise((resolve, reject) => {
      worker.on('message', (message: OfWorker) => {
        hangs.refresh();
        if (message.kind === 'listening') {
          this.#facts = message.facts;
          log.info({ worker: number, pid: worker.process.pid }, 'a worker is up');
          changed();
          resolve();
        } else if (message.kind === 'own') this.#asked.get(message.id)?.(message.text);
        else if (message.kind === 'collect')
          void collect().then((text) => this.tell({ kind: 'collected', id: message.id, text }));
      });
      worker.on('error', (error) => log.warn({ err: error, worker: number }, 'a worker cannot be told'));
      worker.once('exit', (code, signal) => {
        clearTimeout(hangs);
        const wasUp = this.#facts !== null;
        this.#worker = null;
        this.#facts = null;
        for (const answer of this.#asked.values()) answer(null);
        if (this.#isStopping) return;
        if (performance.now() - begunAt > STABLE_MS) this.#pauseMs = FIRST_PAUSE_MS;
        if (wasUp) {
          log.error({ worker: number, code, signal }, 'a worker has ended and is started again');
          this.#startAgain();
        }
        changed();
        reject(
          new StartError('WORKERS', `worker ${number} ended before it was up`, new Error(`exit ${code ?? signal}`)),
        );
      });
    });
  }

  tell(message: OfSupervisor): void {
    if (this.#worker?.isConnected()) this.#worker.send(message);
  }

  /** Its metrics; null: it does not tell them in time. */
  async metrics(id: number): Promise<string | null> {
    if (this.#facts === null) return null;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const timer = setTimeout(() => resolve(null), METRICS_MS);
    this.#asked.set(id, resolve);
    this.tell({ kind: 'tell', id });
    const text = await promise;
    clearTimeout(timer);
    this.#asked.delete(id);
    return text;
  }

  /** Resolves with whether it ended as it should. */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    const worker = this.#worker;
    if (worker === null) return true;
    const ended = new Promise<boolean>((resolve) => worker.once('exit', (code) => resolve(code === 0)));
    worker.process.kill('SIGTERM');
    return ended;
  }

  #startAgain(): void {
    this.#restarts += 1;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    setTimeout(() => {
      if (this.#isStopping) return;
      this.start().catch((error: unknown) => {
        this.#deps.log.error({ err: error, worker: this.number }, 'a worker could not be started and is tried again');
        if (!this.#isStopping) this.#startAgain();
      });
    }, pauseMs);
  }
}
