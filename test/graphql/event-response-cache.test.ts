import { getOperationAST, type OperationDefinitionNode } from 'graphql';
import { expect, test } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { WorkBudget } from '../../src/graphql/context/work-budget.ts';
import { declaredVariables, operationKey } from '../../src/graphql/operation/admission.ts';
import { CheckedDocuments } from '../../src/graphql/operation/checked-documents.ts';
import { type EventAnswer, EventResponseCache } from '../../src/graphql/operation/event-response-cache.ts';
import { createSchema } from '../../src/graphql/schema.ts';

test('an answer is made once for all equal subscriptions, also while it is being made', async () => {
  const answers = new EventResponseCache();
  const budget = new WorkBudget();
  const event = {};
  let made = 0;
  const make = async (): Promise<EventAnswer> => {
    made += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return { result: { data: {} }, text: `answer ${made}` };
  };
  const first = await Promise.all([answers.of(event, 'a', budget, make), answers.of(event, 'a', budget, make)]);
  expect(first.map(({ text }) => text)).toEqual(['answer 1', 'answer 1']);
  expect(answers.of(event, 'a', budget, make)).toBe(first[0]);
  expect((await answers.of(event, 'b', budget, make)).text).toBe('answer 2');
  expect((await answers.of({}, 'a', budget, make)).text).toBe('answer 3');
});

test('an answer that nobody waits for any more is given up, and made anew for who comes then', async () => {
  const answers = new EventResponseCache();
  const event = {};
  const begun: { budget: WorkBudget; end: () => void }[] = [];
  const make = (budget: WorkBudget): Promise<EventAnswer> =>
    new Promise((resolve) => {
      const text = `answer ${begun.length + 1}`;
      const errors = { result: { errors: [] }, text: null };
      begun.push({ budget, end: () => resolve(budget.isEnded ? errors : { result: { data: {} }, text }) });
    });
  const gone = new AppError('UNAVAILABLE', 'The client is gone.');
  const asked = [new WorkBudget(), new WorkBudget()];
  const given = Promise.all(asked.map(async (budget) => answers.of(event, 'a', budget, make)));
  asked[0]!.end(gone);
  expect(begun[0]!.budget.isEnded).toBe(false);
  asked[1]!.end(gone);
  expect(begun[0]!.budget.isEnded).toBe(true);
  const late = answers.of(event, 'a', new WorkBudget(), make);
  begun[0]!.end();
  await given;
  // The first one is over: the second is still the one that is joined.
  const joined = answers.of(event, 'a', new WorkBudget(), make);
  expect(begun).toHaveLength(2);
  begun[1]!.end();
  expect((await Promise.all([late, joined])).map(({ text }) => text)).toEqual(['answer 2', 'answer 2']);
});

test('an answer with errors is kept for nobody', async () => {
  const answers = new EventResponseCache();
  let made = 0;
  const make = async (): Promise<EventAnswer> => ((made += 1), { result: { errors: [] }, text: null });
  const event = {};
  await answers.of(event, '', new WorkBudget(), make);
  await answers.of(event, '', new WorkBudget(), make);
  expect(made).toBe(2);
});

test('answers are kept within a bound', async () => {
  const answers = new EventResponseCache();
  const budget = new WorkBudget();
  const text = 'x'.repeat(500_000);
  const events = Array.from({ length: 20 }, () => ({}));
  let made = 0;
  const make = async (): Promise<EventAnswer> => ({ result: null, text: text + String((made += 1)) });
  for (const event of events) await answers.of(event, '', budget, make);
  for (const event of events.toReversed()) await answers.of(event, '', budget, make);
  expect(made).toBeGreaterThan(30);
  expect(made).toBeLessThan(40);
});

const documents = new CheckedDocuments(createSchema(null));

function key(text: string, variables: Record<string, unknown>, name?: string): string {
  const checked = documents.check(text);
  const operation = getOperationAST(checked.document, name) as OperationDefinitionNode;
  const profile = documents.profileOf(checked, operation);
  return operationKey(checked.hash, operation, profile, declaredVariables(operation, variables));
}

test('queries are equal when what they declare is, whatever else is sent and in whatever order', () => {
  const query = 'query ($p: ID!, $__proto__: ID!) { a: product(id: $p) { id } b: product(id: $__proto__) { id } }';
  const one = key(query, { p: '1' });
  expect(key(query, { other: { names: 1 }, p: '1' })).toBe(one);
  expect(key(query, { p: '2' })).not.toBe(one);
  expect(key(query, { p: null })).not.toBe(one);
  const both = key(query, JSON.parse('{"p":"1","__proto__":"2"}'));
  expect(key(query, JSON.parse('{"__proto__":"2","p":"1"}'))).toBe(both);
  expect(key(query, JSON.parse('{"p":"1","__proto__":"3"}'))).not.toBe(both);
});

test('subscriptions are equal when they answer alike, wherever they begin', () => {
  const query =
    'subscription S($p: ID, $f: [String!], $from: String) { measurementsRecorded(productId: $p, fields: $f, after: $from) { cursor } }';
  const one = key(query, { p: '1', from: 'here' });
  expect(key(query, { p: '1', from: 'there' })).toBe(one);
  expect(key(query, { p: '1' })).toBe(one);
  expect(key(query, { p: '2', from: 'here' })).not.toBe(one);
  expect(key(query, { p: '1', f: ['a'] })).not.toBe(one);
  const other = query.replace('{ cursor }', '{ receivedAt }');
  expect(key(other, { p: '1' })).not.toBe(one);
  // What also decides what is answered is no beginning.
  const twice = query.replace('{ cursor }', '{ cursor device { product { calls(after: $from) { totalCount } } } }');
  expect(key(twice, { p: '1', from: 'here' })).not.toBe(key(twice, { p: '1', from: 'there' }));
  const two = `${query} ${query.replace(' S(', ' T(')}`;
  expect(key(two, { p: '1' }, 'S')).not.toBe(key(two, { p: '1' }, 'T'));
});
