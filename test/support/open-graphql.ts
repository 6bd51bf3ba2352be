import { GraphqlContext, type LiveSources } from '../../src/graphql/context/graphql-context.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import type { OpenDomain } from './open-domain.ts';

/** What the operator asks, answered in this process as the server does it; throws the first error. */
interface OpenGraphql {
  /** The answer's data. */
  ask: (query: string, variables?: Record<string, unknown>) => Promise<any>;
  /** The answer's text: all that the server does, and nothing that its client does. */
  answer: (query: string, variables?: Record<string, unknown>) => Promise<string>;
}

/** GraphQL over the domain, without transports and subscriptions. */
export function openGraphql(domain: OpenDomain): OpenGraphql {
  const { access, database, store, history, shares } = domain;
  const installation = (): Promise<never> => Promise.reject(new Error('there is a domain only'));
  const sources = { database, store, history };
  const schema = createSchema({
    ...domain,
    baseUrl: () => 'http://localhost',
    now: () => domain.clock.now,
    installation,
  });
  const operations = new Operations(schema, shares);
  const answer: OpenGraphql['answer'] = async (query, variables = {}) => {
    const context = new GraphqlContext(access, '', sources, {} as LiveSources);
    const admitted = await operations.admit({ query, variables }, context);
    const { result, written } = await operations.execute(admitted);
    if (result.errors !== undefined) throw result.errors[0]!.originalError ?? result.errors[0]!;
    return written === null ? JSON.stringify({ data: result.data }) : written.toString();
  };
  return { answer, ask: async (query, variables) => JSON.parse(await answer(query, variables)).data };
}
