import { EndpointSchema } from '../entities/endpoint.ts';
import { checkEndpoint } from '../outgoing/endpoint-input.ts';
import { newEndpoint, removeEndpoint, secretFor, setEndpoint } from '../outgoing/endpoint-rows.ts';
import { WorkspaceSchema } from '../entities/workspace.ts';
import type { EndpointDraft } from './endpoint-plan.ts';
import { wishOf } from './endpoint-shape.ts';
import { nameOfReference, type ProductReference } from './references.ts';
import type { Writing } from './write-products.ts';
import { must } from '../../must.ts';

/**
 * Writes endpoints; returns the ids of those that the document names. A new one has a secret that nobody knows:
 * `rotateEndpointSecret` gives it another.
 */
export async function writeEndpoints(
  { em, workspaceId, now }: Writing,
  endpoints: readonly EndpointDraft[],
  productIds: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { name, state, target, pending } of endpoints) {
    if (state !== null && target !== undefined) ids.set(name, state.id);
    if (pending.length === 0) continue;
    if (target === undefined) {
      await removeEndpoint(em, await em.findOneOrFail(EndpointSchema, { key: must(state).key }));
      continue;
    }
    const checked = checkEndpoint(wishOf(target), '', true);
    const references = target['products'] as ProductReference[] | undefined;
    const products = references?.map((reference) => must(productIds.get(nameOfReference(reference)))) ?? null;
    const authorKey = (target['key'] as string | undefined) ?? null;
    if (state === null) {
      const workspace = em.getReference(WorkspaceSchema, workspaceId);
      const secret = secretFor(checked.kind);
      const made = newEndpoint(em, {
        ...checked,
        workspace,
        productIds: products,
        authorKey,
        createdFrom: null,
        secret,
        now,
      });
      ids.set(name, made.id);
    } else {
      const row = await em.findOneOrFail(EndpointSchema, { key: state.key });
      setEndpoint(row, checked);
      Object.assign(row, { productIds: products, authorKey });
    }
  }
  await em.flush();
  return ids;
}
