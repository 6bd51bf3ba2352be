import { BackgroundLane } from '../../scheduling/background-lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { SingleFlight } from '../../scheduling/single-flight.ts';
import type { LiveReader } from '../live/live-subscription.ts';
import { type CallCount, type CallQuery, type CallRow, type MeasurementStore, textLengthOf } from '../ports/store.ts';

/** Characters read in a millisecond. */
const CHARACTERS_PER_MS = 30_000;

/** A page of the log, and the number of the last event before it was read. */
interface CallPage {
  rows: CallRow[];
  readAt: number;
}

/**
 * Reads the call log for subscribers, in a lane of their own: its threads read charts, too. Subscribers of a token that
 * ask for the same, with the same last event before they came, read it together.
 */
export class CallPages {
  readonly #store: MeasurementStore;
  readonly #lastEvent: () => number;
  readonly #counts = new SingleFlight<CallCount>();
  readonly #pages = new SingleFlight<CallPage>();
  readonly #lane = new BackgroundLane(LANES.callPages);
  #failed: { at: number; error: unknown } | null = null;

  constructor(store: MeasurementStore, lastEvent: () => number) {
    this.#store = store;
    this.#lastEvent = lastEvent;
  }

  count(query: CallQuery, reader: LiveReader, cameAt: number): Promise<CallCount> {
    return this.#counts.of(keyOf(reader, cameAt, query), () =>
      this.#inLane(reader, () => this.#store.countCalls(query)),
    );
  }

  read(query: CallQuery, reader: LiveReader, cameAt: number): Promise<CallPage> {
    return this.#pages.of(keyOf(reader, cameAt, query), () =>
      this.#inLane(reader, async () => {
        const readAt = this.#lastEvent();
        const rows = await this.#store.calls(query);
        reader.turns.spend(rows.reduce((sum, row) => sum + charactersOf(row), 0) / CHARACTERS_PER_MS);
        return { rows, readAt };
      }),
    );
  }

  /** Call it in the reader's turn: nobody waits here for what another token owes. */
  #inLane<T>({ party }: LiveReader, read: () => Promise<T>): Promise<T> {
    const since = performance.now();
    return this.#lane.run(party, async () => {
      // They would wait for their own time-outs one after the other.
      if (this.#failed !== null && this.#failed.at > since) throw this.#failed.error;
      try {
        return await read();
      } catch (error) {
        this.#failed = { at: performance.now(), error };
        throw error;
      }
    });
  }
}

function keyOf({ party }: LiveReader, cameAt: number, query: CallQuery): string {
  return JSON.stringify([party.tokenId, cameAt, query]);
}

/** Estimate of what it takes in memory; the fixed part bounds the number of small ones. */
export function charactersOf(row: CallRow | null): number {
  return 8_000 + (row === null ? 0 : textLengthOf(row));
}
