import {
  buildSchema,
  type DocumentNode,
  execute,
  type ExecutionResult,
  type FragmentDefinitionNode,
  getOperationAST,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { CheckedDocuments } from '../../src/graphql/operation/checked-documents.ts';
import { compileOperation, type Execute } from '../../src/graphql/operation/compiled-operation.ts';
import { profileOf } from '../../src/graphql/operation/operation-profile.ts';
import { comparing } from '../support/comparing.ts';

const SDL = `
  type Query { devices(first: Int = 2): [Device!]! one(id: ID): Device lost: Device broken: Device! numbers: [Float!]! }
  type Device { name: String! level: Int latest: [Point!]! parent: Device slow: Int fails: Int never: Int! points: [Point] }
  type Point { at: Float! value: Int field: Field! }
  type Field { unit: String identifier: String! }
`;

/** The schema and how often its resolvers were asked. */
function createSchema(): { schema: GraphQLSchema; asked: () => number } {
  let asked = 0;
  const schema = buildSchema(SDL);
  const device = (name: string): Record<string, unknown> => ({ name, level: name === 'a' ? 1 : null });
  const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(value)));
  const point = (value: unknown): unknown => ({ at: 1.5, value, field: { unit: '°C', identifier: 'x' } });
  const resolvers: Record<string, Record<string, (parent: any, args: any) => unknown>> = {
    Query: {
      devices: (_, { first }) => later(['a', 'b', 'c'].slice(0, first).map(device)),
      one: (_, { id }) => (id === 'none' ? null : device(String(id))),
      lost: () => later(null),
      broken: () => later(device('broken')),
      numbers: () => [1, 2.5, -3],
    },
    Device: {
      latest: ({ name }) => (name === 'a' ? later([point(1), point(null)]) : [point(2)]),
      parent: ({ name }) => (name === 'a' ? later(device('b')) : null),
      slow: () => later(7),
      fails: ({ name }) => {
        if (name === 'a') throw new GraphQLError('no such thing', { extensions: { code: 'X' } });
        return Promise.reject(new Error('not now'));
      },
      never: ({ name }) => (name === 'c' ? 1 : later(null).then(() => Promise.reject(new Error('never')))),
      points: ({ name }) => [point(3), later(null), name === 'c' ? point('no number') : later(point(4))],
    },
  };
  for (const [type, fields] of Object.entries(resolvers))
    for (const [name, resolve] of Object.entries(fields)) {
      const field = (schema.getType(type) as any).getFields()[name];
      field.resolve = (parent: unknown, args: unknown) => {
        asked += 1;
        return resolve(parent, args);
      };
    }
  return { schema, asked: () => asked };
}

/** With room for so many fields of plans. */
function compile(schema: GraphQLSchema, document: DocumentNode, room = { fields: 1000 }, name?: string): Execute {
  const source = { schema, fragments: fragmentsOf(document), operation: getOperationAST(document, name)! };
  return compileOperation(source, profileOf(source).deciders, room);
}

function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

const shown = ({ data, errors }: ExecutionResult): unknown => ({
  data: JSON.stringify(data),
  errors: errors?.map((error) => JSON.stringify(error)).toSorted(),
});

interface Case {
  query: string;
  variables?: Record<string, unknown>;
}

/** Each resolver is asked as often as graphql-js asks it. */
const PLANNED: Record<string, Case> = {
  'plain and resolved fields, lists and nulls': {
    query:
      '{ devices { name level latest { value at field { unit } } slow } lost { name } one(id: "none") { name } numbers }',
  },
  'aliases, __typename, the order of the question': {
    query:
      '{ z: devices(first: 3) { slow t: __typename n: name } __typename a: one(id: 5) { name } b: one(id: 6) { name } }',
  },
  'fragments that meet in one field': {
    query: `query ($x: Int) { devices(first: $x) { ...A ... on Device { latest { value } } ... { name } } }
      fragment A on Device { latest { at field { identifier } } parent { ...B } } fragment B on Device { name slow }`,
    variables: { x: 3 },
  },
  '@skip and @include, one way': {
    query:
      'query ($s: Boolean!) { devices { name @skip(if: $s) level @include(if: $s) ... @include(if: $s) { slow } } }',
    variables: { s: true },
  },
  '@skip and @include, the other way': {
    query:
      'query ($s: Boolean!) { devices { name @skip(if: $s) level @include(if: $s) ... @include(if: $s) { slow } } }',
    variables: { s: false },
  },
  'errors where null may stand': { query: '{ devices { name fails parent { fails } } }' },
  'an error takes the nearest place that may be null': { query: '{ one(id: "a") { parent { name never } } numbers }' },
  'an error takes everything': { query: '{ broken { never } numbers }' },
  introspection: {
    query:
      '{ __schema { queryType { name fields { name type { kind ofType { name } } } } } __type(name: "Field") { name } }',
  },
};

