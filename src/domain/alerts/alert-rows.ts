import type { EntityManager } from '@mikro-orm/sql';
import { type Alert, AlertSchema } from '../entities/alert.ts';
import { AlertEventSchema } from '../entities/alert-event.ts';
import { RuleReaderSchema } from '../entities/rule-reader.ts';
import type { Dialect } from '../ports/database.ts';
import type { Severity } from '../rules/definition.ts';
import type { AlertState } from '../rules/judge-state.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import { type AlertRow, alertsAfter, isKept, shortened, type TraceEntry } from './alert-changes.ts';
import type { Judged } from './judging.ts';

/** The reader's row, as it is locked. */
type Reader = NonNullable<Awaited<ReturnType<typeof lockReader>>>;

/** Locks the row that every change of an alert goes through, so that events are numbered in the order of commits. */
export async function lockReader(em: EntityManager) {
  // A write locks on both databases.
  await em.execute('update rule_reader set share = 0 where share = 0', [], 'run');
  return em.findOneOrFail(RuleReaderSchema, { share: 0 }, { refresh: true });
}

/** The state rows of the devices, by their keys; those without are left out. */
export async function readStates(em: EntityManager, deviceKeys: readonly number[]): Promise<Map<number, string>> {
  if (deviceKeys.length === 0) return new Map();
  const rows = await em.execute<{ key: number; states: string }[]>(
    `select device_key as "key", states from rule_state where device_key in (${placeholders(deviceKeys)})`,
    [...deviceKeys],
  );
  return new Map(rows.map(({ key, states }) => [key, states]));
}

/**
 * Writes states, alerts and their events, in one transaction with what the caller writes. False, with nothing written:
 * a state is another one by now, and must be judged again. Lock the reader first.
 */
export async function writeJudged(
  em: EntityManager,
  dialect: Dialect,
  reader: Reader,
  judged: readonly Judged[],
  { now, change = (alert) => alert }: { now: number; change?: (alert: AlertRow) => AlertRow },
): Promise<boolean> {
  const changed = await holdChanged(em, dialect, judged);
  const keys = judged.map(({ deviceKey }) => deviceKey);
  const present = await readStates(em, keys);
  if (judged.some(({ deviceKey, before }) => (present.get(deviceKey) ?? null) !== before)) return false;
  const kept = judged.filter(({ before, after }) => after !== null && after !== before);
  if (kept.length > 0) {
    const value = (at: number, type: string) => (dialect === 'sqlite' ? `value->>${at}` : `(value->>${at})::${type}`);
    await em.execute(
      `insert into rule_state (device_key, states, due_at) select ${value(0, 'integer')}, ${value(1, 'text')}, ` +
        `${value(2, 'bigint')} from ${rowsOf(dialect)} where true on conflict (device_key) do update ` +
        'set states = excluded.states, due_at = excluded.due_at',
      [JSON.stringify(kept.map(({ deviceKey, after, dueAt }) => [deviceKey, after, dueAt]))],
      'run',
    );
  }
  const gone = judged.filter(({ before, after }) => after === null && before !== null);
  if (gone.length > 0)
    await forgetStates(
      em,
      gone.map(({ deviceKey }) => deviceKey),
    );
  if (changed.length === 0) return true;
  const open = await em.find(AlertSchema, { device: { $in: changed.map(({ deviceKey }) => deviceKey) }, isOpen: true });
  const openOf = new Map(open.map((alert) => [`${alert.rule.key} ${alert.device.key}`, alert]));
  for (const { deviceKey, workspaceId, changes } of changed)
    for (const { ruleKey, transitions } of changes) {
      const was = openOf.get(`${ruleKey} ${deviceKey}`) ?? null;
      const place = { workspaceId, ruleKey, deviceKey };
      for (const alert of alertsAfter(was === null ? null : rowOfAlert(was), place, transitions, now))
        writeAlert(em, reader, { alert: change(alert), was: was?.id === alert.id ? was : null, now });
    }
  return true;
}

