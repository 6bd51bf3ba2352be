import type Sqlite from 'better-sqlite3';
import type { Page } from '../../chunks/page.ts';
import type { ReadingRange, ReadingRow, RecordedRow } from '../../chunks/snapshot.ts';
import { heardAtOf, storedAgainAt, storedAtOf } from '../../../domain/ports/store.ts';
import { eachFrame } from '../../readings/reading-frames.ts';
import { mergeValues } from '../../readings/reading-values.ts';
import { must } from '../../../must.ts';

/** A write to a moment. */
interface Came {
  seq: number;
  timestamp: number;
  storedAt: number;
}

/** A moment as it was written to last, and the values of each flush, which the caller merges: it may be long. */
interface Moment {
  came: Came;
  parts: { seq: number; values: Buffer }[];
}

/** Writes of a device, in the order of flushes, and the present state of each of its moments. */
interface OfDevice {
  inOrder: Came[];
  moments: Map<number, Moment>;
}

/** Place of a moment in the order of commits: flush, device, time. */
export type Place = [seq: number, deviceKey: number, timestamp: number];

/** Devices of a flush. */
interface Flush {
  seq: number;
  deviceKeys: Set<number>;
}

interface Seen {
  last: number;
}

interface Found {
  place: Place;
  storedAt: number;
}

interface Heard {
  seq: number;
  at: number;
}

/**
 * Flushes that are committed and not yet sorted in (`writer/intake.ts`), as a reader sees them over the table: values
 * in here are newer than those there, or the same. Flushes stay in memory as long as they are in the table.
 */