for (const [name, { query, variables }] of Object.entries(PLANNED))
  test(`compiled as by graphql-js: ${name}`, async () => {
    const [one, other] = [createSchema(), createSchema()];
    const document = parse(query);
    const compiled = compile(one.schema, document);
    const actual = await compiled({ schema: one.schema, document, variableValues: variables ?? null });
    const expected = await execute({ schema: other.schema, document, variableValues: variables ?? null });
    expect(shown(actual)).toEqual(shown(expected));
    expect(one.asked()).toBe(other.asked());
  });

/** What is wrong is told as graphql-js tells it. */
const MISTAKEN: Record<string, Case> = {
  'items that are promised where nothing is resolved': { query: '{ one(id: "a") { points { value } } }' },
  'a value that its type does not take': { query: '{ one(id: "c") { name points { value } } }' },
  'null where there must be something': {
    query:
      '{ one(id: "a") { latest { value } } devices { name } lost { name } broken { parent { name } } nothing: one(id: "b") { latest { at } } }',
  },
  'variables that do not fit': { query: 'query ($x: Int!) { devices(first: $x) { name } }', variables: { x: 'many' } },
  'a directive that gets null': { query: 'query ($s: Boolean) { numbers @skip(if: $s) }', variables: { s: null } },
};

for (const [name, { query, variables }] of Object.entries(MISTAKEN))
  test(`told as by graphql-js: ${name}`, async () => {
    const { schema } = createSchema();
    const document = parse(query);
    const compiled = compile(schema, document);
    const args = { schema, document, variableValues: variables ?? null };
    expect(shown(await compiled(args))).toEqual(shown(await execute(args)));
  });

test('there is one plan for each combination of what decides, while there is room', async () => {
  const { schema } = createSchema();
  const names = ['a', 'b', 'c', 'd', 'e'];
  const document = parse(
    `query (${names.map((name) => `$${name}: Boolean!`).join(' ')}) { numbers ${names.map((name) => `${name}: __typename @include(if: $${name})`).join(' ')} }`,
  );
  const compiled = compile(schema, document, { fields: 40 });
  for (let bits = 0; bits < 32; bits += 1) {
    const variableValues = Object.fromEntries(names.map((name, at) => [name, (bits & (1 << at)) !== 0]));
    expect(shown(await compiled({ schema, document, variableValues }))).toEqual(
      shown(await execute({ schema, document, variableValues })),
    );
  }
});

test('all operations of a document share its room, and what does not fit is planned each time', async () => {
  const schema = buildSchema('type Query { a: Int b: Int c: Int }');
  const document = parse(
    `query A { ...F } query B { ...F } query C { a b } query D { a } fragment F on Query { a b c }`,
  );
  const room = { fields: 5 };
  const left: string[] = [];
  for (const operationName of ['A', 'B', 'C', 'D', 'A']) {
    const compiled = compile(schema, document, room, operationName);
    for (let times = 0; times < 3; times += 1)
      expect(shown(await compiled({ schema, document }))).toEqual(
        shown(await execute({ schema, document, operationName })),
      );
    left.push(`${operationName} ${room.fields}`);
  }
  expect(left).toEqual(['A 2', 'B 2', 'C 0', 'D 0', 'A 0']);
});

