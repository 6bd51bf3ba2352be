import type { Device } from '../entities/device.ts';
import { PointBudget } from '../history/point-budget.ts';
import type { History } from '../history/history.ts';
import { ofField } from '../history/of-field.ts';
import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import type { RecordedEvent } from '../live/recorded-event.ts';
import { readStored } from '../measurements/field-value.ts';
import type { MeasurementStore, StoredValue } from '../ports/store.ts';
import { configuredValues } from '../rules/configured-values.ts';
import { conditionsOf, fieldsOf, type RuleDefinition } from '../rules/definition.ts';
import { judgeHistory } from '../rules/judge-history.ts';
import { freshState, type JudgeState, type Transition } from '../rules/judge-state.ts';
import { RuleJudge } from '../rules/rule-judge.ts';
import { valueOf, windowsOf, windowView } from '../rules/windows.ts';
import type { WatchingRule } from './rule-book.ts';

/** The state of a rule for a device, with the revision of the rule by which it was judged. */
interface KeptState {
  revision: number;
  state: JudgeState;
}

/** Changes of one rule for one device. */
interface RuleChange {
  ruleKey: number;
  transitions: Transition[];
}

/** A device as the rules see it after some events. */
export interface Judged {
  deviceKey: number;
  workspaceId: string;
  /** The row as it was read and as it is to be; null: none. */
  before: string | null;
  after: string | null;
  dueAt: number | null;
  changes: RuleChange[];
}

interface JudgingSources {
  history: History;
  store: Pick<MeasurementStore, 'series' | 'lastHeard'>;
  now: () => number;
}

const DAY_MS = 86_400_000;
/** Maximum values by which a device is judged again. */
const MOST_AGAIN = 100_000;
const LEAST_BACK_MS = 60_000;

/** The rules of one device, from the state that was stored to the one to store. */
export class DeviceJudging {
  readonly #sources: JudgingSources;
  readonly deviceKey: number;
  /** The row of states as it was read; null: none. */
  readonly before: string | null;
  readonly #info: DeviceInfo;
  readonly #rules: readonly WatchingRule[];
  readonly #kept: Record<string, KeptState>;
  readonly #judges = new Map<number, RuleJudge>();
  readonly #changes: RuleChange[] = [];

  /** `rules`: those that watch the device; `before`: its row of states. */
  constructor(
    sources: JudgingSources,
    { device, info, rules }: { device: Device; info: DeviceInfo; rules: readonly WatchingRule[] },
    before: string | null,
  ) {
    this.#sources = sources;
    this.deviceKey = device.key;
    this.#info = info;
    this.#rules = rules;
    this.before = before;
    this.#kept = before === null ? {} : (JSON.parse(before) as Record<string, KeptState>);
  }

