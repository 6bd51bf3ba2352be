import cluster from 'node:cluster';
import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { metricsServer } from '../http/metrics-route.ts';
import { listen } from '../listen.ts';
import { createLog, logAtRest } from '../log.ts';
import { mergeMetrics } from './merge-metrics.ts';
import { WorkerSlot } from './worker-slot.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What stops with the process. */
interface Running {
  log: Logger;
  stop(): Promise<void>;
}

/**
 * Starts `WORKERS` servers behind one port, and starts one again that ends; the first one alone, as it migrates the
 * database. Rejects when one of them cannot start. This process takes the connections in and hands them out in turn: the
 * kernel would choose by address and port, which leaves a worker idle while there are few connections, and those that
 * wait for one that ends would be lost.
 */
export async function supervise(config: Config): Promise<Running> {
  const log = createLog(config.logLevel);
  const supervisor = new Supervisor(config, log);
  const stop = async (): Promise<void> => {
    const areWell = await supervisor.stop();
    await logAtRest();
    if (!areWell) throw new Error('a worker did not end as it should');
  };
  try {
    await supervisor.start();
  } catch (error) {
    await supervisor.stop();
    await logAtRest();
    throw error;
  }
  return { log, stop };
}

class Supervisor {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #slots: WorkerSlot[];
  #collecting: Promise<string> | null = null;
  #nextId = 1;
  #metrics: Server | null = null;

  constructor(config: Config, log: Logger) {
    this.#config = config;
    this.#log = log;
    cluster.schedulingPolicy = cluster.SCHED_RR;
    // Lines of several processes would mix in one pipe.
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    const deps = { log, changed: () => this.#tellAll(), collect: () => this.#collect() };
    this.#slots = Array.from({ length: config.workers }, (_, at) => new WorkerSlot({ ...deps, number: at + 1 }));
  }

  async start(): Promise<void> {
    const [first, ...others] = this.#slots;
    await first?.start();
    await Promise.all(others.map((slot) => slot.start()));
    const { host, metricsPort, workers } = this.#config;
    if (metricsPort !== null) await this.#serveMetrics(host, metricsPort);
    this.#log.info({ ...first?.facts, workers }, 'listening');
  }

  /** Resolves with whether each worker ended as it should. */
  async stop(): Promise<boolean> {
    this.#metrics?.close();
    this.#metrics?.closeAllConnections();
    const ends = await Promise.all(this.#slots.map((slot) => slot.stop()));
    return ends.every(Boolean);
  }

  #tellAll(): void {
    const up = this.#slots.filter(({ facts }) => facts !== null).length;
    for (const slot of this.#slots) slot.tell({ kind: 'workers', up, of: this.#slots.length });
  }

  /** Asked for at once, it is collected once. */
  #collect(): Promise<string> {
    return (this.#collecting ??= this.#collectNow().finally(() => (this.#collecting = null)));
  }

  async #collectNow(): Promise<string> {
    const id = this.#nextId++;
    const told = await Promise.all(this.#slots.map(async (slot) => [slot, await slot.metrics(id)] as const));
    const texts = new Map<number, string>();
    for (const [{ number, restarts }, text] of told)
      texts.set(
        number,
        `${text ?? ''}
# HELP inlet_worker_up 1: this worker takes requests and tells its metrics.
# TYPE inlet_worker_up gauge
inlet_worker_up ${text === null ? 0 : 1}
# HELP inlet_worker_restarts_total How often this worker has ended and was started again.
# TYPE inlet_worker_restarts_total counter
inlet_worker_restarts_total ${restarts}
`,
      );
    return mergeMetrics(texts);
  }

  #serveMetrics(host: string, port: number): Promise<void> {
    const server = metricsServer({ contentType: CONTENT_TYPE, metrics: () => this.#collect() });
    this.#metrics = server;
    return listen(server, host, port, 'HOST, METRICS_PORT');
  }
}
