import type Sqlite from 'better-sqlite3';
import { eachBatch } from './batch-reader.ts';
import { DeviceRows, type UnsettledDevice } from './device-rows.ts';
import { RowUpserts } from './row-upserts.ts';
import { type Transact, transactor } from './sqlite-connection.ts';

const ROWS_BETWEEN_LOOKS_AT_THE_CLOCK = 64;

/**
 * Brings what the inbox acknowledged into `measurement`. A device's waiting batches always go in in commit order, so no
 * older value ever replaces a newer one, whichever device is settled first. Devices are settled in groups, in order of
 * their keys; when a whole group is done its inbox rows go. A crash before that only means that the inbox, read again in
 * order, writes the same values again.
 */
export class Settler {
  readonly #db: Sqlite.Database;
  readonly #transact: Transact;
  readonly #upserts: RowUpserts;
  readonly #heard: Sqlite.Statement<[number, number]>;
  readonly #forgetInbox: Sqlite.Statement<[number]>;

  /** Committed after the group began. */
  #waiting = new Map<number, UnsettledDevice>();
  #group = new Map<number, UnsettledDevice>();
  /** The group's devices still to do, the next one last. */
  #groupKeys: number[] = [];
  #groupSeq = 0;
  /** The device of the group that is half done. */
  #current: DeviceRows | null = null;

  #groupRows = 0;
  #groupRowsAtStart = 0;

  #oldestAt = Infinity;
  lastSeq = 0;
  settledSeq = 0;
  /** Rows in memory that are in no group yet. */
  waitingRows = 0;
  /** A device with more rows than that is settled in parts. */
  partRows = 4_096;