test.each([
  ['all succeed', 'mutation { a: add(n: 1) { n } __typename b: add(n: 2) { n late } c: add(n: 3) { n } }'],
  ['one fails', 'mutation { a: add(n: 1) { n } b: add(n: -1) { n } c: add(n: 3) { n } }'],
  ['one that must not be null fails', 'mutation { a: must(n: 1) { n } b: must(n: -1) { n } c: must(n: 3) { n } }'],
])('mutations come one after the other, as with graphql-js, where %s', async (_, query) => {
  const run = async (how: (schema: GraphQLSchema) => Execute): Promise<unknown> => {
    const done: string[] = [];
    const schema = buildSchema(
      'type Query { a: Int } type Mutation { add(n: Int): Sum must(n: Int): Sum! } type Sum { n: Int late: Int }',
    );
    const add = async (__: unknown, { n }: { n: number }): Promise<unknown> => {
      done.push(`begun ${n}`);
      await new Promise((resolve) => setTimeout(resolve, 5 - n));
      if (n < 0) throw new Error('no');
      return { n };
    };
    const fields = schema.getMutationType()!.getFields();
    for (const field of Object.values(fields)) field.resolve = add as never;
    (schema.getType('Sum') as GraphQLObjectType).getFields()['late']!.resolve = async ({ n }: { n: number }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      done.push(`answered ${n}`);
      return n;
    };
    return [shown(await how(schema)({ schema, document })), done];
  };
  const document = parse(query);
  expect(await run((schema) => compile(schema, document))).toEqual(await run(() => execute));
});

test('a mutation that gets no turn fails in its place, and the others go on', async () => {
  const schema = buildSchema('type Query { a: Int } type Mutation { add(n: Int): Int must: Int! }');
  const done: unknown[] = [];
  const { add, must } = schema.getMutationType()!.getFields();
  add!.resolve = (_, { n }) => (done.push(n), n);
  must!.resolve = () => (done.push('must'), 1);
  const run = async (query: string): Promise<ExecutionResult> => {
    done.length = 0;
    let asked = 0;
    const betweenMutations = async (): Promise<void> => {
      asked += 1;
      if (asked === 2) throw new Error('too many');
    };
    const document = parse(query);
    return compile(schema, document)({ schema, document, betweenMutations });
  };
  const { data, errors } = await run('mutation { a: add(n: 1) __typename b: add(n: 2) c: add(n: 3) d: add(n: 4) }');
  expect(data).toEqual({ a: 1, __typename: 'Mutation', b: 2, c: null, d: 4 });
  expect(errors).toMatchObject([{ message: 'too many', path: ['c'] }]);
  expect(done).toEqual([1, 2, 4]);
  expect((await run('mutation { a: add(n: 1) b: add(n: 2) must c: add(n: 3) }')).data).toBeNull();
  expect(done).toEqual([1, 2]);
});

test('a document weighs what its plans may come to', () => {
  const { schema } = createSchema();
  const { bytes, room } = new CheckedDocuments(schema).check('{ devices { name latest { value } } numbers }');
  // Measured: 320 bytes a field.
  expect(bytes).toBeGreaterThan(room.fields * 320);
});

describe('the comparison of both ways', () => {
  const document = parse('{ numbers }');
  /** `numbers` answers these, one after the other, whoever asks; then the last one again and again. */
  const answering = (...answers: number[]) => {
    const { schema } = createSchema();
    schema.getQueryType()!.getFields()['numbers']!.resolve = () => [answers.length > 1 ? answers.shift() : answers[0]];
    return { schema, document };
  };
  const compared = (args: { schema: GraphQLSchema; document: typeof document }) =>
    comparing(compile(args.schema, document), execute)(args);

  test('is no error when the data changes meanwhile, once or again and again', async () => {
    for (const answers of [[1], [1, 2], [1, 1, 2], [1, 2, 3, 4, 5]]) {
      const { data, errors } = await compared(answering(...answers));
      expect(errors, String(answers)).toBeUndefined();
      expect(answers.map((answer) => JSON.stringify({ numbers: [answer] }))).toContain(JSON.stringify(data));
    }
  });

  test('tells an answer that graphql-js gives neither before nor after', async () => {
    const wrong = comparing(() => ({ data: { numbers: [7] } }), execute);
    await expect(wrong(answering(1))).rejects.toThrow('Compiled, the answer is');
    await expect(wrong(answering(1, 2))).rejects.toThrow('Compiled, the answer is');
  });
});
