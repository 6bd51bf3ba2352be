import { EventEmitter } from 'node:events';
import { getOperationAST, GraphQLObjectType, GraphQLSchema, GraphQLString, Lexer, parse } from 'graphql';
import type Koa from 'koa';
import { expect, test, vi } from 'vitest';
import { badInput } from '../../errors.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { Operations } from '../operation/operations.ts';
import { GraphqlHttp } from './graphql-http.ts';

const CALLER = { tokenId: 't', tenant: 'w' };
const log = { info: () => {}, warn: () => {}, error: () => {} };
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { a: { type: GraphQLString } } }),
});

test('who asks is known before the body is read, a long one in its turn, and each on its account', async () => {
  const happened: unknown[] = [];
  const operations = {
    schema,
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

test('an admitted operation is parsed no more, and runs only where its answer can be read', async () => {
  const query = '{ a }';
  const document = parse(query);
  const admitted = { checked: { document }, operation: getOperationAST(document), request: { query } };
  let runs = 0;
  const operations = {
    schema,
    shares: { spend: () => {} },
    admit: async () => admitted,
    execute: async () => ((runs += 1), { result: { data: { a: null } }, written: null }),
  } as unknown as Operations;
  const http = new GraphqlHttp({ operations, contextFor: async () => ({ caller: CALLER }) as GraphqlContext, log });
  await http.start();
  const parsing = vi.spyOn(Lexer.prototype, 'advance');
  const answerTo = async (accept: string): Promise<Record<string, unknown>> => {
    const res = Object.assign(new EventEmitter(), { getHeader: () => undefined });
    const [get, accepts, set] = [() => accept, () => false, () => {}];
    const context = { method: 'POST', request: { body: JSON.stringify({ query }) }, res, get, accepts, set };
    await http.handle(context as unknown as Koa.Context);
    return context;
  };
  expect(await answerTo('*/*')).toMatchObject({ status: 200, body: '{"data":{"a":null}}\n' });
  expect(runs).toBe(1);
  const refused = await answerTo('text/html');
  expect(refused).toMatchObject({ status: 406, body: expect.stringContaining('"code":"BAD_USER_INPUT"') });
  expect(runs).toBe(1);
  expect(parsing).not.toHaveBeenCalled();
  parsing.mockRestore();
  await http.stop();
});