  /** Judges what was recorded together, in the order in which it was measured. */
  async event(event: RecordedEvent): Promise<void> {
    const order = [...event.timestamps.keys()].toSorted((a, b) => event.timestamps[a]! - event.timestamps[b]!);
    const [first, last] = [event.timestamps[order[0]!]!, event.timestamps[order.at(-1)!]!];
    for (const rule of this.#rules) {
      const isNew = !this.#judges.has(rule.key) && this.#kept[rule.key]?.revision !== rule.revision;
      const judge = await this.#judgeOf(rule, first);
      const windows = windowsOf(rule.definition);
      judge.heard(event.receivedAt);
      for (const at of order) {
        const field = this.#info.product.fieldsByKey.get(event.fieldKeys[at]!);
        const value = field === undefined ? null : readStored(field, event.values[at]!);
        if (field === undefined || value === null) continue;
        const measuredAt = event.timestamps[at]!;
        const moment = { field: field.key, measuredAt, receivedAt: event.receivedAt, value };
        const own = windows.filter((one) => one.field === field.key);
        const isLate = measuredAt < (judge.state.judgedAt[field.key] ?? -Infinity);
        if (own.length === 0 || isLate) judge.value(moment);
        else judge.value({ ...moment, windows: await this.#windowsAt(own, measuredAt) });
      }
      // What was stored before it and measured after it counts as well.
      if (isNew) await this.#judgeStored(rule, judge, { from: last + 1, to: Number.MAX_SAFE_INTEGER });
      this.#gather(rule, judge.taken());
    }
  }

  /** What has ended or gone silent by the clock. */
  async clock(now: number): Promise<void> {
    for (const rule of this.#rules) {
      if (this.#kept[rule.key]?.revision !== rule.revision) continue;
      const judge = await this.#judgeOf(rule, now);
      judge.clock(now);
      this.#gather(rule, judge.taken());
    }
  }

  /** Judges by stored history what was not judged by the rules as they are, and tells only what stands then. */
  async again(now: number): Promise<void> {
    for (const rule of this.#rules) {
      if (this.#kept[rule.key]?.revision === rule.revision) continue;
      const judge = await this.#judgeOf(rule, now + 1);
      judge.clock(now);
      this.#gather(rule, judge.taken());
    }
  }

  /** The alert is acknowledged: a latched one that has passed ends. */
  async acknowledge(ruleKey: number, now: number): Promise<void> {
    const rule = this.#rules.find(({ key }) => key === ruleKey);
    if (rule === undefined || this.#kept[ruleKey]?.revision !== rule.revision) return;
    const judge = await this.#judgeOf(rule, now);
    judge.acknowledge(now);
    this.#gather(rule, judge.taken());
  }

  /** The states to store. Alerts of rules that do not watch the device any more are over. */
  result(now: number): Judged {
    const states: Record<string, KeptState> = {};
    let dueAt: number | null = null;
    for (const rule of this.#rules) {
      const judge = this.#judges.get(rule.key);
      const kept = judge === undefined ? this.#kept[rule.key] : { revision: rule.revision, state: judge.state };
      if (kept === undefined) continue;
      states[rule.key] = kept;
      const due = kept.revision === rule.revision ? (judge ?? this.#judge(rule, kept.state)).dueAt : null;
      if (due !== null) dueAt = Math.min(dueAt ?? Infinity, due);
    }
    for (const [key, { state }] of Object.entries(this.#kept))
      if (states[key] === undefined && state.run !== null)
        this.#changes.push({ ruleKey: Number(key), transitions: [over(state, now)] });
    const isEmpty = Object.keys(states).length === 0;
    const after = isEmpty ? null : JSON.stringify(states);
    return {
      deviceKey: this.deviceKey,
      workspaceId: this.#info.workspaceId,
      before: this.before,
      after,
      dueAt,
      changes: this.#changes,
    };
  }

  #gather({ key: ruleKey }: WatchingRule, transitions: Transition[]): void {
    if (transitions.length === 0) return;
    const known = this.#changes.find((change) => change.ruleKey === ruleKey);
    if (known === undefined) this.#changes.push({ ruleKey, transitions });
    else known.transitions.push(...transitions);
  }

  #judge({ definition }: { definition: RuleDefinition }, state: JudgeState): RuleJudge {
    return new RuleJudge(definition, state, configuredValues(this.#info));
  }

  /** The judge of the rule; without a state of its revision from the values before `to`. */
  async #judgeOf(rule: WatchingRule, to: number): Promise<RuleJudge> {
    const known = this.#judges.get(rule.key);
    if (known !== undefined) return known;
    const kept = this.#kept[rule.key];
    const isPresent = kept?.revision === rule.revision;
    const judge = this.#judge(rule, isPresent ? kept.state : freshState(rule.definition));
    this.#judges.set(rule.key, judge);
    if (isPresent) return judge;
    await this.#prime(rule, judge, to);
    const { run, values } = judge.state;
    const at = this.#sources.now();
    // What the earlier revision had told goes on or is over.
    if (run !== null) this.#gather(rule, [{ ...run, at, endedAt: null, reason: 'SAVED', values: { ...values } }]);
    else if (kept !== undefined && kept.state.run !== null) this.#gather(rule, [over(kept.state, at)]);
    return judge;
  }

  /** Judges what is stored of the time before `to`: as far back as the durations of the rule need, a day at least. */
  async #prime(rule: WatchingRule, judge: RuleJudge, to: number): Promise<void> {
    const { forSeconds, clearForSeconds } = rule.definition;
    const heard = (await this.#sources.store.lastHeard([this.#info.key])).get(this.#info.key);
    if (heard !== undefined && heard < to) judge.heard(heard);
    const silences = conditionsOf(rule.definition).map((one) => (one.kind === 'absent' ? one.seconds : 0));
    let back = Math.max(DAY_MS, ...[2 * (forSeconds + clearForSeconds), ...silences].map((seconds) => seconds * 1_000));
    // The newest values decide: fewer of them, where there are very many.
    while (!(await this.#judgeStored(rule, judge, { from: to - back, to })) && back > LEAST_BACK_MS) back /= 2;
    judge.taken();
  }

  /** False, with nothing judged: there are too many values. */
  async #judgeStored(
    { definition }: WatchingRule,
    judge: RuleJudge,
    { from, to }: { from: number; to: number },
  ): Promise<boolean> {
    const [windows, keys] = [windowsOf(definition), fieldsOf(definition)];
    const fields = [...this.#info.product.fieldsByKey.values()].filter(({ key }) => keys.has(key));
    const lead = Math.max(0, ...windows.map(({ window }) => window.seconds * 1_000));
    const range = { from: from - lead, to, limit: MOST_AGAIN };
    const columns = await this.#sources.history.columns(this.#info, fields, range, new PointBudget());
    if (columns.some(({ truncated }) => truncated)) return false;
    await judgeHistory(judge, { definition, fields, columns, from, hears: false, onStride: () => {} });
    return true;
  }

  async #windowsAt(windows: ReturnType<typeof windowsOf>, time: number): Promise<Record<number, StoredValue | null>> {
    const found: Record<number, StoredValue | null> = {};
    for (const { index, field: key, window } of windows) {
      const field = this.#info.product.fieldsByKey.get(key)!;
      const { from, to, view } = windowView(window, time);
      const request = {
        deviceKey: this.#info.key,
        ...ofField(field),
        from,
        to,
        maxCharacters: 1_000_000,
        views: [view],
      };
      let answer;
      do [answer] = await this.#sources.store.series([request]);
      while (answer === undefined);
      found[index] = valueOf(answer.views[0]);
    }
    return found;
  }
}

function over({ run, values }: JudgeState, now: number): Transition {
  return { ...run!, at: now, state: 'RESOLVED', endedAt: now, reason: 'SAVED', values };
}