/** The devices with changes of alerts, without those that are gone by now, or whose rules are. */
async function holdChanged(em: EntityManager, dialect: Dialect, judged: readonly Judged[]): Promise<Judged[]> {
  const changed = judged.filter(({ changes }) => changes.length > 0);
  if (changed.length === 0) return [];
  const { rules, devices } = await holdPlaces(em, dialect, {
    rules: changed.flatMap(({ changes }) => changes.map(({ ruleKey }) => ruleKey)),
    devices: changed.map(({ deviceKey }) => deviceKey),
  });
  return changed
    .filter(({ deviceKey }) => devices.has(deviceKey))
    .map((one) => ({ ...one, changes: one.changes.filter(({ ruleKey }) => rules.has(ruleKey)) }));
}

/**
 * Holds rules and devices, by their keys, before any row that is deleted with them: whoever deletes them waits. Returns
 * those that there are.
 */
export async function holdPlaces(
  em: EntityManager,
  dialect: Dialect,
  keys: { rules: readonly number[]; devices: readonly number[] },
): Promise<{ rules: ReadonlySet<number>; devices: ReadonlySet<number> }> {
  const hold = async (table: string, some: readonly number[]): Promise<ReadonlySet<number>> => {
    const list = [...new Set(some)];
    const rows = await em.execute<{ key: number }[]>(
      `select "key" from ${table} where "key" in (${placeholders(list)}) order by "key"` +
        (dialect === 'sqlite' ? '' : ' for key share'),
      list,
    );
    return new Set(rows.map(({ key }) => key));
  };
  return { rules: await hold('rule', keys.rules), devices: await hold('device', keys.devices) };
}

/** Writes an alert, new or changed, and its event. */
export function writeAlert(
  em: EntityManager,
  reader: Reader,
  { alert, was, now }: { alert: AlertRow; was: Alert | null; now: number },
): void {
  reader.seq += 1;
  em.create(AlertEventSchema, {
    seq: reader.seq,
    at: now,
    workspaceId: alert.workspaceId,
    deviceKey: alert.deviceKey,
    alert: JSON.stringify(alert),
  });
  const { ruleKey, deviceKey, trace, ...columns } = alert;
  const row = { ...columns, isOpen: alert.state !== 'RESOLVED', trace: JSON.stringify(trace) };
  if (was === null) {
    if (isKept(alert)) em.create(AlertSchema, { ...row, rule: ruleKey, device: deviceKey });
  } else if (isKept(alert)) Object.assign(was, row);
  else em.remove(was);
}

/** Ends the open alerts of a rule that watches no more. Lock the reader first. */
export async function closeAlerts(
  em: EntityManager,
  reader: Reader,
  { ruleKey, now }: { ruleKey: number; now: number },
): Promise<void> {
  const open = await em.find(AlertSchema, { rule: ruleKey, isOpen: true });
  for (const was of open) {
    const alert = rowOfAlert(was);
    const { severity } = alert;
    const trace = shortened([...alert.trace, { at: now, state: 'RESOLVED', severity, reason: 'SAVED', values: {} }]);
    writeAlert(em, reader, { alert: { ...alert, state: 'RESOLVED', endedAt: now, trace }, was, now });
  }
}

/** Deletes the state rows of devices. */
export async function forgetStates(em: EntityManager, deviceKeys: readonly number[]): Promise<void> {
  await em.execute(`delete from rule_state where device_key in (${placeholders(deviceKeys)})`, [...deviceKeys], 'run');
}

/** An alert as it is shown, of its entity. */
export function rowOfAlert(alert: Alert): AlertRow {
  const { id, workspaceId, startedAt, late } = alert;
  return {
    id,
    workspaceId,
    ruleKey: alert.rule.key,
    deviceKey: alert.device.key,
    state: alert.state as AlertState,
    severity: alert.severity as Severity,
    startedAt,
    firedAt: alert.firedAt ?? null,
    endedAt: alert.endedAt ?? null,
    late,
    acknowledgedBy: alert.acknowledgedBy ?? null,
    acknowledgedAt: alert.acknowledgedAt ?? null,
    snoozedUntil: alert.snoozedUntil ?? null,
    trace: JSON.parse(alert.trace) as TraceEntry[],
  };
}
