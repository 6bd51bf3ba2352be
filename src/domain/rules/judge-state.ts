import type { StoredValue } from '../ports/store.ts';
import type { RuleDefinition, Severity } from './definition.ts';

/** States of an alert; NORMAL is no alert. */
export const ALERT_STATES = ['PENDING', 'FIRING', 'RECOVERING', 'RESOLVED'] as const;
/** One of `ALERT_STATES`. */
export type AlertState = (typeof ALERT_STATES)[number];

/** Why a state changed. */
export type Reason = 'VALUE' | 'DURATION' | 'SILENT' | 'HEARD' | 'ACKNOWLEDGED' | 'SAVED';

/** The run of one level: NORMAL without `since`, PENDING without `firedAt`, RECOVERING with `clearSince`. */
export interface LevelRun {
  /** Measured time of the first value that met it. */
  since: number | null;
  /** Measured time from which it stands. */
  firedAt: number | null;
  /** Measured time of the first value that did not meet it any more. */
  clearSince: number | null;
  /** Time by the clock at which the running duration ends without a further value. */
  dueAt: number | null;
}

/** The alert that is on; times are measured times. */
export interface Run {
  state: Exclude<AlertState, 'RESOLVED'>;
  severity: Severity;
  startedAt: number;
  firedAt: number | null;
}

/** The state of a rule for one device, as it is stored: plain JSON. Times in ms UTC. */
export interface JudgeState {
  /** The newest measured time judged; null: none. */
  at: number | null;
  /** Field key → newest measured time judged, and that value. */
  judgedAt: Record<string, number>;
  values: Record<string, StoredValue>;
  /** Receipt time by which the device was last heard; null: never. */
  heardAt: number | null;
  /** Field key → receipt time of its newest value. */
  heardOf: Record<string, number>;
  /** Whether each condition is met, in the order of `conditionsOf`. */
  held: boolean[];
  /** In the order of the levels. */
  levels: LevelRun[];
  acknowledged: boolean;
  run: Run | null;
}

/** One change of the state, with the values that it was judged by: field key → value. */
export interface Transition {
  at: number;
  state: AlertState;
  severity: Severity;
  reason: Reason;
  startedAt: number;
  firedAt: number | null;
  endedAt: number | null;
  values: Record<string, StoredValue>;
  /** Episodes before this one that are left out, because they were too many. */
  omitted?: number;
}

/** The state before anything was judged. */
export function freshState({ levels }: Pick<RuleDefinition, 'levels'>): JudgeState {
  return {
    at: null,
    judgedAt: {},
    values: {},
    heardAt: null,
    heardOf: {},
    held: levels.flatMap(({ conditions }) => conditions.map(() => false)),
    levels: levels.map(() => ({ since: null, firedAt: null, clearSince: null, dueAt: null })),
    acknowledged: false,
    run: null,
  };
}
