import type { StoredValue } from '../ports/store.ts';
import { type Condition, conditionsOf, type RuleDefinition } from './definition.ts';
import { isMet, type Known } from './conditions.ts';
import { quietRange, type QuietRange } from './quiet-range.ts';
import type { JudgeState, LevelRun, Reason, Run, Transition } from './judge-state.ts';

/** A value that was recorded; times in ms UTC. */
interface JudgedValue {
  field: number;
  measuredAt: number;
  /** Arrival by the clock. */
  receivedAt: number;
  value: StoredValue;
  /** The aggregation at that time of each condition with a window of this field, by the index of the condition. */
  windows?: Readonly<Record<number, StoredValue | null>>;
}

/** A time of the judgement, measured and by the clock; `isAgain`: it was judged before, so no duration begins anew. */
interface Moment {
  at: number;
  receivedAt: number;
  isAgain?: boolean;
}

const NONE: readonly Transition[] = [];

/**
 * Judges one rule for one device: from a state and what happens, the state after it and its changes. It knows no
 * database and no clock, so that live values, saving a rule and `testRule` are the same code. Durations run on measured
 * times: when a value arrives, what ended before its time has ended at its own time, so that batches and single values
 * are judged alike.
 */
export class RuleJudge {
  /** As it is by now; changed by every call. */
  readonly state: JudgeState;
  readonly #rule: RuleDefinition;
  readonly #conditions: readonly Condition[];
  readonly #known: Known;
  readonly #forMs: number;
  readonly #clearForMs: number;
  /** Indexes of the conditions that a value of a field decides. */
  readonly #ofField = new Map<number, number[]>();
  readonly #absent: number[] = [];
  /** Level of each condition. */
  readonly #levelOf: number[];
  #transitions: Transition[] = [];
  #clearedAt = 0;
  /** Smallest measured time at which a duration ends. */
  #nextDue = Infinity;

