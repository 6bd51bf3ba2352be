import type { EntityManager } from '@mikro-orm/sql';
import { type Alert, AlertSchema } from '../entities/alert.ts';
import { AlertEventSchema } from '../entities/alert-event.ts';
import { RuleReaderSchema } from '../entities/rule-reader.ts';
import type { Database, Dialect } from '../ports/database.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { piecesOf } from '../sql/pieces.ts';
import { type AlertRow, alertsAfter, isKept, shortened } from './alert-changes.ts';
import { AlertNews } from './alert-news.ts';
import type { AlertOutbox } from './alert-outbox.ts';
import { forgetStates, holdPlaces, readStates, rowOfAlert } from './alert-rows.ts';
import type { Judged } from './judged.ts';

interface WritingOptions {
  dialect: Dialect;
  outbox: Pick<AlertOutbox, 'write'>;
  now: number;
}

/**
 * One transaction that changes alerts: states, alerts, their events and what endpoints are told move together. It begins
 * by locking the row that all of them go through, so that events are numbered in the order of commits.
 */
export class AlertWriting {
  readonly em: EntityManager;
  /** The reader's row, as it is locked. */
  readonly reader;
  readonly #options: WritingOptions;
  readonly #written: { alert: AlertRow; row: Alert }[] = [];
  readonly #seq: number;

  private constructor(em: EntityManager, reader: Awaited<ReturnType<typeof lockReader>>, options: WritingOptions) {
    this.em = em;
    this.reader = reader;
    this.#options = options;
    this.#seq = reader.seq;
  }

  static async begin(em: EntityManager, options: WritingOptions): Promise<AlertWriting> {
    return new AlertWriting(em, await lockReader(em), options);
  }

  /** Whether subscribers have something new. */
  get hasEvents(): boolean {
    return this.reader.seq > this.#seq;
  }

  /** Writes an alert, new or changed (`was`), and its event. */
  write(alert: AlertRow, was: Alert | null): void {
    const { em, reader } = this;
    const { now } = this.#options;
    reader.seq += 1;
    const { workspaceId, ruleKey, deviceKey, trace, told, tellAt, ...columns } = alert;
    // The earlier trace is read with the event: it may be long, and there are many events.
    const event = JSON.stringify({ ...alert, trace: trace.slice(-1) });
    em.create(AlertEventSchema, { seq: reader.seq, at: now, workspaceId, deviceKey, alert: event });
    if (!isKept(alert)) {
      if (was !== null) em.remove(was);
      return;
    }
    const isOpen = alert.state !== 'RESOLVED';
    const values = { ...columns, workspaceId, isOpen, trace: JSON.stringify(trace), tellAt };
    const known = told === null ? null : JSON.stringify(told);
    const row =
      was === null
        ? em.create(AlertSchema, { ...values, told: known, rule: ruleKey, device: deviceKey })
        : Object.assign(was, values);
    this.#written.push({ alert, row });
  }

  /**
   * Writes states and what changed of alerts. False, with nothing written: a state is another one by now, and must be
   * judged again.
   */
  async judged(judged: readonly Judged[], change = (alert: AlertRow): AlertRow => alert): Promise<boolean> {
    const { em } = this;
    const { dialect, now } = this.#options;
    const changed = await holdChanged(em, dialect, judged);
    const present = await readStates(
      em,
      judged.map(({ deviceKey }) => deviceKey),
    );
    if (judged.some(({ deviceKey, before }) => (present.get(deviceKey)?.states ?? null) !== before)) return false;
    await writeStates(em, dialect, judged);
    if (changed.length === 0) return true;
    const devices = changed.map(({ deviceKey }) => deviceKey);
    const open = await em.find(AlertSchema, { device: { $in: devices }, isOpen: true });
    const openOf = new Map(open.map((alert) => [`${alert.rule.key} ${alert.device.key}`, alert]));
    for (const { deviceKey, workspaceId, changes } of changed)
      for (const { ruleKey, transitions } of changes) {
        const was = openOf.get(`${ruleKey} ${deviceKey}`) ?? null;
        const place = { workspaceId, ruleKey, deviceKey };
        for (const alert of alertsAfter(was === null ? null : rowOfAlert(was), place, transitions, now))
          this.write(change(alert), was?.id === alert.id ? was : null);
      }
    return true;
  }

