import { GraphqlContext, type LiveSources } from '../../src/graphql/context/graphql-context.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import type { OpenDomain } from './open-domain.ts';

/** What the operator asks, answered in this process as the server does it; throws the first error. */
type Ask = (query: string, variables?: Record<string, unknown>) => Promise<any>;

/** GraphQL over the domain, without transports and subscriptions. */
export function openGraphql(domain: OpenDomain): Ask {
  const { access, database, store, history, heavyTurns, shares } = domain;
  const sources = { database, store, history, heavyTurns };
  const schema = createSchema({ ...domain, baseUrl: () => 'http://localhost', now: () => domain.clock.now });
  const operations = new Operations(schema, 'seen', shares);
  return async (query, variables = {}) => {
    const context = new GraphqlContext(access, '', sources, {} as LiveSources);
    const admitted = await operations.admit({ query, variables }, context);
    const { result, written } = await operations.execute(admitted);
    if (result.errors !== undefined) throw result.errors[0]!.originalError ?? result.errors[0]!;
    return written === null ? JSON.parse(JSON.stringify(result.data)) : JSON.parse(written.toString()).data;
  };
}
