import { isComplaint, type PipelinedConnection } from './postgres-connection.ts';
import type { LongReading, PostgresFlush } from './postgres-flush.ts';
import { COMMITTED } from './replica-guard.ts';

const POSITION = `SELECT ${COMMITTED}`;

/** Told of a commit before it is acknowledged: its devices, and a position of the log behind it; null: unknown. */
export type OnCommitted = (deviceKeys: readonly number[], position: number | null) => void;

/** Sends flushes to the database; tells where they stand in its log, if anybody wants to know. */
export class FlushSender {
  readonly #connection: PipelinedConnection;
  readonly #onCommitted: OnCommitted | undefined;

  /** `onCommitted`: left out where there are no replicas, which saves a small statement per flush. */
  constructor(connection: PipelinedConnection, onCommitted?: OnCommitted) {
    this.#connection = connection;
    this.#onCommitted = onCommitted;
  }

  /** Resolves with the readings to be squeezed when it is durable; `merging`: as of the flush. */
  async send(flush: PostgresFlush, merging: boolean): Promise<LongReading[]> {
    try {
      return await this.#sent(flush, merging);
    } catch (error) {
      // Nothing was stored, and the same again will do.
      if (!isComplaint(error, 'notSerializable', 'deadlock')) throw error;
      return this.#sent(flush, merging);
    }
  }

  /** Asks for the position right behind the flush, before the next one: a flush that is stored is not refused for it. */
  async #sent(flush: PostgresFlush, merging: boolean): Promise<LongReading[]> {
    const stored = this.#connection.query<LongReading>({ ...flush.statement(merging), rowMode: 'array' });
    if (this.#onCommitted === undefined || flush.deviceKeys.length === 0) return stored;
    const asked = this.#connection.query<[number]>({ name: 'inlet-committed', text: POSITION, rowMode: 'array' });
    const position = asked.then(
      ([row]) => row?.[0] ?? null,
      () => null,
    );
    const rows = await stored;
    this.#onCommitted(flush.deviceKeys, await position);
    return rows;
  }
}
