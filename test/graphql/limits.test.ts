import {
  type FragmentDefinitionNode,
  getIntrospectionQuery,
  getVariableValues,
  GraphQLError,
  GraphQLObjectType,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql';
import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { CheckedDocuments, RefusedDocument } from '../../src/graphql/operation/checked-documents.ts';
import { parseWithinLimits, SHAPE_LIMITS } from '../../src/graphql/operation/shape-limits.ts';
import { CALL_FIELDS } from '../decoders/webhook-client.ts';
import { costOf as amountOf, MAX_COST } from '../../src/graphql/operation/operation-cost.ts';
import { profileOf } from '../../src/graphql/operation/operation-profile.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { repeatedIn, TOO_MUCH } from './refused-documents.ts';

const schema = createSchema(null);

const DASHBOARD = `query ($first: Int = 50) {
  devices(first: $first) {
    pageInfo { hasNextPage endCursor }
    edges { cursor node {
      id name serialNumber tags lastHeardAt online plan { slug }
      product { id name dashboard fields { id identifier type name unit description } decoder { version note createdAt } }
      latest { timestamp value field { identifier type unit } }
    } }
  }
}`;
const CHARTS = `query ($from: DateTime!, $to: DateTime!) {
  ${Array.from(
    { length: 30 },
    (_, i) => `w${i}: device(id: "d${i}") {
    name history(from: $from, to: $to, fields: ["A", "B"]) { field { identifier unit } timestamps values truncated }
  }`,
  ).join('\n')}
}`;

function refusalOf(query: string): { limit: unknown; allowed: unknown; actual?: unknown } | null {
  try {
    parseWithinLimits(query);
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).toBe('QUERY_TOO_COMPLEX');
    return error.details as never;
  }
}

function refusedBy(query: string): GraphQLError | undefined {
  try {
    new CheckedDocuments(schema).check(query);
    return undefined;
  } catch (error) {
    if (!(error instanceof RefusedDocument)) throw error;
    return error.errors[0];
  }
}

function costOf(query: string, variables: Record<string, unknown> = {}): number {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const operation = document.definitions[0] as OperationDefinitionNode;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  return amountOf(profileOf({ schema, fragments, operation }).price, coerced ?? {});
}

