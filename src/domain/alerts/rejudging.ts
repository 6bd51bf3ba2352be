import { DeviceSchema } from '../entities/device.ts';
import { RuleSchema } from '../entities/rule.ts';
import { behind, type FeedCursor, queryBehind } from '../live/feed-cursor.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { AlertWriting } from './alert-writing.ts';
import type { ChangedDevices } from './changed-devices.ts';
import { isAway } from './commit-judged.ts';
import { atOnce } from './devices-in-memory.ts';
import type { Judged } from './judged.ts';
import type { DeviceJudging } from './judging.ts';
import type { Judgings } from './judgings.ts';
import type { RuleBook, Rules, WatchingRule } from './rule-book.ts';

interface RejudgingDeps {
  database: Database;
  store: Pick<MeasurementStore, 'recorded' | 'lastHeard'>;
  judgings: Judgings;
  book: RuleBook;
  changed: ChangedDevices;
  now: () => number;
  /** The place in the order of commits up to which everything was judged. */
  place: () => FeedCursor;
  /** Commits at that place. */
  commit: (judged: readonly Judged[]) => Promise<void>;
  /** One transaction that changes alerts. */
  write: (work: (writing: AlertWriting) => Promise<void>) => Promise<void>;
  /** Whether it is judged there, by the rules of now. */
  isInMemory: (deviceKey: number) => boolean;
  /** Whether it is to end its turn. */
  isOver: () => boolean;
  /** Told of a device whose stored values cannot be judged: it goes on with its next value. */
  onSetAside: (deviceKey: number, error: unknown) => void;
}

/** Readings per page of the order of commits. */
const PAGE = 2_000;
/** Devices that are looked up at once, and those of them that are judged and committed at once. */
const [FOUND_AT_ONCE, JUDGED_AT_ONCE] = [48, 16];
/** Time after which what was recorded meanwhile is judged, before the next devices. */
const TURN_MS = 200;

/** Devices that are to be judged again. */
interface Batch {
  keys: number[];
  isToJudge: (judging: DeviceJudging) => boolean;
  /** To be called when all of them were judged. */
  done: () => Promise<void>;
}

/** How far the devices of a product were judged by rules of these revisions. */
interface Place {
  revisions: string;
  after: number;
}

/**
 * Judges devices by what is stored: those of rules that were saved, and those that other rules may watch by now. There may
 * be very many: products take turns, and between turns everybody's new values are judged.
 */
export class Rejudging {
  readonly #deps: RejudgingDeps;
  /** Key of a rule → the revision by which all devices were judged here. */
  readonly #judged = new Map<number, number>();
  /** By the key of the product. */
  readonly #places = new Map<number, Place>();
  #lastProduct = 0;
  #changed: AsyncGenerator<number[]> | null = null;
  #batch: Batch | null = null;
  /** Both kinds take turns. */
  #isTurnOfChanged = false;

  constructor(deps: RejudgingDeps) {
    this.#deps = deps;
  }

