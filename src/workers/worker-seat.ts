import { ALIVE_EVERY_MS, METRICS_MS, type OfSupervisor, type OfWorker } from './messages.ts';

/** Text that Prometheus reads. */
interface MetricsText {
  contentType: string;
  metrics(): Promise<string>;
}

/** Seat of this process among the workers of a machine: what it tells the supervisor, and learns from it. */
export class WorkerSeat {
  /** From 1; a worker that is started again has the number of the one before. */
  readonly number: number;
  readonly #waiting = new Map<number, (text: string) => void>();
  #own: MetricsText | null = null;
  #workers = { up: 0, of: 0 };
  #nextId = 1;

  constructor(number: number) {
    this.number = number;
    process.on('message', (message: OfSupervisor) => void this.#hear(message));
    setInterval(() => this.#tell({ kind: 'alive' }), ALIVE_EVERY_MS).unref();
  }

  /** Whether all workers take requests. */
  get areAllUp(): boolean {
    return this.#workers.up === this.#workers.of;
  }

  /** Number of workers that take requests. */
  get up(): number {
    return this.#workers.up;
  }

  /** To be called when it takes requests; `facts`: for the log. */
  listening(facts: Record<string, unknown>): void {
    this.#tell({ kind: 'listening', facts });
  }

  /** The metrics of all workers instead of its own. */
  allOf(own: MetricsText): MetricsText {
    this.#own = own;
    return { contentType: own.contentType, metrics: () => this.#collected(own) };
  }

  async #collected(own: MetricsText): Promise<string> {
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    // Twice: the supervisor may wait for another worker that long.
    const timer = setTimeout(() => resolve(null), 2 * METRICS_MS);
    this.#waiting.set(id, resolve);
    this.#tell({ kind: 'collect', id });
    const text = await promise;
    clearTimeout(timer);
    this.#waiting.delete(id);
    return text ?? own.metrics();
  }

  async #hear(message: OfSupervisor): Promise<void> {
    if (message.kind === 'workers') this.#workers = { up: message.up, of: message.of };
    else if (message.kind === 'collected') this.#waiting.get(message.id)?.(message.text);
    else this.#tell({ kind: 'own', id: message.id, text: (await this.#own?.metrics().catch(() => '')) ?? '' });
  }

  #tell(message: OfWorker): void {
    if (process.connected) process.send?.(message);
  }
}
