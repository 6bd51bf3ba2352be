import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import { AppError, badInput, notFound } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { findDevice, placeOfDevice } from '../access/find-device.ts';
import { findProduct } from '../access/find-product.ts';
import { authorOf } from '../access/who-is.ts';
import { type Alert, AlertSchema } from '../entities/alert.ts';
import type { TokenScope } from '../entities/token.ts';
import type { Database } from '../ports/database.ts';
import type { Severity } from '../rules/definition.ts';
import type { AlertState } from '../rules/judge-state.ts';
import { type Page, pageOf } from '../sql/page.ts';
import { checkOptionalText } from '../text/text.ts';
import { type AlertRow, shortened } from './alert-changes.ts';
import type { AlertOutbox } from './alert-outbox.ts';
import { holdPlaces, rowOfAlert } from './alert-rows.ts';
import { changeAlerts } from './alert-writing.ts';
import type { Judgings } from './judgings.ts';
import type { RuleBook } from './rule-book.ts';

/** Maximum attempts to change an alert that is judged meanwhile. */
const ATTEMPTS = 5;
/** Maximum characters of a note. */
const MAX_NOTE = 2_000;

/** Alerts that a token sees; every given condition must hold. Times in ms UTC. */
export interface AlertFilter {
  workspaceId?: string | null | undefined;
  productId?: string | null | undefined;
  deviceId?: string | null | undefined;
  ruleKey?: number | undefined;
  state?: readonly AlertState[] | null | undefined;
  severity?: readonly Severity[] | null | undefined;
  /** On at some time from (inclusive) to (exclusive). */
  from?: number | null | undefined;
  to?: number | null | undefined;
}

interface AlertServiceDeps {
  database: Database;
  judgings: Judgings;
  book: RuleBook;
  outbox: AlertOutbox;
  now: () => number;
  /** Called after alerts have changed. */
  onAlerts: () => void;
}

/** Lists alerts, and changes what stands beside their state (CONTRACT 12). */
export class AlertService {
  readonly #deps: AlertServiceDeps;

  constructor(deps: AlertServiceDeps) {
    this.#deps = deps;
  }

  /** A page of alerts, newest first, behind the id `after`. */
  async list(
    access: Access,
    filter: AlertFilter,
    { limit, after }: { limit: number; after?: string | undefined },
  ): Promise<Page<AlertRow>> {
    const em = this.#deps.database.read();
    const where = await filtered(em, access, filter);
    if (after !== undefined) where.push({ id: { $lt: after } });
    const rows = await em.find(AlertSchema, { $and: where }, { orderBy: { id: 'desc' }, limit: limit + 1 });
    return pageOf(rows.map(rowOfAlert), limit);
  }

  /** Number of alerts on all pages together. */
  async count(access: Access, filter: AlertFilter): Promise<number> {
    const em = this.#deps.database.read();
    return em.count(AlertSchema, { $and: await filtered(em, access, filter) });
  }