  constructor(db: Sqlite.Database) {
    this.#db = db;
    this.#transact = transactor(db);
    this.#upserts = new RowUpserts(db);
    this.#heard = db.prepare(
      `INSERT INTO device_state (device_key, last_heard_at) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET last_heard_at = max(last_heard_at, excluded.last_heard_at)`,
    );
    this.#forgetInbox = db.prepare('DELETE FROM inbox WHERE seq <= ?');
  }

  /** The bytes of an inbox row that has been committed. They must not change any more. */
  add(seq: number, bytes: Buffer, now: number): void {
    eachBatch(bytes, (deviceKey, receivedAt, batch) => {
      let device = this.#waiting.get(deviceKey);
      if (!device) this.#waiting.set(deviceKey, (device = emptyDevice(deviceKey)));
      device.lastHeardAt = Math.max(device.lastHeardAt, receivedAt);
      device.batches.push(batch);
      this.waitingRows += batch.count;
    });
    if (this.#oldestAt === Infinity) this.#oldestAt = now;
    this.lastSeq = seq;
  }

  get hasGroup(): boolean {
    return this.#groupSeq > this.settledSeq;
  }

  /** Rows in memory. */
  get rows(): number {
    return this.waitingRows + this.#groupRows;
  }

  /** How much of the group is settled: 0 to 1. */
  get progress(): number {
    return this.#groupRows === 0 ? 1 : 1 - this.#groupRows / this.#groupRowsAtStart;
  }

  /** When the oldest receipt that is in no group yet was added; Infinity: there is none. */
  get oldestAt(): number {
    return this.#oldestAt;
  }

  /** Makes everything that waits the next group. Only when there is none. */
  startGroup(): void {
    this.#group = this.#waiting;
    this.#waiting = new Map();
    this.#groupKeys = [...this.#group.keys()].sort((a, b) => b - a);
    this.#groupSeq = this.lastSeq;
    this.#groupRowsAtStart = this.#groupRows = this.waitingRows;
    this.waitingRows = 0;
    this.#oldestAt = Infinity;
  }

  /** Settles some of the group in one transaction of about that many milliseconds; ends it when nothing is left. */
  slice(milliseconds: number): void {
    const deadline = performance.now() + milliseconds;
    let left = this.#skipSettled(this.#groupKeys.length);
    if (!this.#current && left === 0) return this.#endGroup();
    let current = this.#current;
    let position = current?.settled ?? 0;
    const done: DeviceRows[] = [];
    this.#write(() => {
      do {
        if (!current) {
          if ((left = this.#skipSettled(left)) === 0) return;
          const device = this.#group.get(this.#groupKeys[left - 1]!)!;
          current = new DeviceRows(device, device.settledBatches, this.partRows);
          if (current.isLast) left--;
          position = 0;
        }
        const to = Math.min(current.length, position + ROWS_BETWEEN_LOOKS_AT_THE_CLOCK);
        this.#settle(current, position, to);
        position = to;
        if (position === current.length) {
          done.push(current);
          const { isLast } = current;
          current = null;
          // The next part of this device begins with what is committed.
          if (!isLast) return;
        }
      } while (performance.now() < deadline);
    });
    this.#groupKeys.length = left;
    for (const device of done) this.#drop(this.#group, device);
    this.#current = current;
    if (this.#current) this.#current.settled = position;
  }

  /** How many of the group's first `left` devices are left without those that were settled out of turn. */
  #skipSettled(left: number): number {
    while (left > 0 && !this.#group.has(this.#groupKeys[left - 1]!)) left--;
    return left;
  }

  /** On the disk for good: a deletion that is acknowledged next must not be undone by these rows after a power cut. */
  #endGroup(): void {
    this.#transact(() => this.#forgetInbox.run(this.#groupSeq));
    this.settledSeq = this.#groupSeq;
  }

  /** Settles all that these devices have waiting, at once and out of turn. */
  settleDevices(deviceKeys: number[]): void {
    const parts: { from: Map<number, UnsettledDevice>; rows: DeviceRows }[] = [];
    for (const key of new Set(deviceKeys)) {
      const current = this.#current?.device.deviceKey === key ? this.#current : null;
      if (current) parts.push({ from: this.#group, rows: current });
      const older = this.#group.get(key);
      const begin = current?.end ?? older?.settledBatches ?? 0;
      if (older && begin < older.batches.length)
        parts.push({ from: this.#group, rows: new DeviceRows(older, begin, Infinity) });
      const newer = this.#waiting.get(key);
      if (newer) parts.push({ from: this.#waiting, rows: new DeviceRows(newer, 0, Infinity) });
    }
    if (parts.length === 0) return;
    this.#write(() => {
      for (const { rows } of parts) this.#settle(rows, rows.settled, rows.length);
    });
    for (const { from, rows } of parts) {
      if (rows === this.#current) this.#current = null;
      this.#drop(from, rows);
    }
  }

  /** Receipt time of the last batch that is not settled yet, for those of the devices that have one. */
  lastHeard(deviceKeys: number[]): [number, number][] {
    const heard: [number, number][] = [];
    for (const key of deviceKeys) {
      const at = Math.max(this.#group.get(key)?.lastHeardAt ?? 0, this.#waiting.get(key)?.lastHeardAt ?? 0);
      if (at > 0) heard.push([key, at]);
    }
    return heard;
  }

  /**
   * Settling needs no fsync of its own: until the inbox rows are gone for good it can be repeated, and the log is
   * written in order, so a commit that is on the disk has all earlier ones before it.
   */
  #write(work: () => void): void {
    this.#db.exec('PRAGMA synchronous = NORMAL');
    try {
      this.#transact(() => {
        work();
        this.#upserts.flush();
      });
    } catch (error) {
      this.#upserts.forget();
      throw error;
    } finally {
      this.#db.exec('PRAGMA synchronous = FULL');
    }
  }

  #settle(rows: DeviceRows, from: number, to: number): void {
    rows.each(from, to, (deviceKey, fieldKey, timestamp, value) =>
      this.#upserts.add(deviceKey, fieldKey, timestamp, value),
    );
    if (to === rows.length) this.#heard.run(rows.device.deviceKey, rows.device.lastHeardAt);
  }

  /** What has been committed. */
  #drop(from: Map<number, UnsettledDevice>, rows: DeviceRows): void {
    const { device } = rows;
    device.settledBatches = rows.end;
    if (from === this.#waiting) this.waitingRows -= rows.written;
    else this.#groupRows -= rows.written;
    if (rows.isLast) from.delete(device.deviceKey);
  }
}

function emptyDevice(deviceKey: number): UnsettledDevice {
  return { deviceKey, lastHeardAt: 0, batches: [], settledBatches: 0 };
}
