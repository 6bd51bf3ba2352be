import { AppError } from '../../errors.ts';
import { BoundedStream, type LiveQueue } from '../../scheduling/bounded-stream.ts';
import type { Cluster } from '../ports/cluster.ts';
import { eachInTurns, nextTurn, Slices } from '../../scheduling/yield-to-event-loop.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { CallCount, CallQuery, CallRow, CallStatus, MeasurementStore } from '../ports/store.ts';
import { NOBODY, type Caller } from '../../scheduling/caller.ts';
import { BackgroundLane } from '../../scheduling/background-lane.ts';
import { PrefetchCredits } from '../../scheduling/prefetch.ts';
import { SingleFlight } from '../../scheduling/single-flight.ts';
import type { Turns } from '../../scheduling/turns.ts';
import { BacklogMemory } from '../../scheduling/backlog-memory.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { LoggedCall } from './logged-call.ts';
import { JustRead } from './just-read.ts';
import { charactersOf, Listeners, type ToldCall } from './listeners.ts';
import { ReplayThenLive, type LogPage } from './replay-then-live.ts';

/** The threads that read them read charts, too: so many pages at a time, one of a tenant; of one token so many wait. */
const PAGES_AT_ONCE = 2;
const MAX_WAITING = 1_000;
/** Reading it takes a millisecond for so many characters. */
const CHARACTERS_PER_MS = 30_000;
/** What one subscriber may leave unread before it is closed, in bytes. */
const UNREAD_BYTES = 16_000_000;
/** Of a product's calls of other nodes so many are read at once, and so many wait. */
const HEARD_AT_ONCE = 10;
const MAX_HEARD = 5_000;

/** What the reader of a stream does with an error. */
const FAILS_MS = 0.05;

/** Who reads the log, in whose turns. */
interface CallReader {
  party: Caller;
  turns: Turns;
}

/** `last`: how many of the newest calls come first; `statuses` null: all. */
export interface LiveCallChoice {
  last: number;
  statuses: CallStatus[] | null;
}

/**
 * The live call log (contract `webhookCalled`). Other nodes are told the id only and read the row when somebody there
 * listens: it is committed by then.
 */
export class CallFeed {
  readonly #cluster: Cluster;
  readonly #store: MeasurementStore;
  readonly #counts = new SingleFlight<CallCount>();
  readonly #loads = new SingleFlight<LogPage>();
  readonly #reading = new BackgroundLane({ atOnce: PAGES_AT_ONCE, maxWaiting: MAX_WAITING });
  readonly #places = new PrefetchCredits();
  readonly #unread = new BacklogMemory();
  readonly #missed = new AppError('UNAVAILABLE', 'Calls were missed; subscribe again and read `calls`.');
  #failed: { at: number; error: unknown } | null = null;
  /** By the product's id. */
  readonly #listeners = new Map<string, Listeners>();
  /** Those with calls that are not told yet, in turns. */
  readonly #behind = new Set<Listeners>();
  #isTelling = false;
  #told = 0;