  /** Notes who saw it. A latched alert that has passed is over then; one that is acknowledged already stays as it is. */
  async acknowledge(access: Access, id: string, note: string | null | undefined): Promise<AlertRow> {
    const { database, judgings, book, now } = this.#deps;
    const text = checkOptionalText(note, 'note', { max: MAX_NOTE, multiline: true });
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const seen = await find(database.read(), access, id, 'CONFIGURE');
      if (seen.acknowledgedAt != null) return rowOfAlert(seen);
      const judging = (await judgings.of([seen.device.key], await book.present())).get(seen.device.key);
      if (seen.isOpen) await judging?.acknowledge(seen.rule.key, now());
      const judged = judging === undefined ? [] : [judging.result(now())];
      const row = await changeAlerts(this.#deps, async (writing) => {
        await holdPlaces(writing.em, database.dialect, { rules: [seen.rule.key], devices: [seen.device.key] });
        const alert = await find(writing.em, access, id, 'CONFIGURE');
        if (alert.isOpen !== seen.isOpen) return null;
        const by = await authorOf(writing.em, access.tokenId);
        noteChange(alert, { reason: 'ACKNOWLEDGED', at: now(), ...(text === null ? {} : { note: text }) });
        Object.assign(alert, { acknowledgedBy: by, acknowledgedAt: now() });
        const isJudged = judged.some(({ changes }) => changes.some(({ ruleKey }) => ruleKey === alert.rule.key));
        if (!isJudged) writing.write(rowOfAlert(alert), alert);
        await writing.em.flush();
        if (!(await writing.judged(judged))) throw new Again();
        return rowOfAlert(alert);
      }).catch((error: unknown) => {
        if (error instanceof Again) return null;
        throw error;
      });
      if (row !== null) return row;
    }
    throw new AppError('OVERLOADED', 'The alert changes all the time; try again in a moment.');
  }

  /** Tells nothing of the alert until that time (ms UTC), which must be ahead. */
  async snooze(access: Access, id: string, until: number): Promise<AlertRow> {
    const { now } = this.#deps;
    if (until <= now()) throw badInput('until: must be ahead; an alert is no longer snoozed then by itself.');
    return changeAlerts(this.#deps, async (writing) => {
      const alert = await find(writing.em, access, id, 'CONFIGURE');
      if (!alert.isOpen) throw badInput('id: the alert is over; there is nothing to snooze.');
      noteChange(alert, { reason: 'SNOOZED', at: now() });
      alert.snoozedUntil = until;
      writing.write(rowOfAlert(alert), alert);
      return rowOfAlert(alert);
    });
  }
}

/** It was judged meanwhile. */
class Again extends Error {}

async function find(em: EntityManager, access: Access, id: string, scope: TokenScope): Promise<Alert> {
  const alert = id.includes('\0')
    ? null
    : ((await em.findOne(
        AlertSchema,
        { id: id.toLowerCase() },
        { populate: ['device', 'device.product'] as never },
      )) as Alert | null);
  if (alert === null || !access.coversDevice(placeOfDevice(alert.device as never))) throw notFound('alert', id);
  access.requireDevice(placeOfDevice(alert.device as never), scope);
  return alert;
}

function noteChange(alert: Alert, { reason, at, note }: { reason: string; at: number; note?: string }): void {
  const { trace, state, severity } = rowOfAlert(alert);
  const entry = {
    at,
    state,
    severity,
    reason,
    values: trace.at(-1)?.values ?? {},
    ...(note === undefined ? {} : { note }),
  };
  alert.trace = JSON.stringify(shortened([...trace, entry]));
}

async function filtered(em: EntityManager, access: Access, filter: AlertFilter): Promise<FilterQuery<Alert>[]> {
  const { workspaceId, productId, deviceId, ruleKey, state, severity, from, to } = filter;
  if (from != null && to != null && from >= to) throw badInput('"from" must be before "to".');
  if (workspaceId != null) access.requireWorkspace(workspaceId, 'READ');
  const workspaces = workspaceId == null ? access.workspaceIdsWith('READ') : [workspaceId.toLowerCase()];
  const where: FilterQuery<Alert>[] = [{ workspaceId: { $in: workspaces } }];
  if (productId != null)
    where.push({ device: { product: (await findProduct(em, access, productId, 'READ')).key } } as FilterQuery<Alert>);
  if (deviceId != null)
    where.push({ device: (await findDevice(em, access, deviceId, 'READ')).key } as FilterQuery<Alert>);
  if (access.limited) {
    const products = { device: { product: { id: { $in: [...(access.productIds ?? [])] } } } };
    const devices = { device: { id: { $in: [...(access.deviceIds ?? [])] } } };
    where.push({ $or: [products, devices] } as FilterQuery<Alert>);
  }
  if (ruleKey !== undefined) where.push({ rule: ruleKey } as FilterQuery<Alert>);
  if (state != null) where.push({ state: { $in: [...state] } });
  if (severity != null) where.push({ severity: { $in: [...severity] } });
  if (to != null) where.push({ startedAt: { $lt: to } });
  if (from != null) where.push({ $or: [{ endedAt: null }, { endedAt: { $gte: from } }] });
  return where;
}
