/** From a worker to the supervisor. */
export type OfWorker =
  /** It takes requests; `facts`: for the log. */
  | { kind: 'listening'; facts: Record<string, unknown> }
  /** Its event loop turns. */
  | { kind: 'alive' }
  /** Wants the metrics of all workers. */
  | { kind: 'collect'; id: number }
  /** Its own metrics, as it was asked. */
  | { kind: 'own'; id: number; text: string };

/** From the supervisor to a worker. */
export type OfSupervisor =
  /** Wants its own metrics. */
  | { kind: 'tell'; id: number }
  /** The metrics of all workers, as it was asked. */
  | { kind: 'collected'; id: number; text: string }
  /** How many workers take requests, of how many. */
  | { kind: 'workers'; up: number; of: number };

/** Time between two signs of life. */
export const ALIVE_EVERY_MS = 1_000;
/** Maximum wait for the metrics of a worker; the others are told without it. */
export const METRICS_MS = 2_000;
