import type { EntityManager } from '@mikro-orm/sql';
import type { Alert } from '../entities/alert.ts';
import type { Dialect } from '../ports/database.ts';
import type { Severity } from '../rules/definition.ts';
import type { AlertState } from '../rules/judge-state.ts';
import { placeholders } from '../sql/long-columns.ts';
import { piecesOf } from '../sql/pieces.ts';
import type { AlertRow, TraceEntry } from './alert-changes.ts';
import type { Told } from './telling.ts';

/** The states of a device as they are stored; `dueAt`: by the clock, in ms UTC. */
export interface StateRow {
  states: string;
  dueAt: number | null;
}

/** The state rows of the devices, by their keys; those without are left out. */
export async function readStates(em: EntityManager, deviceKeys: readonly number[]): Promise<Map<number, StateRow>> {
  const found = new Map<number, StateRow>();
  for (const keys of piecesOf(deviceKeys)) {
    const rows = await em.execute<{ key: number; states: string; dueAt: number | string | null }[]>(
      `select device_key as "key", states, due_at as "dueAt" from rule_state where device_key in (${placeholders(keys)})`,
      keys,
    );
    for (const { key, states, dueAt } of rows) found.set(key, { states, dueAt: dueAt === null ? null : Number(dueAt) });
  }
  return found;
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

/** The traces of alerts, by their ids; those that are gone are left out. */
export async function readTraces(em: EntityManager, ids: readonly string[]): Promise<Map<string, TraceEntry[]>> {
  const found = new Map<string, TraceEntry[]>();
  for (const some of piecesOf(ids)) {
    const rows = await em.execute<{ id: string; trace: string }[]>(
      `select id, trace from alert where id in (${placeholders(some)})`,
      [...some],
    );
    for (const { id, trace } of rows) found.set(id, JSON.parse(trace) as TraceEntry[]);
  }
  return found;
}

/** Deletes the state rows of devices. */
export async function forgetStates(em: EntityManager, deviceKeys: readonly number[]): Promise<void> {
  await em.execute(`delete from rule_state where device_key in (${placeholders(deviceKeys)})`, [...deviceKeys], 'run');
}

/** Lets devices wait for their next value: nothing is due of them by the clock. */
export async function letWait(em: EntityManager, deviceKeys: readonly number[]): Promise<void> {
  for (const keys of piecesOf(deviceKeys))
    await em.execute(
      `update rule_state set due_at = null where device_key in (${placeholders(keys)})`,
      [...keys],
      'run',
    );
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
    told: alert.told == null ? null : (JSON.parse(alert.told) as Told),
    tellAt: alert.tellAt ?? null,
    trace: JSON.parse(alert.trace) as TraceEntry[],
  };
}
