import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

const CONDITION =
  'field operator value otherField configurationField clear window { aggregation seconds } absentSeconds ' +
  'circle { center meters } polygon from to';
const RULE = `id key name enabled tags forSeconds clearForSeconds latched schedule { days hours timeZone }
  levels { severity all { ${CONDITION} } any { ${CONDITION} } }`;
const CREATE = `mutation ($id: ID!, $input: RuleInput!) { createRule(productId: $id, input: $input) { ${RULE} } }`;
const UPDATE = `mutation ($id: ID!, $input: RuleInput!) { updateRule(id: $id, input: $input) { ${RULE} } }`;
const LIST = `query ($id: ID!) { product(id: $id) { rules { ${RULE} product { id } } } }`;

type Rule = Record<string, any>;

const FIELDS = [
  { identifier: 'temperature', type: 'FLOAT' },
  { identifier: 'limit', type: 'INTEGER' },
  { identifier: 'heading', type: 'FLOAT', meaning: 'ANGLE' },
  { identifier: 'door', type: 'BOOLEAN' },
  { identifier: 'mode', type: 'STRING' },
  { identifier: 'place', type: 'GEOLOCATION' },
];

const above = (value: number, more = {}) => ({ field: 'temperature', operator: 'GT', value, ...more });
const one = (condition: Record<string, unknown>) => [{ severity: 'WARNING', all: [condition] }];

/** Without what is null. */
function given(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(given);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(entries.map(([name, part]) => [name, given(part)]));
}

