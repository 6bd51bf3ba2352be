import { EventEmitter } from 'node:events';
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import type Koa from 'koa';
import { expect, test } from 'vitest';
import { badInput } from '../../errors.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { Operations } from '../operation/operations.ts';
import { GraphqlHttp } from './graphql-http.ts';

const CALLER = { tokenId: 't', tenant: 'w' };

test('who asks is known before the body is read, a long one in its turn, and each on its account', async () => {
  const happened: unknown[] = [];
  const operations = {
    schema: new GraphQLSchema({
      query: new GraphQLObjectType({ name: 'Query', fields: { a: { type: GraphQLString } } }),
    }),
    shares: {
      begin: async (party: object) => void happened.push(['begin', party]),
      spend: (party: object, ms: number) => void happened.push(['spend', party, ms > 0]),
    },
    admit: async () => {
      happened.push('admit');
      throw badInput('no');
    },
  } as unknown as Operations;
  const contextFor = async (): Promise<GraphqlContext> => {
    happened.push('who');
    return { caller: CALLER } as GraphqlContext;
  };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const http = new GraphqlHttp({ operations, contextFor, log });
  const asking = async (query: string): Promise<unknown[]> => {
    happened.length = 0;
    const res = Object.assign(new EventEmitter(), { getHeader: () => undefined });
    const [get, accepts] = [() => '', () => false];
    await http.handle({
      method: 'POST',
      request: { body: JSON.stringify({ query }) },
      res,
      get,
      accepts,
    } as unknown as Koa.Context);
    return happened;
  };
  expect(await asking('{ a }')).toEqual(['who', ['spend', CALLER, true], 'admit']);
  expect(await asking(`{ a } #${'x'.repeat(20_000)}`)).toEqual([
    'who',
    ['begin', CALLER],
    ['spend', CALLER, true],
    'admit',
  ]);
});