  /** Judges some of what was saved or changed since; resolves with whether there is more. */
  async judge(rules: Rules): Promise<boolean> {
    const until = performance.now() + TURN_MS;
    while (!this.#deps.isOver()) {
      this.#batch ??= await this.#next(rules);
      if (this.#batch === null) return false;
      // From here on it is known who is in memory.
      if (this.#deps.isOver()) return true;
      const { keys, isToJudge, done } = this.#batch;
      if (keys.length > 0) await this.#judgeThese(keys.slice(0, JUDGED_AT_ONCE), rules, isToJudge);
      keys.splice(0, JUDGED_AT_ONCE);
      if (keys.length === 0) {
        this.#batch = null;
        await done();
      }
      if (performance.now() > until) return true;
    }
    return true;
  }

  /** Begins again with what was at hand. Places are kept: they are behind what was committed, or will be read again. */
  forget(): void {
    this.#batch = null;
    this.#changed = null;
  }

  async #next(rules: Rules): Promise<Batch | null> {
    this.#isTurnOfChanged = !this.#isTurnOfChanged;
    if (this.#isTurnOfChanged) return (await this.#ofChanged()) ?? this.#ofSaved(rules);
    return (await this.#ofSaved(rules)) ?? this.#ofChanged();
  }

  /** What disabled rules had told is over. */
  async closeDisabled(): Promise<void> {
    const { database, write } = this.#deps;
    const rules = await database
      .read()
      .execute<{ key: number; revision: number }[]>(
        'select "key", revision from rule where enabled = ? and judged_revision < revision',
        [database.dialect === 'sqlite' ? 0 : false],
      );
    for (const { key, revision } of rules)
      await write(async (writing) => {
        await writing.close(key);
        await writing.em.nativeUpdate(RuleSchema, { key, revision }, { judgedRevision: revision });
      });
  }

  /** Whether devices are still to be judged by the rule as it is; rows may be older than the last look. */
  #isSaved({ key, revision, judgedRevision }: WatchingRule): boolean {
    return Math.max(judgedRevision, this.#judged.get(key) ?? 0) < revision;
  }

  /** Devices of the next product with rules that were saved, to be judged by all of its rules at once. */
  async #ofSaved(rules: Rules): Promise<Batch | null> {
    const products = [...rules]
      .filter(([, own]) => own.some((rule) => this.#isSaved(rule)))
      .toSorted(([one], [other]) => one - other);
    for (const key of this.#places.keys()) if (!rules.has(key)) this.#places.delete(key);
    const next = products.find(([key]) => key > this.#lastProduct) ?? products[0];
    if (next === undefined) return null;
    const [productKey, own] = next;
    this.#lastProduct = productKey;
    const saved = own.filter((rule) => this.#isSaved(rule));
    const revisions = JSON.stringify(saved.map(({ key, revision }) => [key, revision]));
    const known = this.#places.get(productKey);
    const after = known?.revisions === revisions ? known.after : 0;
    const rows = await this.#deps.database
      .read()
      .find(
        DeviceSchema,
        { product: productKey, key: { $gt: after } },
        { fields: ['key'], orderBy: { key: 'asc' }, limit: FOUND_AT_ONCE },
      );
    const keys = rows.map(({ key }) => key);
    const last = keys.at(-1) ?? after;
    const isLast = keys.length < FOUND_AT_ONCE;
    const done = async (): Promise<void> => {
      this.#places.set(productKey, { revisions, after: last });
      if (isLast) await this.#allJudged(productKey, saved);
    };
    return { keys, isToJudge: () => true, done };
  }

  async #allJudged(productKey: number, saved: readonly WatchingRule[]): Promise<void> {
    this.#places.delete(productKey);
    await this.#deps.database.write(async (em) => {
      for (const { key, revision } of saved)
        await em.nativeUpdate(RuleSchema, { key, revision }, { judgedRevision: revision });
    });
    for (const { key, revision } of saved) this.#judged.set(key, revision);
  }

  async #ofChanged(): Promise<Batch | null> {
    this.#changed ??= this.#deps.changed.take();
    const { done: isOver, value } = await this.#changed.next();
    if (isOver === true) {
      this.#changed = null;
      return null;
    }
    // Of new ones there is nothing to judge by.
    const heard = await this.#deps.store.lastHeard(value);
    return {
      keys: [...value],
      isToJudge: ({ deviceKey, before }) => before !== null || heard.has(deviceKey),
      done: async () => {},
    };
  }

  /** Judges the devices by the rules by which they were not. Those in memory are: they were read with these rules. */
  async #judgeThese(keys: readonly number[], rules: Rules, isToJudge: Batch['isToJudge']): Promise<void> {
    const { judgings, commit, isInMemory, now, onSetAside } = this.#deps;
    const others = keys.filter((key) => !isInMemory(key));
    const judged: Judged[] = [];
    const chosen = new Set([...(await judgings.of(others, rules)).values()].filter(isToJudge));
    await atOnce([...chosen], async (judging) => {
      try {
        await judging.again(now());
      } catch (error) {
        if (isAway(error)) throw error;
        chosen.delete(judging);
        onSetAside(judging.deviceKey, error);
      }
    });
    for (const judging of [...chosen].filter(({ isTouched }) => isTouched)) {
      const result = judging.result(now());
      if (result.after !== result.before || result.changes.length > 0) judged.push(result);
    }
    if (judged.length === 0) return;
    // Those that have sent something since are judged when that is read: it is not lost in what is stored.
    const unread = await this.#unread();
    await commit(judged.filter(({ deviceKey, after }) => after === null || !unread.has(deviceKey)));
  }

  /** Devices with readings that were committed and not judged yet. */
  async #unread(): Promise<Set<number>> {
    const keys = new Set<number>();
    for (let cursor = this.#deps.place(); ;) {
      const page = await this.#deps.store.recorded(queryBehind(cursor, null, PAGE));
      for (const { deviceKey } of page.readings) keys.add(deviceKey);
      if (!page.more && (page.complete || page.readings.length === 0)) return keys;
      cursor = behind(cursor, page);
    }
  }
}
