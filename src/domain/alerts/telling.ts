import type { Schedule, Severity } from '../rules/definition.ts';
import type { AlertState } from '../rules/judge-state.ts';
import type { Notify } from '../rules/notify.ts';
import { isOpen, nextOpening } from '../rules/schedule.ts';

/** What was told of an alert last; times by the clock in ms UTC. */
export interface Told {
  /** Counts what was told. */
  count: number;
  isOver: boolean;
  severity: Severity;
  at: number;
  isAcknowledged: boolean;
  /** The snooze whose end was told. */
  snoozedUntil: number | null;
  reminders: number;
}

/** Something to tell now. */
export interface News {
  type: 'alert.fired' | 'alert.updated' | 'alert.resolved';
  /** Why now, where it is no change of the alert. */
  reason: 'SNOOZE_ENDED' | 'REMINDER' | null;
}

/** How a rule tells. */
export interface Manner {
  schedule: Schedule | null;
  notify: Pick<Notify, 'groupBy' | 'remindEverySeconds' | 'maxReminders'>;
}

/** Alerts of a rule that tells of a product at once wait for others until a multiple of it. */
const GROUP_MS = 2_000;

/** An alert as what is told of it sees it. */
interface Tellable {
  state: AlertState;
  severity: Severity;
  firedAt: number | null;
  acknowledgedAt: number | null;
  snoozedUntil: number | null;
  told: Told | null;
  tellAt: number | null;
}

/**
 * What is to be told of an alert at a time by the clock, what was told after that, and when to look again (null: when it
 * changes). Outside of the schedule and while it is snoozed nothing is told: what still fires then is told at the end,
 * what has passed as passed. An episode that was never told is told once, as over.
 */
export function tell(
  alert: Tellable,
  manner: Manner,
  now: number,
): { news: News | null; told: Told | null; tellAt: number | null } {
  const { told } = alert;
  if (alert.firedAt === null) return { news: null, told, tellAt: null };
  const news = newsOf(alert, manner, now);
  const heldUntil = news === null ? null : heldTo(alert, manner, now);
  if (news !== null && heldUntil !== null) {
    // Snoozed before anything was told of it, and over: nobody waits for that.
    const isDropped = told === null && alert.state === 'RESOLVED' && isSnoozed(alert, now);
    return { news: null, told, tellAt: isDropped ? null : heldUntil };
  }
  const next = news === null ? told : toldAfter(alert, news, now);
  return { news, told: next, tellAt: nextLook({ ...alert, told: next }, manner, now) };
}

function newsOf(alert: Tellable, { notify }: Manner, now: number): News | null {
  const { state, severity, told, snoozedUntil, acknowledgedAt } = alert;
  if (state === 'RESOLVED') return told?.isOver === true ? null : { type: 'alert.resolved', reason: null };
  if (told === null) return { type: 'alert.fired', reason: null };
  if (severity !== told.severity || (acknowledgedAt !== null) !== told.isAcknowledged)
    return { type: 'alert.updated', reason: null };
  if (snoozedUntil !== null && snoozedUntil !== told.snoozedUntil && snoozedUntil <= now)
    return { type: 'alert.updated', reason: 'SNOOZE_ENDED' };
  const remindAt = remindTime(alert, notify);
  return remindAt !== null && remindAt <= now ? { type: 'alert.updated', reason: 'REMINDER' } : null;
}

/** The time until which nothing may be told; null: it may be. */
function heldTo(alert: Tellable, { schedule, notify }: Manner, now: number): number | null {
  if (isSnoozed(alert, now)) return alert.snoozedUntil;
  if (schedule !== null && !isOpen(schedule, now)) return nextOpening(schedule, now);
  const isDue = alert.tellAt !== null && alert.tellAt <= now;
  return notify.groupBy === null || isDue ? null : Math.ceil((now + 1) / GROUP_MS) * GROUP_MS;
}

function toldAfter({ state, severity, told, ...alert }: Tellable, { reason }: News, now: number): Told {
  return {
    count: (told?.count ?? 0) + 1,
    isOver: state === 'RESOLVED',
    severity,
    at: now,
    isAcknowledged: alert.acknowledgedAt !== null,
    snoozedUntil: alert.snoozedUntil,
    reminders: (told?.reminders ?? 0) + (reason === 'REMINDER' ? 1 : 0),
  };
}

/** The next time at which there may be something to tell of an alert that does not change. */
function nextLook(alert: Tellable, { notify }: Manner, now: number): number | null {
  if (alert.state === 'RESOLVED') return null;
  const times = [remindTime(alert, notify), isSnoozed(alert, now) ? alert.snoozedUntil : null];
  const next = Math.min(...times.map((time) => time ?? Infinity));
  return next === Infinity ? null : next;
}

/** Somebody who has acknowledged it is not reminded. */
function remindTime({ told, acknowledgedAt }: Tellable, notify: Manner['notify']): number | null {
  const { remindEverySeconds, maxReminders } = notify;
  if (told === null || remindEverySeconds === null || acknowledgedAt !== null) return null;
  return told.reminders >= (maxReminders ?? Infinity) ? null : told.at + remindEverySeconds * 1_000;
}

function isSnoozed({ snoozedUntil }: Tellable, now: number): boolean {
  return snoozedUntil !== null && snoozedUntil > now;
}
