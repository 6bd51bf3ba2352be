import { MAX_EXAMPLES } from '../decoders/decoder-examples.ts';
import { MAX_CONFIGURATION_FIELDS } from '../products/configuration-service.ts';
import { MAX_FIELDS_PER_PRODUCT } from '../products/new-field.ts';
import { MAX_RULES } from '../rules/definition.ts';
import type { Draft } from './draft.ts';
import { itemsOf } from './normal-form.ts';
import type { ProductState } from './product-state.ts';
import { checkRules } from './rule-tree.ts';
import { type Block, segment, type Tree } from './shape.ts';

/** A product of a plan. */
export type ProductDraft = Draft<ProductState>;

/** The decoder of a product's tree. */
export interface DecoderTree {
  source?: string;
  examples?: readonly { name: string; request: Tree; expected: unknown }[];
}

/** The decoder of a product's tree; one that has none is empty. */
export function decoderOf(tree: Tree | undefined): DecoderTree {
  return (tree?.['decoder'] ?? {}) as DecoderTree;
}

/** Blocks what a product as a whole cannot be. */
export function checkProduct({ path, is, target }: ProductDraft, blocks: Block[]): void {
  if (target === undefined) return;
  if (is !== undefined && is['deviceType'] !== target['deviceType'])
    blocks.push({
      path: `${path}.deviceType`,
      message: `is ${wordOf(is['deviceType'], 'API')} and never changes; make a product with a key of its own.`,
    });
  const [fields, configurationFields] = [itemsOf(target['fields']), itemsOf(target['configurationFields'])];
  const examples = decoderOf(target).examples ?? [];
  const tooMany = (part: string, count: number, most: number): void => {
    if (count > most) blocks.push({ path: `${path}.${part}`, message: `${count}, at most ${most} are allowed.` });
  };
  tooMany('fields', fields.length, MAX_FIELDS_PER_PRODUCT);
  tooMany('configurationFields', configurationFields.length, MAX_CONFIGURATION_FIELDS);
  tooMany('decoder.examples', examples.length, MAX_EXAMPLES);
  tooMany('rules', itemsOf(target['rules']).length, MAX_RULES);
  checkRules(target, path, blocks);
  const roles = new Map<unknown, unknown>();
  for (const { identifier, role } of fields) {
    if (role === undefined) continue;
    if (roles.has(role))
      blocks.push({
        path: `${path}.fields${segment(identifier as string)}.role`,
        message: `the field "${wordOf(roles.get(role))}" is ${wordOf(role)} already; take the role from it first.`,
      });
    roles.set(role, identifier);
  }
  const names = new Set(fields.map(({ identifier }) => identifier));
  for (const { identifier, aliases } of fields)
    for (const alias of (aliases ?? []) as string[]) {
      if (names.has(alias))
        blocks.push({
          path: `${path}.fields${segment(identifier as string)}.aliases`,
          message: `"${alias}" is an identifier of the product already; renameField makes one an earlier one.`,
        });
      names.add(alias);
    }
  const types = new Map<unknown, unknown>(
    itemsOf(is?.['configurationFields']).map(({ identifier, type }) => [identifier, type]),
  );
  for (const { identifier, type } of configurationFields)
    if (types.has(identifier) && types.get(identifier) !== type)
      blocks.push({
        path: `${path}.configurationFields${segment(identifier as string)}.type`,
        message: `is ${wordOf(types.get(identifier))} and never changes; add a field with another identifier.`,
      });
}

function wordOf(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : otherwise;
}
