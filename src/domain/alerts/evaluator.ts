import { LockMode } from '@mikro-orm/core';
import { Alarm } from '../../scheduling/alarm.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { pause } from '../../scheduling/pause.ts';
import { AlertSchema } from '../entities/alert.ts';
import { RuleSchema } from '../entities/rule.ts';
import { RuleReaderSchema } from '../entities/rule-reader.ts';
import { behind, decodeCursor, encodeCursor, type FeedCursor, queryBehind } from '../live/feed-cursor.ts';
import type { RecordedFeed } from '../live/recorded-feed.ts';
import { toEvents } from '../live/recorded-event.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { AlertOutbox } from './alert-outbox.ts';
import { forgetStates, letWait } from './alert-rows.ts';
import { changeAlerts } from './alert-writing.ts';
import type { ChangedDevices } from './changed-devices.ts';
import { commitJudged } from './commit-judged.ts';
import { inParts } from './commit-size.ts';
import { DevicesInMemory } from './devices-in-memory.ts';
import type { Judged } from './judged.ts';
import type { Judgings } from './judgings.ts';
import { ReaderLease } from './reader-lease.ts';
import { Rejudging } from './rejudging.ts';
import type { RuleBook, Rules } from './rule-book.ts';

interface EvaluatorDeps {
  database: Database;
  store: Pick<MeasurementStore, 'position' | 'recorded' | 'lastHeard'>;
  judgings: Judgings;
  book: RuleBook;
  changed: ChangedDevices;
  feed: Pick<RecordedFeed, 'onRecorded'>;
  cluster: Cluster;
  outbox: AlertOutbox;
  now: () => number;
  /** Told of a failure; it is tried again a second later. */
  onError: (error: unknown) => void;
  /** Told of a device whose judgement cannot be stored: it goes on with its next value. */
  onSetAside: (deviceKey: number, error: unknown) => void;
  /** Called after alerts have changed. */
  onAlerts: () => void;
}

/** Readings per page of the order of commits. */
const PAGE = 2_000;
/** Devices whose times are due, or that are judged again, at once. */
const DEVICES_AT_ONCE = 500;
const LOOK_ANYWAY_MS = 1_000;
/** Pause between two looks, this many times as long as one took. */
const REST_FACTOR = 4;
const [SHORTEST_REST_MS, LONGEST_REST_MS] = [2, 20];
/** States that tell nothing new are stored so often, or when they are so many. */
const STORE_EVERY_MS = 5_000;
const MAX_UNSTORED = 5_000;
/** Maximum alerts of which something is told in one commit. */
const TOLD_AT_ONCE = 10_000;
const FOR_UPDATE = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;

/** Judges again what moved meanwhile. */
class Moved extends Error {}

/**
 * Judges recorded values by the rules, behind the recorder's commit: states, place in the order of commits, alerts and
 * their events move in one commit, so that nothing is told twice or never, whatever dies meanwhile. One node at a time
 * reads; without rules nobody does.
 */
export class Evaluator {
  readonly #deps: EvaluatorDeps;
  readonly #lease: ReaderLease;
  readonly #alarm = new Alarm();
  readonly #rejudging: Rejudging;
  readonly #stopped: Promise<void>;
  #isOver = false;
  /** Time from the receipt of what was judged last to its judgement. */
  behindMs = 0;
  /** How far everything was judged; null: read from the database. */
  #cursor: FeedCursor | null = null;
  /** How far the states are stored. */
  #storedCursor: FeedCursor | null = null;
  #storedAt = 0;
  /** When a state is due next, when that was found out, and whether it may be earlier by now. */
  #dueAt = -Infinity;
  #lookedAt = -Infinity;
  #isToLook = true;
  readonly #devices: DevicesInMemory;
  /** What is in memory may be outdated. */
  #areChanged = false;
  /** When something is to be told next; -Infinity: unknown. */
  #tellAt = -Infinity;

