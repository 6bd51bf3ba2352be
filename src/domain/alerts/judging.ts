import { NOBODY } from '../../scheduling/caller.ts';
import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import type { History } from '../history/history.ts';
import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import type { RecordedEvent } from '../live/recorded-event.ts';
import { readStored } from '../measurements/field-value.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { configuredValues } from '../rules/configured-values.ts';
import { conditionsOf, fieldsOf, type RuleDefinition } from '../rules/definition.ts';
import { judgeHistory } from '../rules/judge-history.ts';
import { freshState, type JudgeState, type Transition } from '../rules/judge-state.ts';
import type { StateRow } from './alert-rows.ts';
import { weightOf } from './commit-size.ts';
import { fewEpisodes } from './few-episodes.ts';
import type { Judged, RuleChange } from './judged.ts';
import { type KeptState, packStates, unpackStates } from './kept-states.ts';
import { RuleJudge } from '../rules/rule-judge.ts';
import { windowsOf } from '../rules/windows.ts';
import { QuietValues } from './quiet-values.ts';
import type { WatchingRule } from './rule-book.ts';
import { backOf, StoredValues } from './stored-values.ts';

interface JudgingSources {
  history: History;
  store: Pick<MeasurementStore, 'series' | 'lastHeard'>;
  now: () => number;
}

const LEAST_BACK_MS = 60_000;
/** Values of one event that are judged between two looks at the clock. */
const STRIDE = 200;

/** A rule and its judge. */
interface Plan {
  rule: WatchingRule;
  judge: RuleJudge;
  /** Key of a field → the windows of that field. */
  windows: ReadonlyMap<number, ReturnType<typeof windowsOf>>;
}

/** The plans of a device, found by what they want to hear of. */
interface Plans {
  all: Plan[];
  byField: ReadonlyMap<number, Plan[]>;
  ofSilence: Plan[];
  /** Those that have not judged what is stored behind the first event. */
  fresh: Plan[];
  /** What came and changed no state; null: nothing since the judges were last asked. */
  quiet: QuietValues | null;
}

/** The row of states, as it is stored and as it was read. */
interface Row {
  states: string | null;
  dueAt: number | null;
  readonly kept: Record<string, KeptState>;
}

/** The rules of one device, from the state that was stored to the one to store. It may go on in memory for long. */
export class DeviceJudging {
  readonly #sources: JudgingSources;
  readonly #info: DeviceInfo;
  readonly #rules: readonly WatchingRule[];
  readonly #judges = new Map<number, RuleJudge>();
  readonly #row: Row;
  #changes: RuleChange[] = [];
  #plans: Plans | null = null;
  readonly #values: StoredValues;

