import type { EntityManager } from '@mikro-orm/sql';
import { conflict } from '../../errors.ts';
import { ConfigurationFieldSchema } from '../entities/configuration-field.ts';
import { FieldSchema } from '../entities/field.ts';
import { type Rule, RuleSchema } from '../entities/rule.ts';
import type { Database } from '../ports/database.ts';
import { placeholders } from '../sql/long-columns.ts';
import type { Ground } from './check-condition.ts';
import { type Condition, configurationOf, fieldsOf, type Operand, type RuleDefinition } from './definition.ts';
import { type Notify, TELL_ALL } from './notify.ts';

/** A rule as lists show it. */
export interface RuleRow extends Pick<Rule, 'key' | 'id' | 'name' | 'enabled' | 'tags' | 'revision'> {
  productKey: number;
  workspaceId: string;
  authorKey: string | null;
  definition: RuleDefinition;
  notify: Notify;
}

/** The row of an entity. */
export function rowOf(rule: Rule): RuleRow {
  const { key, id, name, enabled, tags, revision, authorKey = null } = rule;
  const notify = rule.notify == null ? TELL_ALL : (JSON.parse(rule.notify) as Notify);
  const definition = parsed(rule);
  const place = { productKey: rule.product.key, workspaceId: rule.workspace.id };
  return { key, id, name, enabled, tags, revision, ...place, authorKey, definition, notify };
}

/** The rules of each of the products, by their keys, in the order in which they were made. */
export async function readRules(database: Database, productKeys: readonly number[]): Promise<RuleRow[][]> {
  const rules = await database
    .read()
    .find(RuleSchema, { product: { $in: [...productKeys] } }, { orderBy: { key: 'asc' } });
  const byProduct = Map.groupBy(rules.map(rowOf), ({ productKey }) => productKey);
  return productKeys.map((key) => byProduct.get(key) ?? []);
}

/** The rules with these keys, unordered. */
export async function readRulesByKey(database: Database, keys: readonly number[]): Promise<RuleRow[]> {
  return (await database.read().find(RuleSchema, { key: { $in: [...keys] } })).map(rowOf);
}

/** Number of rules of each of the products, by their keys. */
export async function ruleCounts(database: Database, productKeys: readonly number[]): Promise<number[]> {
  const text = `select product_key, count(*) as count from rule where product_key in (${placeholders(productKeys)}) group by product_key`;
  const rows = await database.read().execute<{ product_key: number; count: number | string }[]>(text, [...productKeys]);
  const counts = new Map(rows.map((row) => [row.product_key, Number(row.count)]));
  return productKeys.map((key) => counts.get(key) ?? 0);
}

/** The fields and configuration fields that rules of the product can refer to. Lock the product first. */
export async function readGround(em: EntityManager, productKey: number): Promise<Ground> {
  const fields = await em.find(FieldSchema, { product: productKey });
  return { fields, configuration: await em.find(ConfigurationFieldSchema, { product: productKey }) };
}

/** CONFLICT naming the first rule of the product that refers to the field or configuration field. Lock the product first. */
export async function requireUnwatched(
  em: EntityManager,
  part: { kind: 'field' | 'configuration field'; key: number; identifier: string; product: { key: number } },
): Promise<void> {
  const keysOf = part.kind === 'field' ? fieldsOf : configurationOf;
  const rules = await em.find(RuleSchema, { product: part.product.key }, { orderBy: { key: 'asc' } });
  const rule = rules.find((one) => keysOf(parsed(one)).has(part.key));
  if (rule === undefined) return;
  throw conflict(
    `The rule "${rule.name}" watches the ${part.kind} "${part.identifier}": change it (updateRule) or delete it first.`,
    { existingId: rule.id },
  );
}

/** The definition with the fields of the other product that have the same identifiers. */
export function onOtherFields(definition: RuleDefinition, { from, to }: { from: Ground; to: Ground }): RuleDefinition {
  const other = (part: keyof Ground, key: number): number => {
    const { identifier } = from[part].find((one) => one.key === key)!;
    return to[part].find((one) => one.identifier === identifier)!.key;
  };
  const operandOn = (operand: Operand): Operand => {
    if ('field' in operand) return { field: other('fields', operand.field) };
    return 'configuration' in operand ? { configuration: other('configuration', operand.configuration) } : operand;
  };
  const conditionOn = (condition: Condition): Condition => {
    if (condition.field === null) return condition;
    const field = other('fields', condition.field);
    return condition.kind === 'threshold'
      ? { ...condition, field, operand: operandOn(condition.operand) }
      : { ...condition, field };
  };
  const levels = definition.levels.map((level) => ({ ...level, conditions: level.conditions.map(conditionOn) }));
  return { ...definition, levels };
}

/** What is recorded from that position on is judged, where nothing was watched before. */
export async function watchFrom(em: EntityManager, position: string): Promise<void> {
  await em.execute('update rule_reader set position = ? where share = 0 and position is null', [position], 'run');
}

function parsed({ definition }: Pick<Rule, 'definition'>): RuleDefinition {
  return JSON.parse(definition) as RuleDefinition;
}