describe('what every operation may look like', () => {
  it.each([
    ['a dashboard of 50 devices', DASHBOARD],
    ['30 charts in one query', CHARTS],
    ["GraphiQL's introspection", getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true })],
  ])('lets pass: %s', (_, query) => {
    expect(refusalOf(query)).toBeNull();
    expect(validate(schema, parse(query))).toEqual([]);
    expect(costOf(query)).toBeLessThan(MAX_COST);
  });

  it.each(TOO_MUCH)('refuses too much of: %s', (_, limit, query) => {
    const lexing = vi.spyOn(Lexer.prototype, 'advance');
    expect(refusalOf(query)).toMatchObject({ limit });
    // What has too many is parsed a little further; how fast it is `test/timed/documents.test.ts` sees.
    expect(lexing.mock.calls.length).toBeLessThan(2.1 * SHAPE_LIMITS.tokens);
    lexing.mockRestore();
  });

  it.each([
    ['a long text', `{ a(x: "${'#, '.repeat(30_000)}") }`],
    ['a long text with quotes in it', `{ a(x: "${String.raw`\"#,, `.repeat(30_000)}") }`],
    [
      'a source of 10,000 lines',
      `{ a(x: """${String.raw`  # "x", \""" "" `.repeat(9)}\n${'    x,\n'.repeat(10_000)}""") }`,
    ],
    ['much that is ignored', `${'# x\n'.repeat(10_000)}{ a }`],
  ])('lets pass: %s', (_, query) => expect(refusalOf(query)).toBeNull());

  it('does not look for the places of errors in long texts, nor keeps what would be needed for it', () => {
    expect(parseWithinLimits('{ a }').document.definitions[0]!.loc).toMatchObject({ start: 0, end: 5 });
    for (const filling of ['\n'.repeat(600), '#x'.repeat(9000)])
      expect(parseWithinLimits(`{ a }${filling}`).document).not.toHaveProperty('loc');
  });

  it('says where a mistake is, and its code', () => {
    const [at, code] = [{ line: 2, column: 3 }, 'GRAPHQL_VALIDATION_FAILED'];
    expect(refusedBy('{\n  nothing }')).toMatchObject({ locations: [at], extensions: { code } });
    expect(refusedBy('{\n  )')).toMatchObject({ locations: [at], extensions: { code: 'GRAPHQL_PARSE_FAILED' } });
  });

  it('counts comments to what a document takes', () => {
    const documents = new CheckedDocuments(schema);
    const query = '{ viewer { token { id } } }';
    // Measured: 130 bytes each.
    const more = documents.check(`${'#\n'.repeat(400)}${query}`).bytes - documents.check(query).bytes;
    expect(more).toBeGreaterThan(400 * 130);
  });

  it('says how far over the limit it is', () => {
    expect(refusalOf(`{ ${Array.from({ length: 70 }, (_, i) => `f${i}`).join(' ')} }`)).toEqual({
      limit: 'root fields',
      allowed: 50,
      actual: 70,
    });
  });

  it('counts the names of a field whose arguments are equal, in whichever order they stand', () => {
    const fields = (...args: string[]): string => args.map((one, at) => `a${at}: x${one}`).join(' ');
    const [given, turned] = ['(a: 1, b: [$v])', '(b: [$v], a: 1)'];
    expect(refusalOf(`{ o { x ${fields(given, turned, given)} } }`)).toBeNull();
    expect(refusalOf(`{ o { ${fields(given, turned, given, '(a: 2, b: [$v])')} p { ${fields(given)} } } }`)).toBeNull();
    const four = refusalOf(
      `{ o { ${fields(given, turned)} ...F ... { c: x${given} } } } fragment F on X { b: x${given} }`,
    );
    expect(four).toEqual({ limit: 'equal fields', allowed: 3, actual: 4 });
    expect(() => parseWithinLimits(`{ ${fields('', '', '', '')} }`)).toThrow('under at most 3 names in one object');
  });

  it('leaves syntax errors and circular fragments to those who report them', () => {
    expect(() => parseWithinLimits('{ a ')).toThrow(GraphQLError);
    const { document } = parseWithinLimits('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }');
    expect(validate(schema, document)).not.toEqual([]);
  });

  it('survives values nested so deeply that a parser gives up', () => {
    for (const query of [`{ a(x: ${'['.repeat(4900)}`, `{ a(x: ${'['.repeat(2400)}${']'.repeat(2400)}, @) }`]) {
      let thrown: unknown = null;
      try {
        parseWithinLimits(query);
      } catch (error) {
        thrown = error;
      }
      expect(thrown instanceof AppError || thrown instanceof GraphQLError).toBe(true);
    }
  });

  it('compares the fields of the worst that passes, and of no worse one', () => {
    expect(new CheckedDocuments(schema).check(repeatedIn(10, 11)).document.definitions).toHaveLength(11);
    expect(refusalOf(repeatedIn(11, 12))).toMatchObject({ limit: 'field comparisons' });
  });

  it('says what to do about fields that are compared too often', () => {
    expect(() => parseWithinLimits(repeatedIn(30, 10))).toThrow('use aliases');
  });
});

describe('what an operation costs', () => {
  it('a page of long texts is dear enough to run alone, and the event of one is not', () => {
    const calls = (first: number): string => `{ calls(first: ${first}) { edges { node { id body } } } }`;
    expect(costOf(`{ product(id: "1") ${calls(200)} }`)).toBeGreaterThan(2_000);
    expect(costOf(`{ product(id: "1") ${calls(20)} }`)).toBeLessThan(2_000);
    const versions = '{ decoderVersions(first: 200) { source } }';
    expect(costOf(`{ product(id: "1") ${versions} }`)).toBeGreaterThan(2_000);
    // As many as a page may have, with all that a call holds.
    const all = `edges { node { ${CALL_FIELDS} } }`;
    expect(costOf(`{ product(id: "1") { calls(first: 500) { ${all} } } }`)).toBeLessThan(MAX_COST);
    expect(costOf('subscription { webhookCalled(productId: "1") { id status body headers } }')).toBeLessThan(30);
  });

  it('counts the tags of a device as the list that they are: 500 devices answer with them some times, not 190', () => {
    const query = (times: number): string =>
      `{ devices(first: 500) { edges { node { ${Array.from({ length: times }, (_, at) => `t${at}: tags`).join(' ')} } } } }`;
    expect(costOf(query(10))).toBeLessThan(MAX_COST);
    expect(costOf(query(100))).toBeGreaterThan(MAX_COST);
  });

  it('multiplies lists by first, given as literal, variable or default', () => {
    const inner = '{ edges { node { product { id } } } }';
    const ten = costOf(`{ devices(first: 10) ${inner} }`);
    const twenty = costOf(`{ devices(first: 20) ${inner} }`);
    expect(twenty - 1).toBeCloseTo(2 * (ten - 1));
    const byVariable = `query ($n: Int = 20) { devices(first: $n) ${inner} }`;
    expect(costOf(byVariable)).toBeCloseTo(twenty);
    expect(costOf(byVariable, { n: 10 })).toBeCloseTo(ten);
    // What runs for null is the resolver's default.
    expect(costOf(byVariable.replace('Int = 20', 'Int'), { n: null })).toBeCloseTo(
      costOf(`{ devices(first: 50) ${inner} }`),
    );
  });

  it('takes 50 where first is left out and never more than 500', () => {
    const inner = '{ edges { node { id } } }';
    expect(costOf(`{ devices ${inner} }`)).toBeCloseTo(costOf(`{ devices(first: 50) ${inner} }`));
    expect(costOf(`{ devices(first: 100000) ${inner} }`)).toBeCloseTo(costOf(`{ devices(first: 500) ${inner} }`));
  });

  it('refuses lists of lists of lists, and history of hundreds of devices', () => {
    const nested = '{ products(first: 500) { edges { node { devices(first: 500) { edges { node { id } } } } } } }';
    expect(costOf(nested)).toBeGreaterThan(MAX_COST);
    const history = `{ devices(first: 500) { edges { node {
      history(from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z") { values } } } } }`;
    expect(costOf(history)).toBeGreaterThan(MAX_COST);
    expect(costOf(history.replace('500', '50'))).toBeLessThan(MAX_COST);
  });

  it('counts introspection like everything else', () => {
    const deeper = (levels: number): string =>
      levels === 0 ? '{ name }' : `{ fields { type ${deeper(levels - 1)} } }`;
    expect(refusalOf(`{ __schema { types ${deeper(7)} } }`)).toMatchObject({ limit: 'depth' });
    expect(refusalOf(`{ __schema { ${'types { name } '.repeat(21)} } }`)).toMatchObject({ limit: 'repeated fields' });
    expect(costOf(`{ __schema { types ${deeper(2)} } }`)).toBeLessThan(MAX_COST);
    const many = Array.from({ length: 20 }, (_, i) => `t${i}: __schema { types ${deeper(2)} }`);
    expect(costOf(`{ ${many.join(' ')} }`)).toBeGreaterThan(MAX_COST);
  });

  it('lets a page of 500 devices with product, fields and latest values pass', () => {
    expect(costOf(DASHBOARD, { first: 500 })).toBeLessThan(MAX_COST);
  });

  it('makes guessing passwords in one request expensive', () => {
    const guesses = Array.from({ length: 20 }, (_, i) => `g${i}: signIn(email: "a@b.c", password: "${i}") { secret }`);
    expect(costOf(`mutation { ${guesses.join(' ')} }`)).toBeGreaterThan(MAX_COST);
    expect(costOf('mutation { signIn(email: "a@b.c", password: "x") { secret } }')).toBeLessThan(MAX_COST);
  });

  it('counts what is in fragments as well', () => {
    const plain = costOf('{ devices { edges { node { id product { name } } } } }');
    const spread =
      '{ devices { edges { node { ...D } } } } fragment D on Device { id product { ...P } } fragment P on Product { name }';
    expect(costOf(spread)).toBeCloseTo(plain);
    expect(costOf('{ devices { edges { node { ... on Device { id product { name } } } } } }')).toBeCloseTo(plain);
  });

  it('looks through a document once, each fragment once, and then only at what variables decide', () => {
    const documents = new CheckedDocuments(schema);
    const spreads = Array.from({ length: 20 }, (_, at) => `d${at}: device(id: "${at}") { ...D }`).join(' ');
    const [head, tail] = ['query ($n: Int)', '} fragment D on Device { id name product { id name } }'];
    const checked = documents.check(`${head} { devices(first: $n) { edges { node { ...D } } } ${spreads} ${tail}`);
    const operation = checked.document.definitions[0] as OperationDefinitionNode;
    const looking = vi.spyOn(GraphQLObjectType.prototype, 'getFields');
    const profile = documents.profileOf(checked, operation);
    expect(profile.fields).toBe(1 + 2 + 20 + 5);
    expect(looking).toHaveBeenCalledTimes(profile.fields);
    expect(documents.profileOf(checked, operation)).toBe(profile);
    const ten = amountOf(profile.price, { n: 10 });
    expect(amountOf(profile.price, { n: 20 }) - ten).toBeCloseTo(
      10 * (1 + costOf('{ device(id: "1") { ...D } } fragment D on Device { id name product { id name } }')),
    );
    looking.mockRestore();
  });
});