  /** `state` is changed in place; `configuration`: key of a configuration field → value of the device, or the default. */
  constructor(
    rule: RuleDefinition,
    state: JudgeState,
    configuration: Readonly<Record<string, StoredValue | null>> = {},
  ) {
    this.#rule = rule;
    this.state = state;
    this.#known = { values: state.values, configuration };
    this.#forMs = rule.forSeconds * 1_000;
    this.#clearForMs = rule.clearForSeconds * 1_000;
    this.#conditions = conditionsOf(rule);
    this.#levelOf = rule.levels.flatMap(({ conditions }, level) => conditions.map(() => level));
    this.#conditions.forEach((condition, index) => {
      if (condition.kind === 'absent') this.#absent.push(index);
      if (condition.field !== null) this.#index(condition.field, index);
      if (condition.kind === 'threshold' && 'field' in condition.operand) this.#index(condition.operand.field, index);
    });
    this.#findDue();
  }

  #index(field: number, condition: number): void {
    const indexes = this.#ofField.get(field);
    if (indexes === undefined) this.#ofField.set(field, [condition]);
    else if (!indexes.includes(condition)) indexes.push(condition);
  }

  /** The changes since the last call, in their order. */
  taken(): readonly Transition[] {
    if (this.#transitions.length === 0) return NONE;
    const taken = this.#transitions;
    this.#transitions = [];
    return taken;
  }

  /** Time by the clock at which `clock` has something to do without any further value; null: never. */
  get dueAt(): number | null {
    if (this.state.run === null && this.#absent.length === 0) return null;
    let due = Infinity;
    for (const run of this.state.levels)
      if (run.dueAt !== null && !this.#isLatched(run)) due = Math.min(due, run.dueAt);
    for (const index of this.#absent) due = Math.min(due, this.#silentAt(index));
    return due === Infinity ? null : due;
  }

  /** Judges a value. One that is older than the newest judged value of its field changes nothing. */
  value({ field, measuredAt, receivedAt, value, windows }: JudgedValue): void {
    const { state } = this;
    const indexes = this.#ofField.get(field);
    const judgedAt = state.judgedAt[field];
    if (indexes === undefined || (judgedAt !== undefined && measuredAt < judgedAt)) return;
    const at = state.at === null ? measuredAt : Math.max(state.at, measuredAt);
    const isAgain = at === state.at;
    if (this.#nextDue <= at) this.#pass(at);
    state.at = at;
    const before = state.values[field];
    state.judgedAt[field] = measuredAt;
    state.values[field] = value;
    let reason: Reason = 'VALUE';
    let isChanged = false;
    for (const index of indexes) {
      const condition = this.#conditions[index]!;
      const held = state.held[index]!;
      let met = false;
      if (condition.kind !== 'absent') {
        const was = condition.field === field ? before : state.values[condition.field];
        met = isMet(condition, held, this.#known, was, windows?.[index]);
      } else {
        state.heardOf[field] = Math.max(state.heardOf[field] ?? -Infinity, receivedAt);
        if (held) reason = 'HEARD';
      }
      if (met === held) continue;
      state.held[index] = met;
      isChanged = true;
    }
    // Most values change nothing: a year of minutes passes here.
    if (isChanged || this.#nextDue < Infinity) this.#apply({ at, receivedAt, isAgain }, reason);
  }

  /** The range of numbers of a field that change nothing but what is known of it; null: each is to be judged. */
  quietRange(field: number): QuietRange | null {
    if (this.#nextDue < Infinity) return null;
    let [above, below] = [-Infinity, Infinity];
    for (const [index, condition] of this.#conditions.entries()) {
      if (!this.#ofField.get(field)?.includes(index)) continue;
      const range = quietRange(condition, this.state.held[index] === true, this.#known);
      if (range === null) return null;
      above = Math.max(above, range.above);
      below = Math.min(below, range.below);
    }
    return { above, below };
  }

  /** A value of the quiet range came, none of its field is newer. */
  quiet({ field, measuredAt, receivedAt, value }: JudgedValue): void {
    const { state } = this;
    state.at = Math.max(state.at ?? -Infinity, measuredAt);
    state.judgedAt[field] = measuredAt;
    state.values[field] = value;
    for (const condition of this.#conditions)
      if (condition.kind === 'absent' && condition.field === field)
        state.heardOf[field] = Math.max(state.heardOf[field] ?? -Infinity, receivedAt);
  }

  /** Whether it is silent by the clock, so that hearing anything changes it. */
  get isSilent(): boolean {
    return this.#absent.some((index) => this.state.held[index]);
  }

  /** The device sent something, whatever it was. */
  heard(receivedAt: number): void {
    if (this.#absent.length === 0) return;
    const { state } = this;
    state.heardAt = Math.max(state.heardAt ?? -Infinity, receivedAt);
    let ended = false;
    for (const index of this.#absent)
      if (this.#conditions[index]!.field === null && state.held[index]) {
        state.held[index] = false;
        ended = true;
      }
    if (ended) this.#apply({ at: receivedAt, receivedAt }, 'HEARD');
  }

  /** What has ended or gone silent by the clock, in the order in which it did. */
  clock(now: number): void {
    if (this.#absent.length === 0 && this.#nextDue === Infinity) return;
    for (;;) {
      let due = Infinity;
      let silent = -1;
      for (const index of this.#absent) {
        const at = this.#silentAt(index);
        if (at < due) [due, silent] = [at, index];
      }
      let ending: LevelRun | null = null;
      for (const run of this.state.levels)
        if (run.dueAt !== null && run.dueAt <= due && !this.#isLatched(run)) [due, ending] = [run.dueAt, run];
      if (due > now) return;
      if (ending !== null) {
        this.#pass(this.#endOf(ending));
        // A level that ended by itself has no due time any more; this guards against one that did not.
        if (ending.dueAt === due) ending.dueAt = null;
      } else {
        this.state.held[silent] = true;
        this.#apply({ at: due, receivedAt: due }, 'SILENT');
      }
    }
  }

  /** A latched alert may end from now on. */
  acknowledge(now: number): void {
    if (this.state.run === null) return;
    this.state.acknowledged = true;
    this.#findDue();
    for (const run of this.state.levels)
      if (run.clearSince !== null) run.dueAt = Math.max(run.dueAt ?? 0, run.clearSince + this.#clearForMs);
    const over = this.state.levels.filter((run) => run.dueAt !== null && run.dueAt <= now && run.clearSince !== null);
    if (over.length > 0) this.#pass(Math.max(...over.map((run) => this.#endOf(run))), 'ACKNOWLEDGED');
  }

  /** The moment at which an absent condition that is not met will be; Infinity: never heard, or met already. */
  #silentAt(index: number): number {
    const condition = this.#conditions[index]!;
    if (condition.kind !== 'absent' || this.state.held[index]) return Infinity;
    const heard = condition.field === null ? this.state.heardAt : this.state.heardOf[condition.field];
    return heard == null ? Infinity : heard + condition.seconds * 1_000;
  }

  #isLatched({ clearSince }: LevelRun): boolean {
    return clearSince !== null && this.#rule.latched && !this.state.acknowledged;
  }

  /** Measured end of the duration that runs; Infinity: none does. */
  #endOf(run: LevelRun): number {
    if (run.since === null) return Infinity;
    if (run.firedAt === null) return run.since + this.#forMs;
    return run.clearSince === null || this.#isLatched(run) ? Infinity : run.clearSince + this.#clearForMs;
  }

  #findDue(): void {
    this.#nextDue = Infinity;
    for (const run of this.state.levels) this.#nextDue = Math.min(this.#nextDue, this.#endOf(run));
  }

  /** Ends the durations whose end is at `until` or earlier, in their order. */
  #pass(until: number, reason: Reason = 'DURATION'): void {
    while (this.#nextDue <= until && this.#nextDue < Infinity) {
      const at = this.#nextDue;
      this.#end(at);
      this.#tell(at, reason);
    }
  }

  #end(at: number): void {
    for (const run of this.state.levels) {
      if (this.#endOf(run) > at) continue;
      if (run.firedAt === null) run.firedAt = this.#endOf(run);
      else {
        this.#clearedAt = Math.max(this.#clearedAt, run.clearSince!);
        reset(run);
      }
      run.dueAt = null;
    }
    this.#findDue();
  }

  /** Moves the levels by what is met now; a level is met as well wherever a higher one is. */
  #apply(moment: Moment, reason: Reason): void {
    const { levels } = this.state;
    const { at } = moment;
    let met = false;
    for (let level = levels.length - 1; level >= 0; level -= 1) {
      met = met || this.#isLevelMet(level);
      this.#move(levels[level]!, met, moment);
    }
    this.#findDue();
    while (this.#nextDue <= at) this.#end(this.#nextDue);
    this.#tell(at, reason);
  }

  #isLevelMet(level: number): boolean {
    const { all } = this.#rule.levels[level]!;
    for (let index = 0; index < this.#conditions.length; index += 1)
      if (this.#levelOf[index] === level && this.state.held[index] !== all) return !all;
    return all;
  }

  #move(run: LevelRun, met: boolean, { at, receivedAt, isAgain = false }: Moment): void {
    const dueIn = (end: number): number => {
      const due = receivedAt + Math.max(0, end - at);
      return isAgain && run.dueAt !== null ? Math.min(run.dueAt, due) : due;
    };
    if (met) {
      if (run.since === null) run.since = at;
      if (run.clearSince !== null) run.dueAt = null;
      run.clearSince = null;
      run.dueAt = run.firedAt === null ? dueIn(run.since + this.#forMs) : null;
    } else if (run.firedAt === null) {
      if (run.since !== null) reset(run);
    } else {
      if (run.clearSince === null) run.dueAt = null;
      run.clearSince ??= Math.max(at, run.since!);
      run.dueAt = dueIn(run.clearSince + this.#clearForMs);
    }
  }

  /** Notes a change of the state as a whole, if there is one. */
  #tell(at: number, reason: Reason): void {
    const { state } = this;
    const { levels } = state;
    let [standing, firing, pending] = [-1, false, -1];
    for (let level = 0; level < levels.length; level += 1) {
      const { since, firedAt, clearSince } = levels[level]!;
      if (since !== null) pending = level;
      if (firedAt === null) continue;
      standing = level;
      firing ||= clearSince === null;
    }
    const now = standing >= 0 ? (firing ? 'FIRING' : 'RECOVERING') : pending >= 0 ? 'PENDING' : null;
    const { run } = state;
    if (now === null) {
      if (run === null) return;
      const endedAt = run.firedAt === null ? at : Math.max(this.#clearedAt, run.startedAt);
      this.#note(at, { ...run, state: 'RESOLVED', endedAt }, reason);
      state.run = null;
      state.acknowledged = false;
      this.#clearedAt = 0;
      return;
    }
    const { severity } = this.#rule.levels[standing >= 0 ? standing : pending]!;
    if (run?.state === now && run.severity === severity) return;
    const startedAt = run?.startedAt ?? firstOf(levels);
    const firedAt = run?.firedAt ?? (standing >= 0 ? levels[standing]!.firedAt : null);
    const next: Run = { state: now, severity, startedAt, firedAt };
    state.run = next;
    this.#note(at, { ...next, endedAt: null }, reason);
  }

  #note(at: number, told: Omit<Transition, 'at' | 'reason' | 'values'>, reason: Reason): void {
    this.#transitions.push({ at, ...told, reason, values: { ...this.state.values } });
  }
}

function reset(run: LevelRun): void {
  run.since = null;
  run.firedAt = null;
  run.clearSince = null;
  run.dueAt = null;
}

function firstOf(levels: readonly LevelRun[]): number {
  return Math.min(...levels.map(({ since }) => since ?? Infinity));
}
