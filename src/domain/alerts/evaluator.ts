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
import { type RecordedEvent, toEvents } from '../live/recorded-event.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { uuidV7 } from '../text/uuid.ts';
import type { AlertOutbox } from './alert-outbox.ts';
import { forgetStates } from './alert-rows.ts';
import { changeAlerts } from './alert-writing.ts';
import type { ChangedDevices } from './changed-devices.ts';
import type { Judged } from './judging.ts';
import type { Judgings } from './judgings.ts';
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
  /** Called after alerts have changed. */
  onAlerts: () => void;
}

/** Readings per page of the order of commits. */
const PAGE = 2_000;
/** Devices whose times are due, or that are judged again, at once. */
const DEVICES_AT_ONCE = 500;
const LOOK_ANYWAY_MS = 1_000;
/** Time for which a node is the reader without a sign of life. */
const LEASE_MS = 10_000;
/** Time after which events are no longer kept. */
const EVENTS_KEPT_MS = 3_600_000;

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
  readonly #node = uuidV7();
  readonly #alarm = new Alarm();
  readonly #rejudging: Rejudging;
  readonly #stopped: Promise<void>;
  #isOver = false;
  /** How far everything was judged; null: read from the database. */
  #cursor: FeedCursor | null = null;
  #leaseUntil = 0;
  #storedAt = 0;
  #forgetAt = 0;
  /** When something is to be told next; -Infinity: unknown. */
  #tellAt = -Infinity;

  constructor(deps: EvaluatorDeps) {
    this.#deps = deps;
    this.#rejudging = new Rejudging({
      ...deps,
      place: () => this.#cursor!,
      commit: (judged) => this.#commit(judged, this.#cursor!),
      write: (work) => changeAlerts(deps, work),
      isOver: () => this.#isOver,
    });
    deps.book.onChanged(() => this.#alarm.ring());
    deps.changed.onChanged(() => this.#alarm.ring());
    deps.feed.onRecorded(() => this.#alarm.ring());
    this.#stopped = runAs(NOBODY, () => this.#run());
  }

  /** Ends after the commit under way. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#alarm.ring();
    await this.#stopped;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#alarm.sleep(await this.#step());
      } catch (error) {
        this.#cursor = null;
        this.#leaseUntil = 0;
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
    await this.#rejudging.judge(rules);
    // Before reading, so that nothing that was recorded by then is taken for silence.
    const readAt = now();
    await this.#readOn();
    await this.#judgeDue(rules, readAt);
    await this.#tellDue();
    await this.#forgetEvents();
    const [first] = await this.#deps.database
      .read()
      .execute<{ due: number | string | null }[]>('select min(due_at) as due from rule_state');
    return this.#untilDue(Math.min(this.#tellAt, first?.due == null ? Infinity : Number(first.due)));
  }

  #untilDue(at: number): number {
    return Math.min(LOOK_ANYWAY_MS, Math.max(1, at - this.#deps.now()));
  }

  async #holdsLease(): Promise<boolean> {
    const { database, cluster, now } = this.#deps;
    if (now() < this.#leaseUntil - LEASE_MS / 2 && this.#cursor !== null) return true;
    const isAlone = database.dialect === 'sqlite' || !cluster.shared;
    const { held, position } = await database.write(async (em) => {
      const reader = await em.findOneOrFail(RuleReaderSchema, { share: 0 }, FOR_UPDATE);
      const isFree = reader.node === this.#node || reader.until < now() || isAlone;
      if (isFree) Object.assign(reader, { node: this.#node, until: now() + LEASE_MS });
      return { held: isFree, position: reader.position ?? null };
    });
    if (!held) {
      this.#cursor = null;
      return false;
    }
    this.#leaseUntil = now() + LEASE_MS;
    if (this.#cursor === null && position !== null) this.#cursor = decodeCursor(position);
    this.#cursor ??= { after: await this.#deps.store.position(), between: null };
    return true;
  }

  /** Forgets the place while nothing watches: the next rule begins with a new one. */
  async #rest(): Promise<void> {
    await this.#deps.database.write(async (em) => {
      const reader = await em.findOneOrFail(RuleReaderSchema, { share: 0 }, FOR_UPDATE);
      const isWatched = (await em.count(RuleSchema, { enabled: true, product: { deletedAt: null } })) > 0;
      if (!isWatched && reader.node === this.#node) reader.position = null;
    });
    this.#cursor = null;
  }

  /** Judges what was committed since, page by page. */
  async #readOn(): Promise<void> {
    for (let isComplete = false; !isComplete && !this.#isOver;) {
      const page = await this.#deps.store.recorded(queryBehind(this.#cursor!, null, PAGE));
      if (page.expired) return this.#catchUp();
      // Read after the page: what is recorded after a rule was made is judged by it.
      const rules = await this.#deps.book.present();
      const judged = await this.#judgeEvents(toEvents(page, this.#cursor!.after), rules);
      const cursor = behind(this.#cursor!, page);
      isComplete = page.complete;
      const isOld = page.readings.length > 0 && this.#deps.now() - this.#storedAt > LOOK_ANYWAY_MS;
      if (judged.length > 0 || isOld) await this.#commit(judged, cursor);
      this.#cursor = cursor;
    }
  }

  async #judgeEvents(events: readonly RecordedEvent[], rules: Rules): Promise<Judged[]> {
    const judgings = await this.#deps.judgings.of([...new Set(events.map(({ deviceKey }) => deviceKey))], rules, {
      ofWatched: true,
    });
    for (const event of events) await judgings.get(event.deviceKey)?.event(event);
    return [...judgings.values()].map((judging) => judging.result(this.#deps.now()));
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
      const judgings = await this.#deps.judgings.of(
        rows.map(({ key }) => key),
        rules,
      );
      const gone = rows.map(({ key }) => key).filter((key) => !judgings.has(key));
      if (gone.length > 0) await database.write((em) => forgetStates(em, gone));
      const judged: Judged[] = [];
      for (const judging of judgings.values()) {
        await judging.clock(now);
        judged.push(judging.result(now));
      }
      await this.#commit(judged, this.#cursor!);
    }
  }

  /** Too old to go on from: every device is judged again by what is stored. */
  async #catchUp(): Promise<void> {
    const { database, store } = this.#deps;
    const cursor = { after: await store.position(), between: null };
    await database.write(async (em) => {
      const reader = await em.findOneOrFail(RuleReaderSchema, { share: 0 }, FOR_UPDATE);
      if (reader.node !== this.#node) throw new Moved();
      reader.position = encodeCursor(cursor);
      await em.execute('update rule set judged_revision = 0, revision = revision + 1', [], 'run');
    });
    this.#deps.book.forget();
    this.#cursor = cursor;
    this.#alarm.ring();
  }

  async #commit(judged: readonly Judged[], cursor: FeedCursor): Promise<void> {
    const { now } = this.#deps;
    await changeAlerts(this.#deps, async (writing) => {
      if (writing.reader.node !== this.#node || !(await writing.judged(judged))) throw new Moved();
      Object.assign(writing.reader, { position: encodeCursor(cursor), until: now() + LEASE_MS });
    });
    this.#leaseUntil = now() + LEASE_MS;
    this.#storedAt = now();
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
        if (writing.reader.node !== this.#node) throw new Moved();
        const where = { tellAt: { $lte: now() } };
        const alerts = await writing.em.find(AlertSchema, where, { orderBy: { tellAt: 'asc' }, limit: TOLD_AT_ONCE });
        for (const alert of alerts) writing.look(alert);
        return alerts.length > 0;
      });
    }
  }

  async #forgetEvents(): Promise<void> {
    const { database, now } = this.#deps;
    if (now() < this.#forgetAt) return;
    this.#forgetAt = now() + EVENTS_KEPT_MS / 60;
    await database.write(async (em) => {
      const old = now() - EVENTS_KEPT_MS;
      const [{ last }] = (await em.execute('select max(seq) as last from alert_event where at < ?', [old])) as [
        { last: number | string | null },
      ];
      if (last === null) return;
      await em.execute('delete from alert_event where seq <= ?', [Number(last)], 'run');
      await em.nativeUpdate(RuleReaderSchema, { share: 0 }, { forgotten: Number(last) });
    });
  }
}