  constructor(deps: EvaluatorDeps) {
    this.#deps = deps;
    this.#lease = new ReaderLease(deps);
    this.#devices = new DevicesInMemory(deps.judgings);
    this.#rejudging = new Rejudging({
      ...deps,
      place: () => this.#cursor!,
      commit: async (judged) => {
        for (const part of inParts(judged)) await this.#commit(part, this.#storedCursor!);
      },
      write: (work) => changeAlerts(deps, work),
      isInMemory: (deviceKey) => this.#devices.has(deviceKey),
      isOver: () => this.#isOver || this.#areChanged,
    });
    const onChanged = (): void => {
      this.#areChanged = true;
      this.#alarm.ring();
    };
    deps.book.onChanged(onChanged);
    deps.changed.onChanged(onChanged);
    // Without rules nothing is to be judged; the first one rings by itself.
    deps.feed.onRecorded(() => this.#cursor !== null && this.#alarm.ring());
    this.#stopped = runAs(NOBODY, () => this.#run());
  }

  /** Ends after the commit under way; another node goes on at once. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#alarm.ring();
    await this.#stopped;
    if (this.#cursor === null) return;
    // What is not stored is judged again.
    if (this.#devices.unstored > 0) await this.#store().catch(this.#deps.onError);
    await this.#lease.release().catch(this.#deps.onError);
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      try {
        const began = performance.now();
        const rest = await this.#step();
        // One look serves what is recorded meanwhile.
        if (rest > LONGEST_REST_MS)
          await pause(Math.min(Math.max(REST_FACTOR * (performance.now() - began), SHORTEST_REST_MS), LONGEST_REST_MS));
        await this.#alarm.sleep(rest);
      } catch (error) {
        this.#begin();
        this.#lease.doubt();
        if (error instanceof Moved || this.#isOver) continue;
        this.#deps.onError(error);
        await pause(LOOK_ANYWAY_MS);
      }
    }
  }

  /** Judges all that there is to judge; the time until there may be more, in ms. */
  async #step(): Promise<number> {
    const { now } = this.#deps;
    const rules = await this.#deps.book.present();
    if (this.#deps.book.takeNews()) await this.#rejudging.closeDisabled();
    if (rules.size === 0) this.#deps.changed.forget();
    const isIdle = rules.size === 0 && this.#tellAt === Infinity;
    if (isIdle && this.#cursor === null) return LOOK_ANYWAY_MS;
    if (!(await this.#holdsLease())) return LOOK_ANYWAY_MS;
    if (rules.size === 0) {
      await this.#tellDue();
      if (this.#tellAt === Infinity) await this.#rest();
      return this.#untilDue(this.#tellAt);
    }
    if (this.#areChanged) await this.#forgetDevices();
    const isMore = await this.#rejudging.judge(rules);
    // Before reading, so that nothing that was recorded by then is taken for silence.
    const readAt = now();
    await this.#readOn();
    const isDue = now() >= Math.min(this.#dueAt, this.#tellAt, this.#lookedAt + LOOK_ANYWAY_MS);
    if (isDue || this.#isToLook) {
      this.#isToLook = false;
      await this.#judgeDue(rules, readAt);
      await this.#tellDue();
      await this.#lookAhead();
    }
    return isMore ? 0 : this.#untilDue(Math.min(this.#tellAt, this.#dueAt));
  }

  /** Finds out when something is due, at most so often, and after each commit. */
  async #lookAhead(): Promise<void> {
    const [first] = await this.#deps.database
      .read()
      .execute<{ due: number | string | null }[]>('select min(due_at) as due from rule_state');
    this.#dueAt = first?.due == null ? Infinity : Number(first.due);
    this.#lookedAt = this.#deps.now();
  }

  #untilDue(at: number): number {
    return Math.min(LOOK_ANYWAY_MS, Math.max(1, at - this.#deps.now()));
  }

  async #holdsLease(): Promise<boolean> {
    if (this.#lease.isFresh && this.#cursor !== null) return true;
    const taken = await this.#lease.take();
    if (taken === null) {
      this.#begin();
      return false;
    }
    if (this.#cursor === null && taken.position !== null) this.#cursor = decodeCursor(taken.position);
    this.#cursor ??= { after: await this.#deps.store.position(), between: null };
    this.#storedCursor ??= this.#cursor;
    return true;
  }

  /** Begins again from what is stored. */
  #begin(): void {
    this.#devices.forget();
    this.#rejudging.forget();
    this.#cursor = null;
    this.#storedCursor = null;
  }

  /** Forgets the place while nothing watches: the next rule begins with a new one. */
  async #rest(): Promise<void> {
    await this.#deps.database.write(async (em) => {
      const reader = await em.findOneOrFail(RuleReaderSchema, { share: 0 }, FOR_UPDATE);
      const isWatched = (await em.count(RuleSchema, { enabled: true, product: { deletedAt: null } })) > 0;
      if (!isWatched && reader.node === this.#lease.node) reader.position = null;
    });
    this.#begin();
  }

  /** Judges what was committed since, page by page. */
  async #readOn(): Promise<void> {
    for (let isComplete = false; !isComplete && !this.#isOver;) {
      const after = this.#cursor!;
      const page = await this.#deps.store.recorded(queryBehind(after, null, PAGE));
      if (page.expired) return this.#catchUp();
      let events = toEvents(page, this.#cursor!.after);
      let isUrgent = false;
      do {
        if (this.#devices.isFull) await this.#store();
        if (this.#areChanged) await this.#forgetDevices();
        // Read after the page: what is recorded after a rule was made is judged by it.
        const rules = await this.#deps.book.present();
        const judged = await this.#devices.judge(events, rules);
        isUrgent = judged.isUrgent;
        if (judged.count > 0) this.#cursor = events[judged.count - 1]!.place;
        events = events.slice(judged.count);
      } while (events.length > 0);
      this.behindMs = this.#deps.now() - (page.readings.at(-1)?.storedAt ?? this.#deps.now());
      this.#cursor = behind(after, page);
      isComplete = page.complete && !page.more;
      const { unstored } = this.#devices;
      const isOld = unstored > 0 && this.#deps.now() - this.#storedAt > STORE_EVERY_MS;
      if (isUrgent || isOld || unstored >= MAX_UNSTORED) await this.#store();
    }
  }

  /** Stores what was judged since, with the place up to which it was. */
  async #store(): Promise<void> {
    const judged = this.#devices.results(this.#deps.now());
    await this.#commit(judged, this.#cursor!);
    this.#devices.stored(judged);
    this.#storedCursor = this.#cursor!;
    this.#storedAt = this.#deps.now();
  }

  /** Reads devices and their states again before their next use: rules, devices or products were changed. */
  async #forgetDevices(): Promise<void> {
    this.#areChanged = false;
    if (this.#devices.unstored > 0) await this.#store();
    this.#devices.forget();
  }

  /** Judges devices whose times are due by the clock. */
  async #judgeDue(rules: Rules, now: number): Promise<void> {
    const { database } = this.#deps;
    for (let isMore = true; isMore && !this.#isOver;) {
      const rows = await database
        .read()
        .execute<{ key: number }[]>(
          'select device_key as "key" from rule_state where due_at <= ? order by due_at limit ?',
          [now, DEVICES_AT_ONCE],
        );
      isMore = rows.length === DEVICES_AT_ONCE;
      if (rows.length === 0) return;
      const keys = rows.map(({ key }) => key);
      // Those in memory know more than their rows.
      const known = keys.filter((key) => this.#devices.has(key));
      for (const key of known) {
        if (this.#devices.isFull) await this.#store();
        // It may have been forgotten with that.
        if (this.#devices.has(key)) await this.#devices.clock(key, now);
      }
      if (this.#devices.unstored > 0) await this.#store();
      const others = keys.filter((key) => !known.includes(key));
      const judgings = await this.#deps.judgings.of(others, rules);
      const gone = others.filter((key) => !judgings.has(key));
      if (gone.length > 0) await database.write((em) => forgetStates(em, gone));
      const judged: Judged[] = [];
      for (const judging of judgings.values()) {
        await judging.clock(now);
        judged.push(judging.result(now));
      }
      for (const part of inParts(judged)) await this.#commit(part, this.#storedCursor!);
    }
  }

  /** Too old to go on from: every device is judged again by what is stored. */
  async #catchUp(): Promise<void> {
    const { database, store } = this.#deps;
    const cursor = { after: await store.position(), between: null };
    await database.write(async (em) => {
      const reader = await em.findOneOrFail(RuleReaderSchema, { share: 0 }, FOR_UPDATE);
      if (reader.node !== this.#lease.node) throw new Moved();
      reader.position = encodeCursor(cursor);
      await em.execute('update rule set judged_revision = 0, revision = revision + 1', [], 'run');
    });
    this.#deps.book.forget();
    this.#devices.forget();
    this.#cursor = cursor;
    this.#storedCursor = cursor;
    this.#alarm.ring();
  }

  async #commit(judged: readonly Judged[], cursor: FeedCursor): Promise<void> {
    const { onSetAside } = this.#deps;
    const write = (some: readonly Judged[], setAside: readonly number[], isLast: boolean): Promise<void> =>
      changeAlerts(this.#deps, async (writing) => {
        if (writing.reader.node !== this.#lease.node || !(await writing.judged(some))) throw new Moved();
        await letWait(writing.em, setAside);
        const place = isLast ? { position: encodeCursor(cursor) } : {};
        Object.assign(writing.reader, { ...place, until: this.#lease.next });
      });
    const failed = await commitJudged(judged, write, (error) => error instanceof Moved);
    for (const [deviceKey, error] of failed) onSetAside(deviceKey, error);
    // In memory they know what could not be stored.
    if (failed.size > 0) this.#areChanged = true;
    this.#lease.renewed();
    this.#isToLook = true;
  }

  /** Tells what waited for its time: the end of a snooze, the opening of a schedule, a reminder. */
  async #tellDue(): Promise<void> {
    const { database, now } = this.#deps;
    for (let isMore = true; isMore && !this.#isOver;) {
      const [due] = await database
        .read()
        .execute<{ at: number | string | null }[]>('select min(tell_at) as at from alert where tell_at is not null');
      this.#tellAt = due?.at == null ? Infinity : Number(due.at);
      if (this.#tellAt > now()) return;
      isMore = await changeAlerts(this.#deps, async (writing) => {
        if (writing.reader.node !== this.#lease.node) throw new Moved();
        const where = { tellAt: { $lte: now() } };
        const alerts = await writing.em.find(AlertSchema, where, { orderBy: { tellAt: 'asc' }, limit: TOLD_AT_ONCE });
        for (const alert of alerts) writing.look(alert);
        return alerts.length > 0;
      });
    }
  }
}
