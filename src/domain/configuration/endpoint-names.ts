import type { EntityManager } from '@mikro-orm/sql';
import { type EndpointReference, nameOfReference, numbering, productReference } from './references.ts';

/** An endpoint as documents refer to it. */
export interface EndpointName {
  id: string;
  reference: EndpointReference;
  /** The name within a document. */
  name: string;
}

/** All endpoints of a workspace in the order of their creation; those without a key are numbered by name. */
export async function readEndpointNames(em: EntityManager, workspaceId: string): Promise<EndpointName[]> {
  const rows = await em.execute<{ id: string; authorKey: string | null; title: string }[]>(
    'select id, author_key as "authorKey", name as title from endpoint where workspace_id = ? order by "key"',
    [workspaceId],
  );
  const nthOf = numbering();
  return rows.map(({ id, authorKey, title }) => {
    if (authorKey !== null) return { id, reference: authorKey, name: authorKey };
    const reference = productReference(title, nthOf(title));
    return { id, reference, name: nameOfReference(reference) };
  });
}