export class IntakeView {
  readonly #sql: {
    bounds: Sqlite.Statement<[], [number | null, number | null]>;
    after: Sqlite.Statement<[number], { seq: number; stored_at: number; frames: Buffer }>;
    live: Sqlite.Statement<[number, number], [deviceKey: number, timestamp: number, storedAt: number]>;
  };
  readonly #came = new Map<number, OfDevice>();
  readonly #heard = new Map<number, Heard>();
  /** Flushes in their order. */
  #flushes: Flush[] = [];
  readonly #seen: Seen;
  #first = Infinity;
  #last = 0;
  /** The number of the last flush that is in memory. */
  #added = 0;

  /** `seen`: by all views of the thread. */
  constructor(db: Sqlite.Database, seen: Seen = { last: 0 }) {
    this.#seen = seen;
    this.#sql = {
      bounds: db.prepare<[], [number | null, number | null]>('SELECT min(seq), max(seq) FROM intake').raw(),
      after: db.prepare('SELECT seq, stored_at, frames FROM intake WHERE seq > ? ORDER BY seq'),
      live: db
        .prepare<[number, number], [deviceKey: number, timestamp: number, storedAt: number]>(
          'SELECT device_key, ts, stored_at FROM reading WHERE seq BETWEEN ? AND ? AND stored_at > 0',
        )
        .raw(),
    };
  }

  /** Takes in new flushes at the start of each transaction. */
  refresh(): void {
    const [first, last] = must(this.#sql.bounds.get());
    if ((first ?? Infinity) > this.#first) this.#forgetBefore(first ?? Infinity);
    if (last !== null && last > this.#added) {
      for (const row of this.#sql.after.all(this.#added)) this.#add(row.seq, row.stored_at, row.frames);
      this.#added = last;
    }
    this.#first = first ?? Infinity;
    this.#last = last ?? this.#last;
    this.#seen.last = Math.max(this.#seen.last, this.#last);
  }

  /** Frees the memory: until the next transaction nothing is read. */
  letGo(): void {
    this.#came.clear();
    this.#heard.clear();
    this.#flushes = [];
    this.#added = 0;
  }

  /** The number of the first flush that is in here; all before it are sorted in. Infinity: there is none. */
  get first(): number {
    return this.#first;
  }

  /** The number of the last flush that was in here. */
  get last(): number {
    return this.#last;
  }

  /** The number of the last flush that was in any of the views, perhaps later than in this one. */
  get lastSeen(): number {
    return this.#seen.last;
  }

  /** Receipt time of the device's last batch in here. */
  heardAt(deviceKey: number): number | undefined {
    return this.#heard.get(deviceKey)?.at;
  }

  /** The rows of the range as the table has them, with later ones of the intake. */
  over(page: Page<ReadingRow>, { deviceKey, from, to, newestFirst, limit }: ReadingRange): Page<ReadingRow> {
    const moments = this.#came.get(deviceKey)?.moments;
    if (!moments) return page;
    const { rows, isLast } = page;
    // Beyond the last row of a full page the table may have more that belongs in between.
    const end = !isLast ? must(rows.at(-1)).timestamp : newestFirst ? -Infinity : Infinity;
    const among: Moment[] = [];
    for (const moment of to - from === 1 ? only(moments.get(from)) : moments.values()) {
      const { timestamp } = moment.came;
      if (timestamp < from || timestamp >= to || (newestFirst ? timestamp < end : timestamp > end)) continue;
      among.push(moment);
    }
    if (among.length === 0) return page;
    const merged = new Map<number, ReadingRow>();
    for (const moment of nearest(among, limit, newestFirst)) merged.set(moment.came.timestamp, rowOf(moment));
    for (const row of rows) {
      const newer = merged.get(row.timestamp);
      merged.set(row.timestamp, newer ? { ...newer, values: mergeValues(row.values, newer.values) } : row);
    }
    const all = [...merged.values()];
    all.sort(newestFirst ? (a, b) => b.timestamp - a.timestamp : (a, b) => a.timestamp - b.timestamp);
    return { rows: all.slice(0, limit), isLast: isLast && among.length <= limit && all.length <= limit };
  }

  /** A device's moments of the range in flushes after one, up to another; the part of each that is in here. */
  committedSince(deviceKey: number, after: number, upTo: number, from: number, to: number): ReadingRow[] {
    const moments = this.#came.get(deviceKey)?.moments.values() ?? [];
    const isAmong = ({ came: { seq, timestamp } }: Moment): boolean =>
      seq > after && seq <= upTo && timestamp >= from && timestamp < to;
    return [...moments].filter(isAmong).map(rowOf);
  }

  /**
   * Moments of the devices (null: of any) behind a place in the order of commits, up to a flush; each where it was last
   * written, by then if that it is live may not be known where it was written since: once the flush of its place in the
   * table is sorted in, that is neither in here nor behind who came so far.
   */
  recorded(
    deviceKeys: readonly number[] | null,
    from: Place,
    upTo: number,
    limit: number,
  ): Omit<RecordedRow, 'values'>[] {
    const found: Found[] = [];
    if (limit <= 0 || this.#last < from[0]) return [];
    const wanted = deviceKeys && new Set(deviceKeys);
    const storedAtOfLive = this.#withTable(upTo);
    const toldBefore = new Set<string>();
    // Flush by flush: a page needs little of all that waits.
    for (const { seq, deviceKeys: all } of since(this.#flushes, from[0])) {
      if (seq > upTo || found.length >= limit) break;
      const ofFlush: Found[] = [];
      for (const deviceKey of wanted ? inBoth(wanted, all) : all) {
        const of = this.#came.get(deviceKey);
        for (const came of of ? cameWith(of.inOrder, seq) : []) {
          const place: Place = [seq, deviceKey, came.timestamp];
          const newest = must(of).moments.get(came.timestamp)?.came;
          if (newest === undefined || inOrder(place, from) <= 0) continue;
          if (newest !== came && (newest.seq <= upTo || newest.storedAt > 0)) continue;
          const storedAt = storedAtOfLive(deviceKey, came);
          if (storedAt <= 0) continue;
          if (newest !== came) {
            const moment = `${deviceKey} ${came.timestamp}`;
            if (toldBefore.has(moment)) continue;
            toldBefore.add(moment);
          }
          ofFlush.push({ place, storedAt });
        }
      }
      ofFlush.sort((a, b) => inOrder(a.place, b.place));
      for (const one of ofFlush.slice(0, limit - found.length)) found.push(one);
    }
    return found.map(({ place: [seq, deviceKey, timestamp], storedAt }) => ({
      seq: String(seq),
      deviceKey,
      timestamp,
      storedAt,
    }));
  }

  /**
   * The time at which a moment in here was stored; one that is none of the live values may have been written over one
   * that is, which is in its place already, under the number of a flush that is in here.
   */
  #withTable(upTo: number): (deviceKey: number, came: Came) => number {
    let live: Map<string, number> | null = null;
    return (deviceKey, { timestamp, storedAt }) => {
      if (storedAt > 0) return storedAt;
      live ??= new Map(this.#sql.live.all(this.#first, upTo).map(([key, ts, at]) => [`${key} ${ts}`, at]));
      const before = live.size === 0 ? undefined : live.get(`${deviceKey} ${timestamp}`);
      return storedAgainAt(before ?? -Infinity, storedAt);
    };
  }

  #add(seq: number, storedAt: number, frames: Buffer): void {
    let of: OfDevice = { inOrder: [], moments: new Map() };
    let batchStoredAt = storedAt;
    const deviceKeys = new Set<number>();
    this.#flushes.push({ seq, deviceKeys });
    eachFrame(
      frames,
      (deviceKey, at) => {
        deviceKeys.add(deviceKey);
        batchStoredAt = storedAtOf(at, storedAt);
        of = this.#came.get(deviceKey) ?? { inOrder: [], moments: new Map() };
        this.#came.set(deviceKey, of);
        this.#heard.set(deviceKey, { seq, at: Math.max(heardAtOf(at), this.#heard.get(deviceKey)?.at ?? -Infinity) });
      },
      (_deviceKey, timestamp, start, end) => {
        const older = of.moments.get(timestamp);
        const came = { seq, timestamp, storedAt: storedAgainAt(older?.came.storedAt ?? -Infinity, batchStoredAt) };
        const parts = older?.parts ?? [];
        parts.push({ seq, values: frames.subarray(start, end) });
        of.inOrder.push(came);
        of.moments.set(timestamp, { came, parts });
      },
    );
  }

  #forgetBefore(first: number): void {
    this.#flushes = since(this.#flushes, first);
    for (const [deviceKey, { seq }] of this.#heard) {
      if (seq >= first) continue;
      this.#heard.delete(deviceKey);
      this.#came.delete(deviceKey);
    }
    for (const of of this.#came.values()) {
      if (of.inOrder[0] === undefined || of.inOrder[0].seq >= first) continue;
      of.inOrder = of.inOrder.filter(({ seq }) => seq >= first);
      for (const [timestamp, moment] of of.moments) {
        if (moment.came.seq < first) of.moments.delete(timestamp);
        // Earlier values are in the table.
        else if (must(moment.parts[0]).seq < first) moment.parts = moment.parts.filter(({ seq }) => seq >= first);
      }
    }
  }
}

/** The first `limit` in order of time; all that wait of a device may be gone over for two. */
function nearest(moments: Moment[], limit: number, newestFirst: boolean): Moment[] {
  if (moments.length <= limit) return moments;
  const times = Float64Array.from(moments, ({ came }) => came.timestamp).sort();
  const [from, to] = newestFirst ? [must(times.at(-limit)), Infinity] : [-Infinity, must(times[limit - 1])];
  return moments.filter(({ came: { timestamp } }) => timestamp >= from && timestamp <= to);
}

function only(moment: Moment | undefined): Moment[] {
  return moment === undefined ? [] : [moment];
}

function rowOf(moment: Moment): ReadingRow & { seq: number } {
  const { came, parts } = moment;
  if (parts.length > 1) moment.parts = [{ seq: came.seq, values: mergeValues(...parts.map(({ values }) => values)) }];
  return { ...came, values: must(moment.parts[0]).values };
}

/** Writes of the flush or later ones; followers ask for few of them, again and again. */
function since<T extends { seq: number }>(came: T[], seq: number): T[] {
  return came.slice(came.findLastIndex((one) => one.seq < seq) + 1);
}

function inBoth(a: Set<number>, b: Set<number>): number[] {
  const [fewer, more] = a.size < b.size ? [a, b] : [b, a];
  return [...fewer].filter((one) => more.has(one));
}

/** Writes of the flush, found in their order. */
function cameWith(came: Came[], seq: number): Came[] {
  const from = firstOf(came, seq);
  return came.slice(from, firstOf(came, seq + 1, from));
}

/** Index of the first write of the flush or a later one. */
function firstOf(came: Came[], seq: number, from = 0): number {
  let [low, high] = [from, came.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (must(came[middle]).seq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

function inOrder(a: Place, b: Place): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
