import type { EntityManager } from '@mikro-orm/sql';
import { TagListType } from '../entities/tag-list.ts';
import type { FieldType } from '../entities/field.ts';
import type { RuleDefinition } from '../rules/definition.ts';
import { type Notify, TELL_ALL } from '../rules/notify.ts';
import { shownValues } from '../rules/shown-rule.ts';
import { placeholders } from '../sql/long-columns.ts';
import { piecesOf } from '../sql/pieces.ts';
import type { AlertRow } from './alert-changes.ts';
import type { AlertOutbox, OutgoingAlert } from './alert-outbox.ts';
import { type News, tell } from './telling.ts';

/** A rule and its product, as what is told of alerts names them. */
interface TellingRule {
  key: number;
  id: string;
  authorKey: string | null;
  name: string;
  workspaceId: string;
  definition: RuleDefinition;
  notify: Notify;
  product: { key: number; id: string; authorKey: string | null; name: string };
}

interface RuleColumns extends Omit<TellingRule, 'definition' | 'notify' | 'product'> {
  definition: string;
  notify: string | null;
  productKey: number;
  productId: string;
  productAuthorKey: string | null;
  productName: string;
}

interface ToldDevice {
  key: number;
  id: string;
  serialNumber: string;
  name: string;
  tags: string[];
}

interface ToldField {
  key: number;
  productKey: number;
  identifier: string;
  type: FieldType;
  wasBoolean: boolean;
}

/** An alert with what is to be told of it. */
interface Item {
  alert: AlertRow;
  rule: TellingRule;
  news: News;
}

const TAGS = new TagListType();

/** What one transaction tells of alerts: gathered while it changes them, written with its end. */
export class AlertNews {
  readonly #rules: ReadonlyMap<number, TellingRule>;
  readonly #now: number;
  readonly #items: Item[] = [];

  private constructor(rules: ReadonlyMap<number, TellingRule>, now: number) {
    this.#rules = rules;
    this.#now = now;
  }

  /** News of alerts of these rules. `now`: in ms UTC. */
  static async of(em: EntityManager, ruleKeys: Iterable<number>, now: number): Promise<AlertNews> {
    const rules = new Map<number, TellingRule>();
    for (const keys of piecesOf([...new Set(ruleKeys)])) {
      const rows = await em.execute<RuleColumns[]>(
        `select r."key", r.id, r.author_key as "authorKey", r.name, r.workspace_id as "workspaceId", r.definition,
           r.notify, p."key" as "productKey", p.id as "productId", p.author_key as "productAuthorKey",
           p.name as "productName"
         from rule r join product p on p."key" = r.product_key where r."key" in (${placeholders(keys)})`,
        keys,
      );
      for (const { definition, notify, productKey, productId, productAuthorKey, productName, ...rule } of rows)
        rules.set(rule.key, {
          ...rule,
          definition: JSON.parse(definition) as RuleDefinition,
          notify: notify === null ? TELL_ALL : (JSON.parse(notify) as Notify),
          product: { key: productKey, id: productId, authorKey: productAuthorKey, name: productName },
        });
    }
    return new AlertNews(rules, now);
  }

