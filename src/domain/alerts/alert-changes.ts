import type { Severity } from '../rules/definition.ts';
import type { AlertState, Transition } from '../rules/judge-state.ts';
import type { StoredValue } from '../ports/store.ts';
import { uuidV7 } from '../text/uuid.ts';
import type { Told } from './telling.ts';

/**
 * One change of an alert and why; `values`: field key → value, long texts cut; `note`: of whoever acknowledged it, or
 * how many episodes before it were left out.
 */
export interface TraceEntry {
  at: number;
  state: AlertState;
  severity: Severity;
  reason: string;
  values: Record<string, StoredValue>;
  note?: string;
}

/** An alert as it is shown and told; times in ms UTC. */
export interface AlertRow {
  id: string;
  workspaceId: string;
  ruleKey: number;
  deviceKey: number;
  state: AlertState;
  severity: Severity;
  startedAt: number;
  firedAt: number | null;
  endedAt: number | null;
  late: boolean;
  acknowledgedBy: string | null;
  acknowledgedAt: number | null;
  snoozedUntil: number | null;
  /** What endpoints were told last; null: nothing yet. */
  told: Told | null;
  /** When to look again for something to tell, by the clock; null: when it changes. */
  tellAt: number | null;
  trace: TraceEntry[];
}

/** The place of an alert. */
type AlertPlace = Pick<AlertRow, 'workspaceId' | 'ruleKey' | 'deviceKey'>;

/** Entries of a trace that are kept: the first and the last of them. */
const [FIRST_KEPT, LAST_KEPT] = [20, 80];
/** Maximum characters of a text in a trace. */
const MAX_TRACED_TEXT = 256;

/**
 * Alerts after the changes of one batch: the open one, if there was, and each that began. One that was pending and never
 * fired is told as over if it had been told before, else left out. `now`: in ms UTC, for ids.
 */
export function alertsAfter(
  open: AlertRow | null,
  place: AlertPlace,
  transitions: readonly Transition[],
  now: number,
): AlertRow[] {
  const told: AlertRow[] = [];
  let current = open === null ? null : { ...open, trace: [...open.trace] };
  let isNew = false;
  for (const { at, state, severity, reason, startedAt, firedAt, endedAt, values, omitted } of transitions) {
    if (current === null) {
      // What nobody was told of is not over.
      if (state === 'RESOLVED') continue;
      isNew = true;
      current = { id: uuidV7(now), ...place, late: false, acknowledgedBy: null, acknowledgedAt: null, snoozedUntil: null, told: null, tellAt: null, state, severity, startedAt, firedAt, endedAt, trace: [] }; // oxfmt-ignore
    }
    Object.assign(current, { state, severity, firedAt, endedAt });
    const entry = { at, state, severity, reason, values: cut(values) };
    const note = omitted === undefined ? {} : { note: `Left out, as too many at once: ${omitted} earlier episodes.` };
    current.trace = shortened([...current.trace, { ...entry, ...note }]);
    if (state !== 'RESOLVED') continue;
    current.late = isNew;
    if (!isNew || firedAt !== null) told.push(current);
    current = null;
    isNew = false;
  }
  if (current !== null && (isNew || transitions.length > 0)) told.push(current);
  return told;
}

/** Whether the alert is one: it fired, or may still. */
export function isKept({ state, firedAt }: Pick<AlertRow, 'state' | 'firedAt'>): boolean {
  return state !== 'RESOLVED' || firedAt !== null;
}

/** A trace as it was when `newest` was its last entry; only that where it is no longer in it. */
export function traceUpTo(trace: readonly TraceEntry[], newest: readonly TraceEntry[]): TraceEntry[] {
  const last = JSON.stringify(newest.at(-1));
  const at = trace.findLastIndex((entry) => JSON.stringify(entry) === last);
  return at < 0 ? [...newest] : trace.slice(0, at + 1);
}

/** A trace of bounded length. */
export function shortened(trace: readonly TraceEntry[]): TraceEntry[] {
  if (trace.length <= FIRST_KEPT + LAST_KEPT) return [...trace];
  return [...trace.slice(0, FIRST_KEPT), ...trace.slice(-LAST_KEPT)];
}

function cut(values: Readonly<Record<string, StoredValue>>): Record<string, StoredValue> {
  const shown = { ...values };
  for (const [key, value] of Object.entries(values))
    if (typeof value === 'string' && value.length > MAX_TRACED_TEXT)
      shown[key] = `${value.slice(0, MAX_TRACED_TEXT).replace(/[\ud800-\udbff]$/, '')}…`;
  return shown;
}
