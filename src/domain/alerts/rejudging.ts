import { DeviceSchema } from '../entities/device.ts';
import { RuleSchema } from '../entities/rule.ts';
import { behind, type FeedCursor, queryBehind } from '../live/feed-cursor.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { AlertWriting } from './alert-writing.ts';
import type { ChangedDevices } from './changed-devices.ts';
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
  isOver: () => boolean;
}

/** Readings per page of the order of commits. */
const PAGE = 2_000;
const DEVICES_AT_ONCE = 500;

/** Judges devices by what is stored: those of rules that were saved, and those that other rules may watch by now. */
export class Rejudging {
  readonly #deps: RejudgingDeps;
  /** Key of a rule → the revision by which all devices were judged here. */
  readonly #judged = new Map<number, number>();

  constructor(deps: RejudgingDeps) {
    this.#deps = deps;
  }

  /** All that was saved or changed since. */
  async judge(rules: Rules): Promise<void> {
    for (const [productKey, own] of rules) {
      const saved = own.filter((rule) => this.#isSaved(rule));
      if (saved.length > 0 && !this.#deps.isOver()) await this.#judgeSaved(productKey, saved, rules);
    }
    for await (const keys of this.#deps.changed.take()) {
      if (this.#deps.isOver()) return;
      // Of new ones there is nothing to judge by.
      const heard = await this.#deps.store.lastHeard(keys);
      await this.#judgeThese(keys, rules, ({ deviceKey, before }) => before !== null || heard.has(deviceKey));
    }
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

  /** Judges all devices of the product, by all of its rules at once. */
  async #judgeSaved(productKey: number, saved: readonly WatchingRule[], rules: Rules): Promise<void> {
    const { database, isOver } = this.#deps;
    for (let after: number | null = 0; after !== null && !isOver();) {
      const rows: { key: number }[] = await database
        .read()
        .find(
          DeviceSchema,
          { product: productKey, key: { $gt: after } },
          { fields: ['key'], orderBy: { key: 'asc' }, limit: DEVICES_AT_ONCE },
        );
      after = rows.length < DEVICES_AT_ONCE ? null : rows.at(-1)!.key;
      await this.#judgeThese(
        rows.map(({ key }) => key),
        rules,
      );
    }
    if (isOver()) return;
    await database.write(async (em) => {
      for (const { key, revision } of saved)
        await em.nativeUpdate(RuleSchema, { key, revision }, { judgedRevision: revision });
    });
    for (const { key, revision } of saved) this.#judged.set(key, revision);
  }

  /** Judges the devices by the rules by which they were not. */
  async #judgeThese(
    keys: readonly number[],
    rules: Rules,
    isToJudge: (judging: DeviceJudging) => boolean = () => true,
  ): Promise<void> {
    const { judgings, commit, now } = this.#deps;
    const judged: Judged[] = [];
    const chosen = [...(await judgings.of(keys, rules)).values()].filter(isToJudge);
    await atOnce(chosen, (judging) => judging.again(now()));
    for (const judging of chosen.filter(({ isTouched }) => isTouched)) {
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
