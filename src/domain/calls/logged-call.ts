import type { CallRow, CallStatus } from '../ports/store.ts';
import { LoggedRun } from './logged-run.ts';
import { reasonIn } from './run-text.ts';

/** Changes what is shown of a call, without regard to which part of it. */
type Mask = (value: unknown) => unknown;

/**
 * A call as clients see it (contract type WebhookCall). What its columns hold as JSON, up to hundreds of kilobytes
 * written by `callRow`, is parsed when it is asked for.
 */
export class LoggedCall {
  readonly id: string;
  readonly receivedAt: number;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly bodyTruncated: boolean;
  readonly status: CallStatus;
  readonly httpStatus: number;
  readonly decoderVersion: number | null;
  readonly #row: CallRow;
  readonly #mask: Mask;

  constructor(row: CallRow, mask: Mask = (value) => value) {
    this.id = row.id;
    this.receivedAt = row.receivedAt;
    this.method = row.method;
    this.path = mask(row.path) as string;
    this.body = mask(row.body) as string;
    this.bodyTruncated = row.bodyTruncated;
    this.status = row.status;
    this.httpStatus = row.httpStatus;
    this.decoderVersion = row.decoderVersion;
    this.#row = row;
    this.#mask = mask;
  }

  /** JSON text: name → list of values. Shown as `shown` makes it. */
  get queryText(): string {
    return this.#row.query;
  }

  /** JSON text: Title-Case name → value; credentials are `***`. Shown as `shown` makes it. */
  get headersText(): string {
    return this.#row.headers;
  }

  /** What was parsed of a text of it, as it is shown. */
  shown(value: unknown): unknown {
    return this.#mask(value);
  }

  get run(): LoggedRun | null {
    const { run } = this.#row;
    return run === null || this.#why !== null ? null : new LoggedRun(run, this.#mask);
  }

  /** Why nothing was run; null: something was, or the call is of a version that did not say. */
  get reason(): string | null {
    return this.#mask(this.#why?.reason ?? null) as string | null;
  }

  get #why(): ReturnType<typeof reasonIn> {
    return reasonIn(this.#row.run);
  }

  /** About what it takes in an answer that shows all of it. */
  get characters(): number {
    const { path, query, headers, body, run } = this.#row;
    return 200 + path.length + query.length + headers.length + body.length + (run?.length ?? 0);
  }

  /** The same with every text and name in it masked. */
  masked(mask: Mask): LoggedCall {
    return new LoggedCall(this.#row, mask);
  }
}
