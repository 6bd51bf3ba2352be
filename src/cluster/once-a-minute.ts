import type { Logger } from 'pino';

const EVERY_MS = 60_000;

/** Logs each warning at most once a minute, with the number of times since. */
export class OnceAMinute {
  readonly #log: Logger;
  readonly #said = new Map<string, { at: number; since: number }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** `message`: one of a few fixed texts. */
  say(message: string, error: unknown): void {
    const said = this.#said.get(message) ?? { at: -Infinity, since: 0 };
    this.#said.set(message, said);
    said.since += 1;
    const now = performance.now();
    if (now - said.at < EVERY_MS) return;
    this.#log.warn({ reason: error instanceof Error ? error.message : String(error), times: said.since }, message);
    said.at = now;
    said.since = 0;
  }
}
