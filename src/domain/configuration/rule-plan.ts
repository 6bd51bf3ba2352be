import type { EntityManager } from '@mikro-orm/sql';
import { placeholders } from '../sql/long-columns.ts';
import { piecesOf } from '../sql/pieces.ts';
import { staying } from './draft.ts';
import type { EndpointDraft } from './endpoint-plan.ts';
import { type EndpointName, readEndpointNames } from './endpoint-names.ts';
import { itemsOf } from './normal-form.ts';
import type { ProductDraft } from './product-plan.ts';
import { endpointsNamed } from './rule-tree.ts';
import { type Block, segment } from './shape.ts';
import { must } from '../../must.ts';

/** Blocks keys of rules that others have, and endpoints that there are not. Returns the ids of endpoints by their names. */
export async function checkRulesOf(
  em: EntityManager,
  workspaceId: string,
  { products, endpoints }: { products: readonly ProductDraft[]; endpoints: readonly EndpointDraft[] },
  blocks: Block[],
): Promise<ReadonlyMap<string, string>> {
  const kept = staying(products);
  const keys = kept.flatMap(({ path, state, target }) =>
    itemsOf(target['rules']).flatMap(({ key }) =>
      typeof key === 'string' ? [{ key, at: `${path}.rules${segment(key)}.key`, product: state?.key ?? null }] : [],
    ),
  );
  const concerned = new Set(products.flatMap(({ state }) => state?.key ?? []));
  const holders = new Map<string, string>();
  for (const some of piecesOf([...new Set(keys.map(({ key }) => key))])) {
    const rows = await em.execute<{ key: string; name: string; productKey: number }[]>(
      'select author_key as "key", name, product_key as "productKey" from rule where workspace_id = ? ' +
        `and author_key in (${placeholders(some)})`,
      [workspaceId, ...some],
    );
    // One of a product of the document goes, stays or is another one's by then.
    for (const row of rows) if (!concerned.has(row.productKey)) holders.set(row.key, row.name);
  }
  const seen = new Set<string>();
  for (const { key, at } of keys) {
    if (holders.has(key))
      blocks.push({
        path: at,
        message: `the rule "${must(holders.get(key))}" of another product has the key "${key}".`,
      });
    else if (seen.has(key)) blocks.push({ path: at, message: `another rule has the key "${key}" as well.` });
    seen.add(key);
  }
  const named = kept.flatMap(({ path, target }) => endpointsNamed(target, path));
  if (named.length === 0) return new Map();
  const names: EndpointName[] = await readEndpointNames(em, workspaceId);
  const ids = new Map(names.map(({ name, id }) => [name, id]));
  const coming = new Set(endpoints.flatMap(({ name, target }) => (target === undefined ? [] : [name])));
  for (const { name, target } of endpoints) if (target === undefined) ids.delete(name);
  for (const { name, path } of named)
    if (!ids.has(name) && !coming.has(name))
      blocks.push({ path, message: `there is no endpoint ${name}, in the workspace or in the document.` });
  return ids;
}
