import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createToken } from '../support/tenant.ts';
import { callsOf, callWebhook, latestOf, RUN_FIELDS, saveDecoder, type ShownRun } from './webhook-client.ts';

const SOURCE = 'function Decoder(r) { return { device: "d1", field: "T", value: r.body.length }; }';

describe.each(EITHER_DATABASE)("a product's decoder on %s", (database) => {
  let server: TestServer;
  let product: TestProduct;
  beforeAll(async () => {
    server = await startServer({ database, env: { CALL_LOG_BODY_BYTES: '100' } });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    product = await createProduct(server, { fields: { T: 'FLOAT' }, serialNumbers: ['d1'] });
  });

  const save = (source: string, more: { note?: string; force?: boolean } = {}) =>
    server.query(
      `mutation ($id: ID!, $source: String!, $note: String, $force: Boolean) {
         saveDecoder(productId: $id, source: $source, note: $note, force: $force) { version source note active } }`,
      { id: product.id, source, ...more },
    );
  const tryOut = (args: Record<string, unknown>) =>
    server.query<{ testDecoder: ShownRun }>(
      `mutation ($id: ID!, $source: String, $request: DecoderRequestInput, $callId: ID) {
         testDecoder(productId: $id, source: $source, request: $request, callId: $callId) { ${RUN_FIELDS} } }`,
      { id: product.id, ...args },
    );
  const addExample = (name: string, request: unknown, expected: unknown) =>
    server.query(
      `mutation ($id: ID!, $name: String!, $request: DecoderRequestInput!, $expected: JSON!) {
         addDecoderExample(productId: $id, name: $name, request: $request, expected: $expected) { id name request expected } }`,
      { id: product.id, name, request, expected },
    );
  const codeOf = (answer: { errors?: { extensions: { code: string } }[] }) => answer.errors?.[0]?.extensions.code;

  test('who saves what never ends keeps no other token from saving', async () => {
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const { secret } = await createToken(server, ADMIN_TOKEN, workspaces[0].id, ['CONFIGURE']);
    const loop = 'function Decoder() {} for (;;);';
    const hogging = { isOver: false, ended: 0 };
    const hog = async (): Promise<void> => {
      while (!hogging.isOver) {
        await server.query(
          'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
          { id: product.id, source: loop },
          secret,
        );
        hogging.ended += 1;
      }
    };
    const hogs = Array.from({ length: 12 }, hog);
    await expect.poll(() => hogging.ended).toBeGreaterThan(1);
    const before = hogging.ended;
    expect((await save(SOURCE)).errors).toBeUndefined();
    const meanwhile = hogging.ended - before;
    hogging.isOver = true;
    await Promise.all(hogs);
    // It stood behind none of the twelve but those under way.
    expect(meanwhile).toBeLessThan(8);
  });

  test('each save is a new version that the next call uses; any can be activated again', async () => {
    expect((await save(SOURCE, { note: 'first' })).data).toEqual({
      saveDecoder: { version: 1, source: SOURCE, note: 'first', active: true },
    });
    expect((await save(SOURCE.replace('length', 'length * 10'))).data?.['saveDecoder']).toMatchObject({
      version: 2,
      active: true,
    });
    await callWebhook(server, product, { body: 'abc' });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ T: 30 });
    await server.gql('mutation ($id: ID!) { activateDecoder(productId: $id, version: 1) { version active } }', {
      id: product.id,
    });
    await callWebhook(server, product, { body: 'abcd' });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ T: 4 });
    expect((await callsOf(server, product.id)).map(({ decoderVersion }) => decoderVersion)).toEqual([1, 2]);
    const { product: shown } = await server.gql(
      'query ($id: ID!) { product(id: $id) { decoder { version } decoderVersions { version active note } } }',
      { id: product.id },
    );
    expect(shown).toEqual({
      decoder: { version: 1 },
      decoderVersions: [
        { version: 2, active: false, note: null },
        { version: 1, active: true, note: 'first' },
      ],
    });
    const unknown = await server.query(
      'mutation ($id: ID!) { activateDecoder(productId: $id, version: 9) { version } }',
      {
        id: product.id,
      },
    );
    expect(codeOf(unknown)).toBe('NOT_FOUND');
  });

  test('a version names who saved it: the user, or the token that acts for itself; for those who may CONFIGURE', async () => {
    const { viewer } = await server.gql('{ viewer { user { email } workspaces { id } } }');
    const tokenOf = async (name: string, scopes: string[]): Promise<string> => {
      const text = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }';
      const input = { name, kind: 'INDIVIDUAL', scopes, workspaceId: viewer.workspaces[0].id };
      return (await server.gql(text, { input })).createToken.secret;
    };
    await save(SOURCE);
    await server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
      { id: product.id, source: `${SOURCE}\n` },
      await tokenOf('deployment', ['READ', 'CONFIGURE']),
    );
    const text = 'query ($id: ID!) { product(id: $id) { decoderVersions { version author } } }';
    const { product: shown } = await server.gql(text, { id: product.id });
    expect(shown.decoderVersions).toEqual([
      { version: 2, author: 'deployment' },
      { version: 1, author: viewer.user.email },
    ]);
    const reader = await server.query(text, { id: product.id }, await tokenOf('reader', ['READ']));
    expect(codeOf(reader)).toBe('FORBIDDEN');
    expect(reader.data?.['product'].decoderVersions[0].author).toBeNull();
    const { cloneProduct: copy } = await server.gql(
      'mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") { decoderVersions { author } } }',
      { id: product.id },
    );
    expect(copy.decoderVersions).toEqual([{ author: viewer.user.email }]);
  });

  test('many saves at once get different numbers', async () => {
    const saved = await Promise.all(
      Array.from({ length: 8 }, (_, i) => saveDecoder(server, product.id, `${SOURCE} // ${i}`)),
    );
    expect(saved.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('code that does not parse is refused with its place and saves nothing', async () => {
    const answer = await save('function Decoder() {\n  var x = ;\n}');
    expect(answer.errors?.[0]?.extensions).toMatchObject({
      code: 'INVALID_DECODER',
      kind: 'SYNTAX',
      line: 2,
      column: 11,
    });
    expect(codeOf(await save(`var a = "\0";`))).toBe('INVALID_DECODER');
    expect(codeOf(await save(`// ${'x'.repeat(262_144)}`))).toBe('INVALID_DECODER');
    expect((await save(SOURCE)).data?.['saveDecoder'].version).toBe(1);
  });

  test.each(['var x = 1;', 'function decode() {}', ''])(
    'a source without a function to call is refused: %j',
    async (source) => {
      const answer = await save(source);
      expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_DECODER', kind: 'NO_DECODER_FUNCTION' });
      expect(answer.errors?.[0]?.message).toMatch(/Decoder\(request\).*decodeUplink.*force/);
      expect((await save(source, { force: true })).data?.['saveDecoder']).toMatchObject({ version: 1, active: true });
      // Nor is it the first one of a new product; a copy takes over what was forced.
      const create = 'mutation ($d: String!) { createProduct(input: { name: "new", decoder: $d }) { id } }';
      const created = await server.query(create, { d: source });
      expect(created.errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_DECODER', kind: 'NO_DECODER_FUNCTION' });
      expect(created.errors?.[0]?.message).toContain('saveDecoder');
      const { cloneProduct } = await server.gql(
        'mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") { decoder { source } } }',
        { id: product.id },
      );
      expect(cloneProduct.decoder.source).toBe(source);
    },
  );

  test.each([
    'const Decoder = (request) => { throw new Error(request) };',
    'function decodeUplink(input) { return { data: {} }; }',
    'function Decode(fPort, bytes) { return {}; }',
    'function Decoder() { for (;;); }',
  ])('one that has a function is saved, whatever it does: %j', async (source) => {
    expect((await save(source)).data?.['saveDecoder']).toMatchObject({ version: 1 });
    const { product: shown } = await server.gql(
      'query ($id: ID!) { product(id: $id) { decoderStatistics { runs } } }',
      { id: product.id },
    );
    expect(shown.decoderStatistics.runs).toBe(0);
  });

  test('versions come in pages, newest first, each with its own source', async () => {
    const source = (n: number) => `function Decoder() { return ${n}; }`;
    for (const n of [1, 2, 3]) await save(source(n));
    const page = async (args: string) => {
      const query = `query ($id: ID!) { product(id: $id) { decoderVersions${args} { version source active } } }`;
      return server.query<any>(query, { id: product.id });
    };
    const shown = (n: number) => ({ version: n, source: source(n), active: n === 3 });
    expect((await page('(first: 2)')).data?.product.decoderVersions).toEqual([shown(3), shown(2)]);
    expect((await page('(first: 2, before: 2)')).data?.product.decoderVersions).toEqual([shown(1)]);
    expect((await page('(before: 1)')).data?.product.decoderVersions).toEqual([]);
    expect(codeOf(await page('(first: 0)'))).toBe('BAD_USER_INPUT');
  });

  test('an expected entry has no other keys than those that are compared', async () => {
    const answer = await addExample('typo', { body: '' }, [{ field: 'T', valeu: 1 }]);
    expect(codeOf(answer)).toBe('BAD_USER_INPUT');
    expect(answer.errors?.[0]?.message).toContain('expected[0].valeu');
  });

  test("durationMs is the run's time", async () => {
    const durationOf = async (body: string): Promise<number> =>
      (await tryOut({ source: `function Decoder() { ${body} return [] }`, request: {} })).data!.testDecoder.durationMs;
    const [quick, long] = [await durationOf(''), await durationOf('for (var i = 0, s = 0; i < 3e7; i++) s += i % 7;')];
    expect(quick).toBeGreaterThan(0);
    expect(long).toBeGreaterThan(Math.max(5, quick));
  });

  test('the test tool shows output, console, error and outcomes, and stores nothing', async () => {
    await save(SOURCE);
    const source = `function Decoder(r) {
      console.warn("unit", r.GET.unit[0]);
      return [{ device: "d1", field: "T", value: 1, timestamp: 1700000000 }, { device: "d1", field: "T", value: NaN }, { field: "NEW", device: "d1", value: 1 }];
    }`;
    const { data } = await tryOut({
      source,
      request: { path: 'data/?unit=C', headers: { 'content-type': 'a/b' }, body: 'x' },
    });
    expect(data?.testDecoder).toMatchObject({
      ok: true,
      error: null,
      output: [{ timestamp: 1700000000 }, { value: 'NaN' }, { field: 'NEW' }],
      entries: [
        {
          code: null,
          timestamp: '2023-11-14T22:13:20.000Z',
          matchedDevice: { id: product.deviceIds[0] },
          matchedField: { identifier: 'T' },
        },
        { code: 'INVALID_VALUE', value: 'NaN', matchedDevice: { id: product.deviceIds[0] } },
        { code: 'UNKNOWN_FIELD', matchedField: null },
      ],
    });
    expect(data?.testDecoder.console[0]).toContain('unit C');
    const broken = await tryOut({ source: 'function Decoder() {\n throw new TypeError("no") }', request: {} });
    expect(broken.data?.testDecoder).toMatchObject({
      ok: false,
      output: null,
      entries: [],
      error: { kind: 'THREW', line: 2 },
    });
    expect((await tryOut({ source: 'function (', request: {} })).data?.testDecoder.error).toMatchObject({
      kind: 'SYNTAX',
      line: 1,
    });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({});
    expect(await callsOf(server, product.id)).toEqual([]);
    const { product: shown } = await server.gql(
      'query ($id: ID!) { product(id: $id) { suggestedFields { identifier } } }',
      {
        id: product.id,
      },
    );
    expect(shown.suggestedFields).toEqual([]);
  });

  test('the test tool runs a logged call, with the active decoder unless one is given', async () => {
    await callWebhook(server, product, { path: 'a?b=1', body: 'logged' });
    const [call] = await callsOf(server, product.id);
    expect(codeOf(await tryOut({ callId: call!.id }))).toBe('BAD_USER_INPUT');
    await save(SOURCE);
    expect((await tryOut({ callId: call!.id })).data?.testDecoder.entries).toMatchObject([
      { value: 6, timestamp: call!.receivedAt },
    ]);
    const path = 'function Decoder(r) { return { device: "d1", field: "T", value: r.path + r.GET.b } }';
    expect((await tryOut({ callId: call!.id, source: path })).data?.testDecoder.entries[0]?.value).toBe(
      `${call!.path}1`,
    );
  });

  test('the test tool wants one of request and callId, a known call and a whole body', async () => {
    await save(SOURCE);
    expect(codeOf(await tryOut({}))).toBe('BAD_USER_INPUT');
    expect(codeOf(await tryOut({ request: {}, callId: product.id }))).toBe('BAD_USER_INPUT');
    expect(codeOf(await tryOut({ callId: product.id }))).toBe('NOT_FOUND');
    expect(codeOf(await tryOut({ request: { headers: 'no' } }))).toBe('BAD_USER_INPUT');
    await callWebhook(server, product, { body: 'x'.repeat(101) });
    const [cut] = await callsOf(server, product.id);
    expect(codeOf(await tryOut({ callId: cut!.id }))).toBe('BAD_USER_INPUT');
    const other = await createProduct(server, { serialNumbers: [] });
    await callWebhook(server, other, { body: 'x' });
    expect(codeOf(await tryOut({ callId: (await callsOf(server, other.id))[0]!.id }))).toBe('NOT_FOUND');
  });

  test('stored examples run on save and refuse what breaks them, unless forced', async () => {
    const added = await addExample('three letters', { body: 'abc' }, [{ device: 'd1', field: 'T', value: 3 }]);
    expect(added.data?.['addDecoderExample']).toMatchObject({
      name: 'three letters',
      request: { body: 'abc' },
      expected: [{ device: 'd1', field: 'T', value: 3 }],
    });
    expect(codeOf(await save(SOURCE))).toBeUndefined();
    const wrong = await save(SOURCE.replace('length', 'length + 1'));
    expect(wrong.errors?.[0]?.extensions).toMatchObject({
      code: 'INVALID_DECODER',
      kind: 'EXAMPLE',
      example: 'three letters',
    });
    expect(wrong.errors?.[0]?.message).toMatch(/"three letters".*expected value 3, got 4/);
    for (const source of [
      'function Decoder() { throw 1 }',
      'function Decoder() {}',
      `${SOURCE}; Decoder = () => [1, 2].map(() => ({ device: "d1", field: "T", value: 3 }))`,
    ])
      expect(codeOf(await save(source))).toBe('INVALID_DECODER');
    expect((await save(SOURCE.replace('length', 'length + 1'), { force: true })).data?.['saveDecoder'].version).toBe(2);
    const id = added.data?.['addDecoderExample'].id;
    await server.gql('mutation ($id: ID!) { removeDecoderExample(id: $id) }', { id });
    expect(codeOf(await server.query('mutation ($id: ID!) { removeDecoderExample(id: $id) }', { id }))).toBe(
      'NOT_FOUND',
    );
    expect((await save(SOURCE.replace('length', 'length + 2'))).data?.['saveDecoder'].version).toBe(3);
  });

  test('examples: one name once, expected entries only, listed in order', async () => {
    await addExample('b', { body: '1' }, []);
    await addExample('a', { path: '?x=1', method: 'GET' }, { field: 'T' });
    expect(codeOf(await addExample('a', {}, []))).toBe('CONFLICT');
    expect(codeOf(await addExample('', {}, []))).toBe('BAD_USER_INPUT');
    expect(codeOf(await addExample('c', { headers: 3 }, []))).toBe('BAD_USER_INPUT');
    expect(codeOf(await addExample('c', {}, [5]))).toBe('BAD_USER_INPUT');
    const { product: shown } = await server.gql(
      'query ($id: ID!) { product(id: $id) { decoderExamples { name expected } } }',
      { id: product.id },
    );
    expect(shown.decoderExamples).toEqual([
      { name: 'b', expected: [] },
      { name: 'a', expected: [{ field: 'T' }] },
    ]);
  });

  test('statistics count runs and failures by kind', async () => {
    await save('function Decoder(r) { if (r.body) throw 1; }');
    for (const body of ['', '', 'x']) await callWebhook(server, product, { body });
    const { product: shown } = await server.gql(
      'query ($id: ID!) { product(id: $id) { decoderStatistics { runs failures p50Ms p99Ms } } }',
      { id: product.id },
    );
    expect(shown.decoderStatistics).toMatchObject({ runs: 3, failures: { THREW: 1 } });
    expect(shown.decoderStatistics.p99Ms).toBeGreaterThanOrEqual(shown.decoderStatistics.p50Ms);
  });
});
