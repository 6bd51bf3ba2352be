import type { EntityManager } from '@mikro-orm/sql';
import { type Endpoint, EndpointSchema } from '../entities/endpoint.ts';
import { MAX_ENDPOINTS } from '../outgoing/endpoint-service.ts';
import type { Applied } from './applied-objects.ts';
import { blockTooMany, type Draft, draftsOfPairs, type Ownership } from './draft.ts';
import { ENDPOINT } from './endpoint-shape.ts';
import { normalOf } from './normal-form.ts';
import { paired } from './pairing.ts';
import type { Asked } from './read-document.ts';
import { inOrder, nameOfReference, nameWithoutKey, noProduct, numbering, type ProductReference } from './references.ts';
import type { Block, Tree } from './shape.ts';

/** An endpoint as it is. */
interface EndpointState {
  id: string;
  key: number;
  name: string;
  /** null: it has a key. */
  sharedName: string | null;
  tree: Tree;
}

/** An endpoint of a plan. */
export type EndpointDraft = Draft<EndpointState>;

/** The endpoints of a workspace in the order of their creation; `references`: of products, by their ids. */
export async function readEndpointStates(
  em: EntityManager,
  workspaceId: string,
  references: ReadonlyMap<string, ProductReference>,
): Promise<EndpointState[]> {
  const rows = await em.find(EndpointSchema, { workspace: workspaceId }, { orderBy: { key: 'asc' } });
  const nthOf = numbering();
  return rows.map((row) => {
    const { id, key, name, authorKey = null } = row;
    const tree = normalOf(ENDPOINT, treeOf(row, references));
    if (authorKey !== null) return { id, key, name: authorKey, sharedName: null, tree };
    return { id, key, name: nameWithoutKey(name, nthOf(name)), sharedName: name, tree };
  });
}

function treeOf(
  { authorKey, name, kind, url, addresses, events, productIds, tags, enabled }: Endpoint,
  references: ReadonlyMap<string, ProductReference>,
): Tree {
  const products = productIds?.flatMap((id) => references.get(id) ?? []);
  return {
    key: authorKey ?? null,
    name,
    kind,
    url: url ?? null,
    addresses: addresses ?? null,
    events,
    products: products === undefined ? null : inOrder(products),
    tags,
    enabled,
  };
}

interface EndpointsAround {
  workspaceId: string;
  asked: readonly Asked[];
  /** Those that the set owns and the document no longer names. */
  owned: ReadonlyMap<string, Applied>;
  ownership: Ownership;
  /** References to products by their ids, and names of all of them, as they are once the document is applied. */
  references: ReadonlyMap<string, ProductReference>;
  products: ReadonlySet<string>;
  sendsMail: boolean;
}

/** The endpoints of a plan, and those that there are; null: none was read. Blocks what cannot be. */
export async function planEndpoints(
  em: EntityManager,
  { workspaceId, asked, owned, ownership, references, products, sendsMail }: EndpointsAround,
  blocks: Block[],
): Promise<{ endpoints: EndpointDraft[]; endpointStates: EndpointState[] | null }> {
  if (asked.length === 0 && (!ownership.prune || owned.size === 0)) return { endpoints: [], endpointStates: null };
  const endpointStates = await readEndpointStates(em, workspaceId, references);
  const pairs = paired(asked, endpointStates, blocks);
  const endpoints = draftsOfPairs('endpoints', { pairs, states: endpointStates }, { owned, ownership }, blocks);
  for (const draft of endpoints) checkDraft(draft, { products, sendsMail }, blocks);
  blockTooMany('endpoints', endpoints, { count: endpointStates.length, max: MAX_ENDPOINTS }, blocks);
  return { endpoints, endpointStates };
}

function checkDraft(
  { path, is, target, pending }: EndpointDraft,
  { products, sendsMail }: { products: ReadonlySet<string>; sendsMail: boolean },
  blocks: Block[],
): void {
  if (target === undefined || pending.length === 0) return;
  if (is !== undefined && is['kind'] !== target['kind'])
    blocks.push({ path: `${path}.kind`, message: `it is ${String(is['kind'])} and stays so; make another endpoint.` });
  if (is === undefined && target['kind'] === 'EMAIL' && !sendsMail)
    blocks.push({ path: `${path}.kind`, message: 'EMAIL needs the setting SMTP_URL, which this server has not.' });
  const references = target['products'] as ProductReference[] | undefined;
  // Those that it was limited to may all be gone: then it is kept as it is.
  if (references?.length === 0)
    blocks.push({ path: `${path}.products`, message: 'leave it out for all products, or name at least one.' });
  for (const [index, reference] of (references ?? []).entries())
    if (!products.has(nameOfReference(reference)))
      blocks.push({
        path: `${path}.products[${index}]`,
        message: noProduct(nameOfReference(reference)),
      });
}
