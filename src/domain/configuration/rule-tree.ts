import type { ConfigurationType } from '../entities/configuration-field.ts';
import type { FieldMeaning, FieldType } from '../entities/field.ts';
import { checkRule } from '../rules/check-rule.ts';
import type { Ground } from '../rules/check-condition.ts';
import type { RuleDefinition } from '../rules/definition.ts';
import { isDefault, type Notify } from '../rules/notify.ts';
import { shownSchedule } from '../rules/schedule.ts';
import { shownLevel } from '../rules/shown-rule.ts';
import { itemsOf } from './normal-form.ts';
import { type EndpointReference, nameOfReference } from './references.ts';
import { nameOfRule, type RuleTree } from './rule-shape.ts';
import { type Block, blocking, segment, type Tree } from './shape.ts';

/** A rule as it is stored, and how documents name its endpoints. */
interface Stored {
  authorKey: string | null;
  name: string;
  enabled: boolean;
  tags: readonly string[];
  definition: RuleDefinition;
  notify: Omit<Notify, 'endpointIds'>;
  endpoints: readonly EndpointReference[] | null;
}

/** The tree of a rule; `ground`: what it refers to, `nth`: its number among those that share its name and have no key. */
export function ruleTree(stored: Stored, ground: Ground, nth: number): Tree {
  const { authorKey, name, enabled, tags, definition, notify, endpoints } = stored;
  const { levels, forSeconds, clearForSeconds, latched, schedule } = definition;
  const isUsual = isDefault({ ...notify, endpointIds: null }) && endpoints === null;
  const { groupBy, remindEverySeconds, maxReminders } = notify;
  return {
    key: authorKey,
    name,
    nth,
    enabled,
    tags: tags.toSorted(),
    levels: levels.map((level) => compact(shownLevel(level, ground))),
    forSeconds,
    clearForSeconds,
    latched,
    schedule: schedule === null ? null : compact(shownSchedule(schedule)),
    notify: isUsual ? null : compact({ endpoints, groupBy, remindEverySeconds, maxReminders }),
  };
}

/** The rule that a tree says, in its normal form; BAD_USER_INPUT naming the path of a mistake. */
export function checkRuleTree(tree: Tree, ground: Ground, path: string) {
  const { notify, ...rule } = asRule(tree);
  const { endpoints: _, ...manner } = notify ?? {};
  return checkRule({ ...rule, notify: manner }, ground, path);
}

/** The endpoints that a rule of a document names; null: it names none. */
export function endpointsOf(tree: Tree): EndpointReference[] | null {
  const { endpoints = [] } = asRule(tree).notify ?? {};
  return endpoints.length === 0 ? null : endpoints;
}

/** The fields and configuration fields of a product's tree, numbered in their order. */
function groundOf(target: Tree): Ground {
  return {
    fields: itemsOf(target['fields']).map(({ identifier, type, meaning }, key) => ({
      key,
      identifier: identifier as string,
      type: type as FieldType,
      meaning: (meaning ?? 'GAUGE') as FieldMeaning,
    })),
    configuration: itemsOf(target['configurationFields']).map(({ identifier, type }, key) => ({
      key,
      identifier: identifier as string,
      type: type as ConfigurationType,
    })),
  };
}

/** The rules of a product's tree in their one form, as far as they are right: `checkRules` says what is not. */
export function settledRules(target: Tree): Tree[] {
  const ground = groundOf(target);
  return itemsOf(target['rules']).map((tree) => {
    const checked = blocking([], '', () => checkRuleTree(tree, ground, ''));
    if (checked === undefined) return tree;
    const nth = typeof tree['nth'] === 'number' ? tree['nth'] : 1;
    return ruleTree({ ...checked, endpoints: endpointsOf(tree) }, ground, nth);
  });
}

/** Blocks rules that go with no fields of their product. */
export function checkRules(target: Tree, path: string, blocks: Block[]): void {
  const ground = groundOf(target);
  const rules = itemsOf(target['rules']);
  const names = new Set(rules.map(nameOfRule));
  for (const tree of rules) {
    const at = `${path}.rules${segment(nameOfRule(tree))}`;
    blocking(blocks, at, () => checkRuleTree(tree, ground, at));
    if (tree['key'] !== undefined && tree['nth'] !== undefined)
      blocks.push({ path: `${at}.nth`, message: 'is for rules without a key; leave it out.' });
    else if (typeof tree['nth'] === 'number' && !names.has(nameOfRule({ ...tree, nth: tree['nth'] - 1 })))
      blocks.push({ path: `${at}.nth`, message: 'rules that share a name are numbered from 1, one after the other.' });
  }
}

/** The names of the endpoints that rules of a product's tree name, with their paths. */
export function endpointsNamed(target: Tree, path: string): { name: string; path: string }[] {
  return itemsOf(target['rules']).flatMap((tree) =>
    (endpointsOf(tree) ?? []).map((reference, index) => ({
      name: nameOfReference(reference),
      path: `${path}.rules${segment(nameOfRule(tree))}.notify.endpoints[${index}]`,
    })),
  );
}

function asRule(tree: Tree): RuleTree {
  return tree as Tree & RuleTree;
}

/** Plain JSON without what is null. */
function compact(value: object): Tree {
  return JSON.parse(JSON.stringify(value, (_, part: unknown) => part ?? undefined)) as Tree;
}
