import { Access } from '../../domain/access/access.ts';
import type { Operations } from '../operation/operations.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';

/** Resembles the first query of the console. */
const FIRST_PAGE = `query ($workspaceId: ID, $count: Boolean!) {
  devices(workspaceId: $workspaceId, orderBy: CREATED, descending: false, first: 1) {
    totalCount @include(if: $count)
    pageInfo { hasNextPage endCursor }
    edges { node { ...Row } }
  }
  products(workspaceId: $workspaceId, first: 1) { edges { node { id name } } }
  plans { slug name deviceAllowance }
}
fragment Row on Device {
  id name serialNumber online lastHeardAt tags plan { slug } product { id name }
  latest { field { identifier name unit role type } value timestamp }
}`;
/** There is no such workspace. */
const NOWHERE = '00000000-0000-7000-8000-000000000000';

/**
 * Answers one query that no client sent, of a workspace that does not exist: code that has never run takes several
 * times as long, and the first client would wait for that.
 */
export async function warmUp(operations: Operations, contextOf: (access: Access) => GraphqlContext): Promise<void> {
  const access = new Access({
    tokenId: 'warm-up',
    kind: 'INDIVIDUAL',
    userId: null,
    operator: false,
    scopes: new Map([[NOWHERE, new Set(['READ'])]]),
    productIds: null,
    deviceIds: null,
    fields: null,
    expiresAt: null,
    signedIn: false,
  });
  const asked = { query: FIRST_PAGE, variables: { workspaceId: NOWHERE, count: true } };
  const { result } = await operations.execute(await operations.admit(asked, contextOf(access)));
  if (result.errors !== undefined) throw result.errors[0];
}