describe.each(DATABASES)('rules on %s', (database) => {
  let server: TestServer;
  let product: TestProduct;
  let own: string;

  beforeAll(async () => {
    server = await startServer({ database });
  });

  afterAll(async () => {
    await server?.stop();
  });

  beforeEach(async () => {
    own = await createWorkspace(server, 'rules');
    product = await createProduct(server, { workspaceId: own, input: { fields: FIELDS } });
    await server.gql(
      'mutation ($id: ID!) { addConfigurationField(productId: $id, input: { identifier: "max", type: NUMBER }) { id } }',
      { id: product.id },
    );
  });

  const create = async (input: Record<string, unknown>): Promise<Rule> =>
    (await server.gql(CREATE, { id: product.id, input: { name: 'rule', ...input } }))['createRule'];

  const list = async (): Promise<Rule[]> => (await server.gql(LIST, { id: product.id }))['product'].rules;

  async function refusal(input: Record<string, unknown>): Promise<string> {
    const answer = await server.query(CREATE, { id: product.id, input: { name: 'rule', ...input } });
    expect(answer.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    return answer.errors![0]!.message;
  }

  test('a rule is shown as it was written, with its defaults', async () => {
    const levels = [
      { severity: 'INFO', any: [above(20, { clear: 18 }), { field: 'mode', operator: 'CONTAINS', value: 'hot' }] },
      {
        severity: 'WARNING',
        all: [
          above(25, { window: { aggregation: 'AVG', seconds: 600 } }),
          { field: 'temperature', operator: 'GTE', otherField: 'limit' },
          { field: 'temperature', operator: 'NEQ', configurationField: 'max' },
          { field: 'door', operator: 'EQ', value: true },
          { absentSeconds: 60 },
          { field: 'temperature', absentSeconds: 60.5 },
        ],
      },
      {
        severity: 'CRITICAL',
        any: [
          { field: 'place', operator: 'OUTSIDE', circle: { center: '(52.5,13.4)', meters: 500 } },
          { field: 'place', operator: 'INSIDE', polygon: ['(0,0)', '(0,1)', '(1,1)'] },
          { field: 'door', from: false, to: true },
          { field: 'mode', to: 'off' },
        ],
      },
    ];
    const schedule = { days: ['MON', 'FRI'], hours: '22:00-06:00', timeZone: 'Europe/Berlin' };
    const more = { tags: ['b', 'a'], forSeconds: 600, clearForSeconds: 1.5, latched: true, enabled: false, schedule };
    const made = await create({ key: 'whole', levels: levels.toReversed(), ...more });
    expect(given(made)).toEqual({ id: made['id'], key: 'whole', name: 'rule', levels, ...more });
    const plain = await create({ levels: one(above(30)) });
    expect(plain).toMatchObject({ enabled: true, tags: [], forSeconds: 0, clearForSeconds: 0, latched: false });
    expect((await list()).map(({ id }) => id)).toEqual([made['id'], plain['id']]);
  });

  test('a changed rule keeps what is left out; null is the default', async () => {
    const made = await create({ key: 'k', tags: ['a'], forSeconds: 60, latched: true, levels: one(above(30)) });
    const update = async (input: Record<string, unknown>): Promise<Rule> =>
      (await server.gql(UPDATE, { id: made['id'], input }))['updateRule'];
    const changed = await update({ name: 'other', levels: one(above(31)) });
    expect(changed).toMatchObject({ key: 'k', name: 'other', tags: ['a'], forSeconds: 60, latched: true });
    expect(changed['levels'][0].all[0].value).toBe(31);
    const cleared = await update({ name: 'other', key: null, tags: null, forSeconds: null, levels: one(above(31)) });
    expect(cleared).toMatchObject({ key: null, tags: [], forSeconds: 0, latched: true });
    expect((await server.gql('mutation ($id: ID!) { deleteRule(id: $id) }', { id: made['id'] }))['deleteRule']).toBe(
      made['id'],
    );
    expect(await list()).toEqual([]);
    const gone = await server.query(UPDATE, { id: made['id'], input: { name: 'x', levels: one(above(1)) } });
    expect(gone.errors![0]!.extensions.code).toBe('NOT_FOUND');
  });

  test('a rule with a key may be sent again', async () => {
    const input = { key: 'again', name: 'rule', levels: one(above(30)) };
    const first = await create(input);
    expect((await create({ ...input, forSeconds: 0, tags: [] }))['id']).toBe(first['id']);
    const answer = await server.query(CREATE, { id: product.id, input: { ...input, latched: true } });
    expect(answer.errors![0]!.extensions).toMatchObject({
      code: 'CONFLICT',
      existingId: first['id'],
      differences: ['input.latched'],
    });
    expect(await list()).toHaveLength(1);
  });

  test('a field that a rule watches is renamed with it, and not removed', async () => {
    await create({ levels: one({ field: 'temperature', operator: 'GT', otherField: 'limit' }) });
    const { product: shown } = await server.gql('query ($id: ID!) { product(id: $id) { fields { id identifier } } }', {
      id: product.id,
    });
    const idOf = (name: string) => shown.fields.find((field: Rule) => field['identifier'] === name).id;
    await server.gql('mutation ($id: ID!) { renameField(id: $id, identifier: "t") { id } }', {
      id: idOf('temperature'),
    });
    expect((await list())[0]!['levels'][0].all[0]).toMatchObject({ field: 't', otherField: 'limit' });
    const removal = await server.query('mutation ($id: ID!) { removeField(id: $id) }', { id: idOf('limit') });
    expect(removal.errors![0]!.extensions.code).toBe('CONFLICT');
    expect(removal.errors![0]!.message).toContain('"rule"');
    const retyped = await server.query('mutation ($id: ID!) { updateField(id: $id, input: { type: STRING }) { id } }', {
      id: idOf('limit'),
    });
    expect(retyped.errors![0]!.extensions.code).toBe('CONFLICT');
  });

  test('mistakes are named by their path and in the words sent', async () => {
    const of = (condition: Record<string, unknown>) => refusal({ levels: one(condition) });
    const at = 'input.levels[0].all[0]';
    expect(await of(above(1, { field: 'Temperature' }))).toBe(
      `${at}.field: the product has no field "Temperature" (identifiers are case-sensitive).`,
    );
    expect(await of({ field: 'temperature', operator: 'GT', otherField: 'nothing' })).toContain(`${at}.otherField`);
    expect(await of({ field: 'temperature', operator: 'GT', configurationField: 'nothing' })).toBe(
      `${at}.configurationField: the product has no configuration field "nothing".`,
    );
    expect(await of({ field: 'temperature', operator: 'GT', value: 'warm' })).toContain(`${at}.value: expected`);
    expect(await of({ field: 'temperature', operator: 'GT', value: 'warm' })).toContain('"warm"');
    expect(await of(above(30, { clear: 31 }))).toBe(`${at}.clear: with GT 30 it must be 30 or less, not 31.`);
    expect(await of({ field: 'mode', operator: 'GT', value: 'x' })).toContain(`${at}.operator: GT is not for a text`);
    expect(await of({ field: 'temperature' })).toContain(`${at}: say what is watched`);
    expect(await of({ field: 'temperature', operator: 'GT' })).toContain(`${at}: give exactly one of`);
    expect(await of(above(1, { absentSeconds: 5 }))).toContain(`${at}.operator: does not go with absentSeconds`);
    expect(await of({ field: 'place', operator: 'INSIDE', polygon: ['(0,0)', '(0,1)'] })).toContain('3 to 100 corners');
    expect(await of({ field: 'place', operator: 'INSIDE', circle: { center: 'here', meters: 5 } })).toContain(
      `${at}.circle.center`,
    );
    expect(await of({ field: 'temperature', from: 1, to: 2 })).toContain(`${at}.field: "temperature" is a number`);
    expect(
      await of({ field: 'heading', operator: 'GT', value: 1, window: { aggregation: 'MAX', seconds: 9 } }),
    ).toContain(`${at}.window.aggregation: MAX is not for directions`);
    expect(await of({ absentSeconds: 0 })).toContain(`${at}.absentSeconds: expected 1 to 2678400 seconds`);
    expect(await refusal({ levels: [] })).toContain('input.levels: expected 1 to 3 levels');
    expect(await refusal({ levels: [{ severity: 'INFO', all: [above(1)], any: [above(1)] }] })).toContain(
      'input.levels[0]: give its conditions either as "all" or as "any"',
    );
    const twice = [
      { severity: 'INFO', all: [above(1)] },
      { severity: 'INFO', all: [above(2)] },
    ];
    expect(await refusal({ levels: twice })).toContain(
      'input.levels[1].severity: INFO is also that of input.levels[0]',
    );
    const schedule = { timeZone: 'UTC' };
    const levels = one(above(1));
    expect(await refusal({ levels, schedule: { ...schedule, days: ['MONDAY'] } })).toContain('input.schedule.days[0]');
    expect(await refusal({ levels, schedule: { ...schedule, hours: '8-18' } })).toContain('input.schedule.hours');
    expect(await refusal({ levels, schedule: { timeZone: 'Mars' } })).toContain('input.schedule.timeZone');
    expect(await list()).toEqual([]);
  });

  test('a product has at most 50 rules', async () => {
    await Promise.all(Array.from({ length: 50 }, () => create({ levels: one(above(30)) })));
    expect(await refusal({ levels: one(above(30)) })).toBe('A product has at most 50 rules.');
  });

  test('a token of a device neither sees the rules nor gives keys', async () => {
    const made = await create({ levels: one(above(30)) });
    const limited = await createToken(server, server.adminToken, own, ['READ', 'CONFIGURE'], {
      productIds: [product.id],
    });
    const keyed = await server.query(
      CREATE,
      { id: product.id, input: { name: 'x', key: 'k', levels: one(above(30)) } },
      limited.secret,
    );
    expect(keyed.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    // Whom a rule tells is of the whole workspace.
    const endpoint = await server.gql(
      `mutation ($w: ID) { createEndpoint(workspaceId: $w, input: { name: "e", kind: WEBHOOK, url: "https://e.example/",
        events: ["alert.fired"] }) { endpoint { id } } }`,
      { w: own },
    );
    const update = (input: object, token: string) =>
      server.query(
        'mutation ($id: ID!, $input: RuleInput!) { updateRule(id: $id, input: $input) { notify { groupBy } } }',
        { id: made['id'], input: { name: 'x', levels: one(above(30)), ...input } },
        token,
      );
    const named = { notify: { endpointIds: [endpoint['createEndpoint'].endpoint.id] } };
    expect((await update(named, server.adminToken)).errors).toBeUndefined();
    expect((await update({ notify: { groupBy: 'PRODUCT' } }, limited.secret)).errors?.[0]?.extensions.code).toBe(
      'FORBIDDEN',
    );
    expect((await update({ name: 'y' }, limited.secret)).errors).toBeUndefined();
    const ofDevice = await createToken(server, server.adminToken, own, ['READ'], { deviceIds: [product.deviceIds[0]] });
    const hidden = await server.query(LIST, { id: product.id }, ofDevice.secret);
    expect(hidden.errors).toBeDefined();
    expect(JSON.stringify(hidden)).not.toContain(made['id']);
  });
});