  /** Ends the open alerts of a rule that watches no more. */
  async close(ruleKey: number): Promise<void> {
    this.#end(await this.em.find(AlertSchema, { rule: ruleKey, isOpen: true }));
  }

  /** Ends the open alerts of devices that are about to be deleted. */
  async closeDevices(deviceKeys: readonly number[]): Promise<void> {
    for (const keys of piecesOf(deviceKeys))
      this.#end(await this.em.find(AlertSchema, { device: { $in: [...keys] }, isOpen: true }));
  }

  #end(open: readonly Alert[]): void {
    const { now } = this.#options;
    for (const was of open) {
      const alert = rowOfAlert(was);
      const { severity } = alert;
      const trace = shortened([...alert.trace, { at: now, state: 'RESOLVED', severity, reason: 'SAVED', values: {} }]);
      // There may be no later time to tell it with others.
      this.write({ ...alert, state: 'RESOLVED', endedAt: now, tellAt: now, trace }, was);
    }
  }

  /** Looks at an alert that did not change: there may be something to tell of it by now. */
  look(row: Alert): void {
    this.#written.push({ alert: rowOfAlert(row), row });
  }

  /** Writes what endpoints are told, as the last step of the transaction; true: something is. */
  async tell(): Promise<boolean> {
    const { outbox, now } = this.#options;
    if (this.#written.length === 0) return false;
    const ruleKeys = this.#written.map(({ alert }) => alert.ruleKey);
    const news = await AlertNews.of(this.em, ruleKeys, now);
    for (const { alert, row } of this.#written) {
      const { told, tellAt } = news.of(alert);
      Object.assign(row, { told: told === null ? null : JSON.stringify(told), tellAt });
    }
    return news.write(this.em, outbox);
  }
}

interface Changing {
  database: Database;
  outbox: AlertOutbox;
  now: () => number;
  /** Called after alerts have changed. */
  onAlerts: () => void;
}

/** Runs one transaction that changes alerts; those who follow them, and the sender, are told after the commit. */
export async function changeAlerts<T>(
  { database, outbox, now, onAlerts }: Changing,
  work: (writing: AlertWriting) => Promise<T>,
): Promise<T> {
  const { result, isTold, hasEvents } = await database.write(async (em) => {
    const writing = await AlertWriting.begin(em, { dialect: database.dialect, outbox, now: now() });
    const result = await work(writing);
    const isTold = await writing.tell();
    return { result, isTold, hasEvents: writing.hasEvents };
  });
  if (isTold) outbox.wake();
  if (hasEvents) onAlerts();
  return result;
}

/** Ends the alerts of a rule that is deleted, in that transaction; call what it resolves with after the commit. */
export function endAlerts(changing: Changing, em: EntityManager, ruleKey: number): Promise<() => void> {
  return ending(changing, em, (writing) => writing.close(ruleKey));
}

/**
 * Ends the alerts of devices that are deleted, in that transaction and before it locks any of them; call what it
 * resolves with after the commit.
 */
export async function endAlertsOfDevices(
  changing: Changing,
  em: EntityManager,
  deviceKeys: readonly number[],
): Promise<() => void> {
  // Without a state no rule has judged them.
  const states = await readStates(em, deviceKeys);
  if (states.size === 0) return () => {};
  return ending(changing, em, (writing) => writing.closeDevices([...states.keys()]));
}

async function ending(
  { database, outbox, now, onAlerts }: Changing,
  em: EntityManager,
  work: (writing: AlertWriting) => Promise<void>,
): Promise<() => void> {
  const writing = await AlertWriting.begin(em, { dialect: database.dialect, outbox, now: now() });
  await work(writing);
  const isTold = await writing.tell();
  await em.flush();
  return () => {
    if (isTold) outbox.wake();
    onAlerts();
  };
}

/** Locks the row that every change of an alert goes through. */
export async function lockReader(em: EntityManager) {
  // A write locks on both databases.
  await em.execute('update rule_reader set share = 0 where share = 0', [], 'run');
  return em.findOneOrFail(RuleReaderSchema, { share: 0 }, { refresh: true });
}

async function writeStates(em: EntityManager, dialect: Dialect, judged: readonly Judged[]): Promise<void> {
  const kept = judged.filter(({ after }) => after !== null);
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
  if (gone.length === 0) return;
  await forgetStates(
    em,
    gone.map(({ deviceKey }) => deviceKey),
  );
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
