import { AppError } from '../../errors.ts';
import { BoundedStream, type LiveQueue } from '../bounded-stream.ts';
import type { Cluster } from '../cluster.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { CallCount, CallQuery, CallRow, CallStatus, MeasurementStore } from '../measurements/store.ts';
import type { Party } from '../party.ts';
import { Pieces } from '../pieces.ts';
import { PagePlaces } from '../read-ahead.ts';
import { SharedLoads } from '../shared-loads.ts';
import type { Turns } from '../turns.ts';
import { UnreadMemory } from '../unread-memory.ts';
import { LoggedCall } from './logged-call.ts';
import { JustRead } from './just-read.ts';
import { LoggedThenLive, type LogPage, type ToldCall } from './logged-then-live.ts';

/** The threads that read them read charts, too: so many pages at a time, one of a tenant; of one token so many wait. */
const PAGES_AT_ONCE = 2;
const MAX_WAITING = 1_000;
/** Reading it takes a millisecond for so many characters. */
const CHARACTERS_PER_MS = 30_000;
/** What one subscriber may leave unread before it is closed. */
const UNREAD_CHARACTERS = 8_000_000;
/** Of a product's calls of other nodes so many are read at once, and so many wait. */
const HEARD_AT_ONCE = 10;
const MAX_HEARD = 5_000;

type CallStream = BoundedStream<ToldCall, LoggedCall>;

/** What is told of a call. */
interface Told extends Omit<ToldCall, 'at'> {
  /** Of the message in which another node said so, of all of them; left out: it was now, and here. */
  no?: number;
}

/** What another node says of that. */
interface Heard {
  id: string;
  again: boolean;
  no: number;
}

/** Who listens to a product. */
interface Streams {
  productKey: number;
  accepting: Map<CallStream, (told: Told) => boolean>;
  /** Another number after each call that was told of. */
  told: number;
  /** Heard and not read yet, in the order in which they are told. */
  heard: Heard[];
  isReading: boolean;
}

/** Who reads the log, in whose turns. */
interface CallReader {
  party: Party;
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
  readonly #counts = new SharedLoads<CallCount>();
  readonly #loads = new SharedLoads<LogPage>();
  readonly #reading = new Pieces({ atOnce: PAGES_AT_ONCE, maxWaiting: MAX_WAITING });
  readonly #places = new PagePlaces();
  readonly #unread = new UnreadMemory();
  readonly #missed = new AppError('UNAVAILABLE', 'Calls to other nodes were missed; subscribe again and read `calls`.');
  #failed: { at: number; error: unknown } | null = null;
  /** By the product's id. */
  readonly #streams = new Map<string, Streams>();
  #told = 0;

  constructor(cluster: Cluster, store: MeasurementStore) {
    this.#cluster = cluster;
    this.#store = store;
    cluster.onMessage('called', (message) => this.#heard(message));
    cluster.onMissed(() => {
      for (const streams of this.#streams.values()) this.#fail(streams);
    });
  }

  /** Call after the commit of the row. Never waits. `again`: its outcome was rewritten. */
  publish(productId: string, row: CallRow, again = false): void {
    const streams = this.#streams.get(productId);
    if (streams !== undefined) this.#tell(streams, { row, again });
    if (this.#cluster.shared) this.#cluster.publish('called', JSON.stringify({ productId, id: row.id, again }));
  }

  /** Begins with the newest `last` calls, oldest of them first; each call comes once. */
  async subscribe(
    { id: productId, key: productKey }: Pick<ProductInfo, 'id' | 'key'>,
    { last, statuses }: LiveCallChoice,
    reader: CallReader,
  ): Promise<LiveQueue<LoggedCall>> {
    const read = new JustRead();
    const stream = new BoundedStream<ToldCall, LoggedCall>({
      sizeOf: ({ row }) => sizeOf(row),
      read: ({ row }) => new LoggedCall(row),
      maxUnread: UNREAD_CHARACTERS,
      tooSlow: 'This subscriber reads too slowly; subscribe again and read `calls`.',
      besides: () => this.#unread.of(reader.party.tenant),
      onEnd: () => {
        const others = this.#streams.get(productId);
        others?.accepting.delete(stream);
        if (others?.accepting.size === 0) this.#streams.delete(productId);
      },
    });
    const streams: Streams = this.#streams.get(productId) ?? {
      productKey,
      accepting: new Map(),
      told: (this.#told += 1),
      heard: [],
      isReading: false,
    };
    // What was heard before is in the log.
    const { told: joinedAt } = streams;
    const accepts = ({ row: { id, status }, again, no = Infinity }: Told): boolean =>
      no > joinedAt && (statuses === null || statuses.includes(status)) && (again || !read.isTold(id));
    streams.accepting.set(stream, accepts);
    this.#streams.set(productId, streams);
    if (last === 0) return stream;
    // Listening first: what is logged while the log is read is in both, and told once.
    try {
      const filter = { productKey, ...(statuses === null ? {} : { statuses }) };
      // One more: those that come begin behind it.
      const count: CallQuery = { ...filter, limit: last + 1 };
      // What was told of before this one listened must be among what it reads together with others.
      const { told } = streams;
      await reader.turns.next();
      const before = await this.#counts.of(keyOf(reader, told, count), () =>
        this.#inLine(reader, () => this.#store.countCalls(count)),
      );
      return new LoggedThenLive({
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
        reader.turns.spend(rows.reduce((sum, row) => sum + sizeOf(row), 0) / CHARACTERS_PER_MS);
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
    return this.#reading.one(party, work);
  }

  #tell(streams: Streams, told: Told): void {
    streams.told = this.#told += 1;
    const { row, again } = told;
    const call: ToldCall = { row, again, at: streams.told };
    for (const [stream, accepts] of streams.accepting) if (accepts(told)) stream.offer(call);
  }

  #fail({ accepting, heard }: Streams): void {
    heard.length = 0;
    for (const stream of accepting.keys()) stream.fail(this.#missed);
  }

  #heard(message: string): void {
    const heard = readMessage(message);
    // Whatever Redis says, a product's subscribers see its calls and no others.
    const streams = heard && this.#streams.get(heard.productId);
    if (heard === null || streams == null) return;
    streams.told = this.#told += 1;
    streams.heard.push({ id: heard.id, again: heard.again, no: streams.told });
    if (streams.heard.length > MAX_HEARD) this.#fail(streams);
    else if (!streams.isReading) void this.#readHeard(streams);
  }

  /** Never rejects: whoever listens is told that something was missed. */
  async #readHeard(streams: Streams): Promise<void> {
    streams.isReading = true;
    while (streams.accepting.size > 0 && streams.heard.length > 0) {
      const some = streams.heard.splice(0, HEARD_AT_ONCE);
      try {
        const rows = await Promise.all(some.map(({ id }) => this.#store.call(streams.productKey, id)));
        // null: it was removed since.
        for (const [at, row] of rows.entries()) if (row !== null) this.#tell(streams, { ...some[at]!, row });
      } catch {
        this.#fail(streams);
      }
    }
    streams.isReading = false;
  }
}

function keyOf({ party }: CallReader, told: number, query: CallQuery): string {
  return JSON.stringify([party.tokenId, told, query]);
}

function sizeOf(row: CallRow): number {
  // The fixed part stands for what every call costs: some thousand small ones are enough.
  return 8_000 + row.body.length + row.headers.length + (row.run?.length ?? 0);
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