  /** The alert with what was told of it after this transaction. */
  of(alert: AlertRow): AlertRow {
    const rule = this.#rules.get(alert.ruleKey);
    if (rule === undefined) return alert;
    const { news, told, tellAt } = tell(alert, { schedule: rule.definition.schedule, notify: rule.notify }, this.#now);
    const after = { ...alert, told, tellAt };
    if (news !== null) this.#items.push({ alert: after, rule, news });
    return after;
  }

  /** Writes what is told to the outbox; false: nothing is. */
  async write(em: EntityManager, outbox: Pick<AlertOutbox, 'write'>): Promise<boolean> {
    if (this.#items.length === 0) return false;
    const devices = await readDevices(em, this.#items);
    const fields = await readFields(em, this.#items);
    const alone = this.#items.filter(({ rule }) => rule.notify.groupBy === null);
    const together = Map.groupBy(
      this.#items.filter(({ rule }) => rule.notify.groupBy !== null),
      ({ rule, news }) => `${rule.key} ${news.type} ${news.reason}`,
    );
    const entryOf = (item: Item) => entry(item, devices, fields);
    const events = alone.flatMap((item): OutgoingAlert[] => {
      const device = devices.get(item.alert.deviceKey);
      if (device === undefined) return [];
      const { alert, device: shown, values, reason } = entryOf(item);
      const data = { alert, rule: ruleOf(item), device: shown, product: productOf(item), values, reason };
      const event = this.#event(item, `${item.alert.id} ${countOf(item)}`);
      return [{ ...event, deviceId: device.id, tags: device.tags, data }];
    });
    for (const items of together.values()) {
      const first = items[0]!;
      const data = { rule: ruleOf(first), product: productOf(first), count: items.length, alerts: items.map(entryOf) };
      const key = `${first.alert.id} ${countOf(first)} and ${items.length - 1}`;
      events.push({ ...this.#event(first, key), deviceId: null, tags: [], data });
    }
    await outbox.write(em, events);
    return events.length > 0;
  }

  #event({ rule, news }: Item, key: string): Omit<OutgoingAlert, 'deviceId' | 'tags' | 'data'> {
    return {
      key: `${news.type} ${key}`,
      type: news.type,
      workspaceId: rule.workspaceId,
      productId: rule.product.id,
      endpointIds: rule.notify.endpointIds,
      at: new Date(this.#now),
    };
  }
}

/** Counts what is told of the alert. */
function countOf({ alert }: Item): number {
  return alert.told?.count ?? 0;
}

function ruleOf({ rule: { id, authorKey, name } }: Item) {
  return { id, key: authorKey, name };
}

function productOf({ rule: { product } }: Item) {
  return { id: product.id, key: product.authorKey, name: product.name };
}

function entry(
  { alert, rule, news }: Item,
  devices: ReadonlyMap<number, ToldDevice>,
  fields: ReadonlyMap<number, ToldField[]>,
) {
  const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
  const { id, state, severity, startedAt, firedAt, endedAt, late, acknowledgedBy, deviceKey } = alert;
  const last = alert.trace.at(-1);
  const device = devices.get(deviceKey);
  const times = { startedAt: iso(startedAt), firedAt: iso(firedAt), endedAt: iso(endedAt) };
  const shown = { fields: fields.get(rule.product.key) ?? [], configuration: [] };
  return {
    alert: { id, state, severity, ...times, late, acknowledgedBy },
    device: device && { id: device.id, serialNumber: device.serialNumber, name: device.name, tags: device.tags },
    values: shownValues(last?.values ?? {}, shown),
    reason: news.reason ?? last?.reason ?? null,
  };
}

async function readDevices(em: EntityManager, items: readonly Item[]): Promise<Map<number, ToldDevice>> {
  const devices = new Map<number, ToldDevice>();
  for (const keys of piecesOf([...new Set(items.map(({ alert }) => alert.deviceKey))])) {
    const rows = await em.execute<(Omit<ToldDevice, 'tags'> & { tags: string })[]>(
      `select "key", id, serial_number as "serialNumber", name, tags from device where "key" in (${placeholders(keys)})`,
      keys,
    );
    for (const row of rows) devices.set(row.key, { ...row, tags: TAGS.convertToJSValue(row.tags) });
  }
  return devices;
}

async function readFields(em: EntityManager, items: readonly Item[]): Promise<Map<number, ToldField[]>> {
  const keys = [...new Set(items.map(({ rule }) => rule.product.key))];
  const rows = await em.execute<ToldField[]>(
    'select "key", product_key as "productKey", identifier, type, was_boolean as "wasBoolean" from field ' +
      `where product_key in (${placeholders(keys)})`,
    keys,
  );
  return Map.groupBy(rows, ({ productKey }) => productKey);
}