  /** `rules`: those that watch the device; `before`: its row of states. */
  constructor(
    sources: JudgingSources,
    { info, rules }: { info: DeviceInfo; rules: readonly WatchingRule[] },
    before: StateRow | null,
  ) {
    this.#sources = sources;
    this.#info = info;
    this.#rules = rules;
    this.#values = new StoredValues(sources, info, rules);
    this.#row = {
      states: before?.states ?? null,
      dueAt: before?.dueAt ?? null,
      kept: before === null ? {} : unpackStates(before.states),
    };
  }

  /** The row of states as it was read; null: none. */
  get before(): string | null {
    return this.#row.states;
  }

  /** Whether `result` may differ from what is stored. */
  get isTouched(): boolean {
    return this.#judges.size > 0 || this.#hasStale;
  }

  /** Whether there is a state of a rule that does not watch the device any more. */
  get #hasStale(): boolean {
    const watching = new Set(this.#rules.map(({ key }) => String(key)));
    return Object.keys(this.#row.kept).some((key) => !watching.has(key));
  }

  get deviceKey(): number {
    return this.#info.key;
  }

  /** The part of a commit that its changes take up. */
  get weight(): number {
    return weightOf(this.#changes);
  }

  get ruleCount(): number {
    return this.#rules.length;
  }

  /** Whether it is to be stored at once: something is to be told, or will be before it was known. */
  get isUrgent(): boolean {
    if (this.#changes.length > 0) return true;
    const due = this.#dueAt;
    return due !== null && (this.#row.dueAt === null || due < this.#row.dueAt);
  }

  /** Whether the event changes no state; it is judged with that, else by `event`. */
  takesQuietly(event: RecordedEvent): boolean {
    const plans = this.#plans;
    if (plans === null || plans.fresh.length > 0) return false;
    plans.quiet ??= new QuietValues(this.#info, {
      byField: new Map([...plans.byField].map(([key, some]) => [key, some.map(({ judge }) => judge)])),
      ofSilence: plans.ofSilence.map(({ judge }) => judge),
    });
    return plans.quiet.takes(event);
  }

  /** Judges know what came by now, and may change from here on. */
  #wake(): void {
    this.#plans?.quiet?.settle();
    if (this.#plans !== null) this.#plans.quiet = null;
  }

  /** Judges what was recorded together, in the order in which it was measured. */
  async event(event: RecordedEvent): Promise<void> {
    this.#wake();
    const { fieldsByKey } = this.#info.product;
    const order = inOrder(event.timestamps);
    const last = event.timestamps[order.at(-1)!]!;
    await this.prepare(event.timestamps[order[0]!]!);
    const plans = this.#plans!;
    const { all, byField, ofSilence } = plans;
    const fresh = plans.fresh.splice(0);
    for (const { judge } of ofSilence) judge.heard(event.receivedAt);
    const slices = new Slices(NOBODY);
    for (const [index, at] of order.entries()) {
      if (index % STRIDE === STRIDE - 1) {
        for (const { rule, judge } of all) this.#gather(rule, judge.taken());
        if (slices.isOver) await slices.next();
      }
      const watching = byField.get(event.fieldKeys[at]!);
      const field = watching && fieldsByKey.get(event.fieldKeys[at]!);
      const value = field === undefined ? null : readStored(field, event.values[at]!);
      if (watching === undefined || field === undefined || value === null) continue;
      const measuredAt = event.timestamps[at]!;
      const moment = { field: field.key, measuredAt, receivedAt: event.receivedAt, value };
      for (const { judge, windows } of watching) {
        const own = windows.get(field.key);
        const isLate = measuredAt < (judge.state.judgedAt[field.key] ?? -Infinity);
        if (own === undefined || isLate) judge.value(moment);
        else judge.value({ ...moment, windows: await this.#values.windowsAt(own, measuredAt) });
      }
    }
    // What was stored before it and measured after it counts as well.
    for (const { rule, judge } of fresh)
      await this.#judgeStored(rule, judge, { from: last + 1, to: Number.MAX_SAFE_INTEGER });
    if (fresh.length > 0) this.#values.forget();
    for (const { rule, judge } of all) this.#gather(rule, judge.taken());
  }

  /** Makes the judges of all rules, as for an event whose first value is of the time `to`; it may be done before. */
  async prepare(to: number): Promise<void> {
    this.#plans ??= await this.#prepare(to);
  }

  /** Those without a state judge what is stored before `to`. */
  async #prepare(to: number): Promise<Plans> {
    const all: Plan[] = [];
    const fresh: Plan[] = [];
    const byField = new Map<number, Plan[]>();
    for (const rule of this.#rules) {
      const isNew = !this.#judges.has(rule.key) && this.#row.kept[rule.key]?.revision !== rule.revision;
      const judge = await this.#judgeOf(rule, to);
      const plan = { rule, judge, windows: Map.groupBy(windowsOf(rule.definition), ({ field }) => field) };
      all.push(plan);
      if (isNew) fresh.push(plan);
      for (const key of fieldsOf(rule.definition)) byField.set(key, [...(byField.get(key) ?? []), plan]);
    }
    const ofSilence = all.filter(({ rule }) => isOfSilence(rule.definition));
    return { all, byField, ofSilence, fresh, quiet: null };
  }

  /** What has ended or gone silent by the clock. */
  async clock(now: number): Promise<void> {
    this.#wake();
    for (const rule of this.#rules) {
      if (!this.#judges.has(rule.key) && this.#row.kept[rule.key]?.revision !== rule.revision) continue;
      const judge = await this.#judgeOf(rule, now);
      judge.clock(now);
      this.#gather(rule, judge.taken());
    }
  }

  /** Judges by stored history what was not judged by the rules as they are, and tells only what stands then. */
  async again(now: number): Promise<void> {
    this.#wake();
    for (const rule of this.#rules) {
      if (this.#row.kept[rule.key]?.revision === rule.revision) continue;
      const judge = await this.#judgeOf(rule, now + 1);
      judge.clock(now);
      this.#gather(rule, judge.taken());
    }
  }

  /** The alert is acknowledged: a latched one that has passed ends. */
  async acknowledge(ruleKey: number, now: number): Promise<void> {
    this.#wake();
    const rule = this.#rules.find(({ key }) => key === ruleKey);
    if (rule === undefined || this.#row.kept[ruleKey]?.revision !== rule.revision) return;
    const judge = await this.#judgeOf(rule, now);
    judge.acknowledge(now);
    this.#gather(rule, judge.taken());
  }

  /** The time by the clock at which something changes without a value; null: never. */
  get #dueAt(): number | null {
    let dueAt: number | null = null;
    for (const rule of this.#rules) {
      let judge = this.#judges.get(rule.key);
      const kept = this.#row.kept[rule.key];
      if (judge === undefined && kept?.revision === rule.revision) judge = this.#judge(rule, kept.state);
      const due = judge?.dueAt ?? null;
      if (due !== null) dueAt = Math.min(dueAt ?? Infinity, due);
    }
    return dueAt;
  }

  /** The states to store. Alerts of rules that do not watch the device any more are over. */
  result(now: number): Judged {
    this.#plans?.quiet?.settle();
    const states: Record<string, KeptState> = {};
    const dueAt = this.#dueAt;
    for (const rule of this.#rules) {
      const judge = this.#judges.get(rule.key);
      const kept = judge === undefined ? this.#row.kept[rule.key] : { revision: rule.revision, state: judge.state };
      if (kept !== undefined) states[rule.key] = kept;
    }
    for (const [key, { state }] of Object.entries(this.#row.kept))
      if (states[key] === undefined && state.run !== null)
        // Before what the rules of now tell: a device that has moved is told of in that order.
        this.#changes.unshift({ ruleKey: Number(key), transitions: [over(state, now)] });
    const isEmpty = Object.keys(states).length === 0;
    const after = isEmpty ? null : packStates(states);
    return {
      deviceKey: this.deviceKey,
      workspaceId: this.#info.workspaceId,
      before: this.#row.states,
      after,
      dueAt,
      changes: this.#changes,
    };
  }

  /** It was stored as `result` said. */
  stored({ after, dueAt }: Judged): void {
    this.#row.states = after;
    this.#row.dueAt = dueAt;
    this.#changes = [];
  }

  #gather({ key: ruleKey }: WatchingRule, transitions: readonly Transition[]): void {
    if (transitions.length === 0) return;
    const known = this.#changes.find((change) => change.ruleKey === ruleKey);
    if (known === undefined) this.#changes.push({ ruleKey, transitions: fewEpisodes(transitions) });
    else known.transitions = fewEpisodes([...known.transitions, ...transitions]);
  }

  #judge({ definition }: { definition: RuleDefinition }, state: JudgeState): RuleJudge {
    return new RuleJudge(definition, state, configuredValues(this.#info));
  }

  /** The judge of the rule; without a state of its revision from the values before `to`. */
  async #judgeOf(rule: WatchingRule, to: number): Promise<RuleJudge> {
    const known = this.#judges.get(rule.key);
    if (known !== undefined) return known;
    const kept = this.#row.kept[rule.key];
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

  /** Judges what is stored of the time before `to`. */
  async #prime(rule: WatchingRule, judge: RuleJudge, to: number): Promise<void> {
    if (conditionsOf(rule.definition).some(({ kind }) => kind === 'absent')) {
      const heard = await this.#values.heard();
      if (heard !== undefined && heard < to) judge.heard(heard);
    }
    let back = backOf(rule.definition);
    // The newest values decide: fewer of them, where there are very many.
    while (!(await this.#judgeStored(rule, judge, { from: to - back, to })) && back > LEAST_BACK_MS) back /= 2;
    judge.taken();
  }

  /** False, with nothing judged: there are too many values. */
  async #judgeStored(rule: WatchingRule, judge: RuleJudge, range: { from: number; to: number }): Promise<boolean> {
    const { definition } = rule;
    const stored = await this.#values.of(rule, range);
    if (stored === null) return false;
    await judgeHistory(judge, { definition, ...stored, from: range.from, hears: false, onStride: () => {} });
    return true;
  }
}

/** Indexes of the times in their order; most readings have one time. */
function inOrder(times: readonly number[]): number[] {
  const order = Array.from(times, (_, index) => index);
  return times.every((time) => time === times[0]) ? order : order.toSorted((one, other) => times[one]! - times[other]!);
}

/** Whether hearing anything of the device counts. */
function isOfSilence(definition: RuleDefinition): boolean {
  return conditionsOf(definition).some(({ kind, field }) => kind === 'absent' && field === null);
}

function over({ run, values }: JudgeState, now: number): Transition {
  return { ...run!, at: now, state: 'RESOLVED', endedAt: now, reason: 'SAVED', values };
}