  constructor(cluster: Cluster, store: MeasurementStore) {
    this.#cluster = cluster;
    this.#store = store;
    cluster.onMessage('called', (message) => this.#heard(message));
    cluster.onMissed(() => this.#fail([...this.#listeners.values()]));
  }

  /** Call after the commit of the row. Never waits. `again`: its outcome was rewritten. */
  publish(productId: string, row: CallRow, again = false): void {
    const listeners = this.#listeners.get(productId);
    if (listeners !== undefined) this.#tell(listeners, { row, again, at: this.#numberOf(listeners) });
    if (this.#cluster.shared) this.#cluster.publish('called', JSON.stringify({ productId, id: row.id, again }));
  }

  /** Begins with the newest `last` calls, oldest of them first; each call comes once. */
  async subscribe(
    product: Pick<ProductInfo, 'id' | 'key'>,
    { last, statuses }: LiveCallChoice,
    reader: CallReader,
  ): Promise<LiveQueue<LoggedCall>> {
    const listeners = this.#listeners.get(product.id) ?? new Listeners(product, (this.#told += 1));
    const read = new JustRead(() => listeners.untold > 0);
    const stream = new BoundedStream<ToldCall, LoggedCall>({
      sizeOf: ({ row }) => bytesOf(row),
      read: ({ row }) => new LoggedCall(row),
      maxUnread: UNREAD_BYTES,
      tooSlow: 'This subscriber reads too slowly; subscribe again and read `calls`.',
      backlog: this.#unread.of(reader.party.tenant),
      onEnd: () => {
        listeners.delete(stream);
        if (listeners.isEmpty) this.#forget(listeners);
      },
    });
    // What was told of before, to whomever it still has to be, is in the log.
    const { told: joinedAt } = listeners;
    listeners.add(
      stream,
      (call) => call.at > joinedAt && (statuses === null || statuses.includes(call.row.status)) && !read.isTold(call),
    );
    this.#listeners.set(product.id, listeners);
    if (last === 0) return stream;
    // Listening first: what is logged while the log is read is in both, and told once.
    try {
      const filter = { productKey: product.key, ...(statuses === null ? {} : { statuses }) };
      // One more: those that come begin behind it.
      const count: CallQuery = { ...filter, limit: last + 1 };
      // What was told of before this one listened must be among what it reads together with others.
      const { told } = listeners;
      await reader.turns.next();
      const before = await this.#counts.of(keyOf(reader, told, count), () =>
        this.#inLine(reader, () => this.#store.countCalls(count)),
      );
      return new ReplayThenLive({
        live: stream,
        justRead: read,
        upTo: before.first,
        after: before.count > last ? before.last : null,
        turn: () => reader.turns.next(),
        read: (after, limit) => this.#page({ ...filter, ...after, oldestFirst: true, limit }, reader, told),
        places: this.#places,
        party: reader.party,
      });
    } catch (error) {
      await stream.return();
      throw error;
    }
  }

  /** Subscribers of a token that ask for the same at once read it together: nobody waits for what another token owes. */
  #page(query: CallQuery, reader: CallReader, told: number): Promise<LogPage> {
    return this.#loads.of(keyOf(reader, told, query), () =>
      this.#inLine(reader, async () => {
        const after = this.#told;
        const rows = await this.#store.calls(query);
        reader.turns.spend(rows.reduce((sum, row) => sum + charactersOf(row), 0) / CHARACTERS_PER_MS);
        return { rows, after };
      }),
    );
  }

  /** Call it in the reader's turn: nobody stands behind what another one owes. */
  #inLine<T>({ party }: CallReader, read: () => Promise<T>): Promise<T> {
    const since = performance.now();
    const work = async (): Promise<T> => {
      // They would wait for their own time-outs one after the other.
      if (this.#failed !== null && this.#failed.at > since) throw this.#failed.error;
      try {
        return await read();
      } catch (error) {
        this.#failed = { at: performance.now(), error };
        throw error;
      }
    };
    return this.#reading.run(party, work);
  }

  /** What is told of another call. */
  #numberOf(listeners: Listeners): number {
    return (listeners.told = this.#told += 1);
  }

  /** As there is time: calls are logged hundreds together, and thousands may listen to each. */
  #tell(listeners: Listeners, call: ToldCall): void {
    if (!listeners.push(call)) return this.#fail([listeners]);
    this.#behind.add(listeners);
    if (!this.#isTelling) void this.#tellAll();
  }

  /** Never rejects. */
  async #tellAll(): Promise<void> {
    this.#isTelling = true;
    // What was logged together comes first, so that all of it is one work in slices.
    await nextTurn();
    const slices = new Slices(NOBODY);
    for (const listeners of this.#behind) {
      this.#behind.delete(listeners);
      if (!listeners.tell(slices)) this.#behind.add(listeners);
      if (slices.isOver) await slices.next();
    }
    this.#isTelling = false;
  }

  /** Whoever listens to them is told that it must begin anew, some at a time; nobody is told of a call behind those missed. */
  #fail(missed: readonly Listeners[]): void {
    for (const listeners of missed) this.#forget(listeners);
    const failed = missed.flatMap((listeners) => listeners.end());
    void runAs(NOBODY, () => eachInTurns(failed, (stream) => stream.fail(this.#missed), FAILS_MS));
  }

  #forget(listeners: Listeners): void {
    if (this.#listeners.get(listeners.productId) === listeners) this.#listeners.delete(listeners.productId);
  }

  #heard(message: string): void {
    const heard = readMessage(message);
    // Whatever Redis says, a product's subscribers see its calls and no others.
    const listeners = heard && this.#listeners.get(heard.productId);
    if (heard === null || listeners == null) return;
    listeners.heard.push({ id: heard.id, again: heard.again, at: this.#numberOf(listeners) });
    if (listeners.heard.length > MAX_HEARD) this.#fail([listeners]);
    else if (!listeners.isReading) void this.#readHeard(listeners);
  }

  /** Never rejects: whoever listens is told that something was missed. */
  async #readHeard(listeners: Listeners): Promise<void> {
    listeners.isReading = true;
    while (!listeners.isEmpty && listeners.heard.length > 0) {
      const some = listeners.heard.splice(0, HEARD_AT_ONCE);
      try {
        const rows = await Promise.all(some.map(({ id }) => this.#store.call(listeners.productKey, id)));
        // null: it was removed since.
        for (const [at, row] of rows.entries()) if (row !== null) this.#tell(listeners, { ...some[at]!, row });
      } catch {
        this.#fail([listeners]);
      }
      // What is heard meanwhile is short until it is read.
      while (listeners.untold > HEARD_AT_ONCE) await nextTurn();
    }
    listeners.isReading = false;
  }
}

function keyOf({ party }: CallReader, told: number, query: CallQuery): string {
  return JSON.stringify([party.tokenId, told, query]);
}

/** About what it takes in memory. */
function bytesOf(row: CallRow): number {
  return 2 * (charactersOf(row) + row.path.length + row.query.length);
}

/** null: no node of ours has sent this. */
function readMessage(message: string): { productId: string; id: string; again: boolean } | null {
  try {
    const { productId, id, again } = JSON.parse(message) as Record<string, unknown>;
    if (typeof productId !== 'string' || typeof id !== 'string') return null;
    return { productId, id, again: again === true };
  } catch {
    return null;
  }
}
