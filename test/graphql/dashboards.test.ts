import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const SAVE = `mutation ($id: ID, $w: ID, $name: String!, $widgets: JSON!) {
  saveDashboard(id: $id, workspaceId: $w, name: $name, widgets: $widgets) { id name widgets }
}`;
const GET = 'query ($id: ID!) { dashboard(id: $id) { name widgets } }';
const LIST = 'query ($w: ID!) { workspace(id: $w) { dashboards { id name widgets } } }';
const UPDATE = `mutation ($id: ID!, $dashboard: JSON!) {
  updateProduct(id: $id, input: { dashboard: $dashboard }) { dashboard }
}`;
const place = { x: 0, y: 0, width: 6, height: 4 };
const ID = '01900000-0000-7000-8000-000000000000';

/** A widget of a kind, with more beside. */
function widget(kind: string, more: object = {}): object {
  return { kind, place, ...(kind === 'text' ? {} : { fields: ['temperature'] }), ...more };
}

describe.each(EITHER_DATABASE)('dashboards on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  let viewer: string;
  let product: TestProduct;
  let another: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'dashboards');
    ({ token } = await createMember(server, workspaceId, 'ADMIN'));
    ({ token: viewer } = await createMember(server, workspaceId, 'VIEWER'));
    const fields = { temperature: 'FLOAT', secret: 'FLOAT' };
    product = await createProduct(server, { token, workspaceId, fields, serialNumbers: ['a', 'b'] });
    another = await createProduct(server, { token, workspaceId, fields, serialNumbers: ['c'] });
    const tag = 'mutation ($id: ID!) { updateDevice(id: $id, input: { tags: ["hall"] }) { id } }';
    for (const id of [product.deviceIds[0], another.deviceIds[0]]) await server.gql(tag, { id }, token);
  });
  afterAll(() => server?.stop());

  async function refusal(query: string, variables: object, by = token): Promise<string> {
    const { errors } = await server.query(query, variables, by);
    return `${errors?.[0]?.extensions.code}: ${errors?.[0]?.message}`;
  }

  async function save(widgets: object[], more: object = {}): Promise<string> {
    const made = await server.gql(SAVE, { w: workspaceId, name: 'Hall', widgets, ...more }, token);
    return made['saveDashboard'].id;
  }

  test.each([
    ['line', { decimals: 2, thresholds: [{ above: 30, color: 'red' }] }],
    ['bar', { aggregation: 'DIFFERENCE', width: '1d' }, '1mo'],
    ['gauge', { min: -40, max: 85, thresholds: [{ below: 0, color: 'amber' }] }],
    ['state', { decimals: 0 }],
    ['table', { rows: 'time' }],
    ['map', { track: false }],
    ['text', { text: 'Read me.\n\nhttps://example.org' }],
    ['value', { own: { of: 'another client' } }],
  ])('a %s takes the options of its kind, and others as they are', async (kind, options, range = '24h') => {
    const dashboard = { widgets: [widget(kind, { options, range })] };
    const saved = await server.gql(UPDATE, { id: product.id, dashboard }, token);
    expect(saved['updateProduct'].dashboard).toEqual(dashboard);
  });

  test.each([
    ['value', { decimals: 11 }, 'options.decimals: expected a whole number from 0 to 10, got 11.'],
    ['line', { thresholds: [{ above: 1, below: 2, color: 'red' }] }, 'thresholds[0]: give one of "above" and "below"'],
    ['line', { thresholds: [{ above: 'hot', color: 'red' }] }, 'thresholds[0].above: expected a number, got "hot".'],
    ['gauge', { thresholds: [{ above: 1, color: 'hot' }] }, 'color: expected one of green, amber, red, got "hot".'],
    ['gauge', { min: 10, max: 10 }, 'options.max: a gauge needs a "max" above its "min" of 10, got 10.'],
    ['bar', { aggregation: 'MODE' }, 'options.aggregation: expected one of AVG, TIME_AVG, MIN'],
    ['bar', { width: 'daily' }, 'options.width: expected a number and s, m, h, d, w, mo or y'],
    ['bar', { width: '1s' }, 'options.width: bars of "1s" would be 86400 in the range; at most 1000 are drawn.'],
    ['table', { rows: 'all' }, 'options.rows: expected one of time, latest'],
    ['map', { track: 'yes' }, 'options.track: expected true or false'],
    ['text', {}, 'options.text: a text needs one.'],
    ['text', { text: 5 }, 'options.text: expected a text, got 5.'],
  ])('a %s with options %j is refused in a sentence', async (kind, options, message) => {
    const said = await refusal(UPDATE, { id: product.id, dashboard: { widgets: [widget(kind, { options })] } });
    expect(said).toContain('BAD_USER_INPUT: dashboard.widgets[0].');
    expect(said).toContain(message);
  });

  test('a text has no fields, and every other kind some', async () => {
    const fields = ['temperature'];
    const text = { widgets: [widget('text', { fields, options: { text: 'x' } })] };
    expect(await refusal(UPDATE, { id: product.id, dashboard: text })).toContain('a text shows no fields');
    const bare = { widgets: [{ kind: 'value', place }] };
    expect(await refusal(UPDATE, { id: product.id, dashboard: bare })).toContain('widgets[0].fields: is missing.');
  });

  test('a dashboard of a workspace is made, listed by name, replaced and deleted', async () => {
    const source = { deviceIds: product.deviceIds };
    const widgets = [widget('line', { source, range: '7d' }), widget('text', { options: { text: 'Hello' } })];
    const id = await save(widgets);
    const other = await save([widget('value', { source: { tags: ['hall'] } })], { name: 'Attic' });
    expect((await server.gql(GET, { id }, viewer))['dashboard']).toEqual({ name: 'Hall', widgets });
    const listed = (await server.gql(LIST, { w: workspaceId }, viewer))['workspace'].dashboards;
    expect(listed.map((one: { id: string }) => one.id)).toEqual([other, id]);
    const less = [widget('gauge', { source: { productId: product.id } })];
    await server.gql(SAVE, { id, name: 'Cellar', widgets: less }, token);
    expect((await server.gql(GET, { id: id.toUpperCase() }, viewer))['dashboard']).toEqual({
      name: 'Cellar',
      widgets: less,
    });
    for (const one of [id, other])
      expect(await server.gql('mutation ($id: ID!) { deleteDashboard(id: $id) }', { id: one }, token)).toEqual({
        deleteDashboard: one,
      });
    expect(await refusal(GET, { id })).toContain('NOT_FOUND');
    expect((await server.gql(LIST, { w: workspaceId }, viewer))['workspace'].dashboards).toEqual([]);
  });

  test('a new one with a key is safe to send again, and another input is told apart', async () => {
    const of = await createWorkspace(server, 'keys');
    const { token: by } = await createMember(server, of, 'EDITOR');
    const keyed = `mutation ($id: ID, $name: String!, $widgets: JSON!, $key: String) {
      saveDashboard(id: $id, name: $name, widgets: $widgets, key: $key) { id key name }
    }`;
    const send = async (more: object): Promise<any> =>
      (await server.gql(keyed, { name: 'Hall', widgets: [], ...more }, by))['saveDashboard'];
    const first = await send({ key: 'hall' });
    expect(first.key).toBe('hall');
    expect(await send({ key: 'hall' })).toEqual(first);
    // Whatever was changed since; a save that names no key leaves it.
    await send({ id: first.id, name: 'Attic' });
    expect(await send({ key: 'hall' })).toEqual({ ...first, name: 'Attic' });
    const { errors } = await server.query(keyed, { name: 'Cellar', widgets: [], key: 'hall' }, by);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining('differs from this input in name ("Cellar", there "Attic")'),
      extensions: { code: 'CONFLICT', existingId: first.id, differences: ['name'] },
    });
    const another = await send({ name: 'Other', key: 'other' });
    expect(await refusal(keyed, { id: another.id, name: 'x', widgets: [], key: 'hall' }, by)).toContain(
      'CONFLICT: key: the dashboard "Attic" has the key "hall" already.',
    );
    expect((await send({ id: first.id, key: null })).key).toBeNull();
    expect((await send({ id: another.id, key: 'hall' })).key).toBe('hall');
    expect(await refusal(keyed, { name: 'x', widgets: [], key: 'Main Hall' }, by)).toContain('such as "main-hall"');
  });

  test.each([
    ['no source', {}, 'widgets[0].source: is missing; say which devices'],
    ['two sources', { source: { deviceIds: [ID], tags: ['a'] } }, 'source: choose devices in exactly one way'],
    ['no devices', { source: { deviceIds: [] } }, 'source.deviceIds: name at least one.'],
    ['another key', { source: { serialNumbers: ['a'] } }, 'source.serialNumbers: unknown'],
    ['too many devices', { source: { deviceIds: Array.from({ length: 201 }, () => ID) } }, 'at most 200 items'],
    ['wrong options', { source: { tags: ['a'] }, options: { decimals: -1 } }, 'widgets[0].options.decimals: expected'],
  ])('a widget with %s is refused', async (_, more, message) => {
    const said = await refusal(SAVE, { w: workspaceId, name: 'x', widgets: [widget('line', more)] });
    expect(said).toContain('BAD_USER_INPUT: widgets[0].');
    expect(said).toContain(message);
  });

  test('a workspace has at most 100 of them', async () => {
    const of = await createWorkspace(server, 'many');
    const { token: by } = await createMember(server, of, 'EDITOR');
    const made = (round: number, at: number): string =>
      `a${at}: saveDashboard(name: "${round}.${at}", widgets: []) { id }`;
    for (let round = 0; round < 5; round += 1) {
      const twenty = Array.from({ length: 20 }, (_, at) => made(round, at));
      await server.gql(`mutation { ${twenty.join(' ')} }`, {}, by);
    }
    expect(await refusal(SAVE, { name: 'n', widgets: [] }, by)).toContain('at most 100 dashboards; delete one first.');
  });

  test('those who may not configure do not change one, and another workspace has none of it', async () => {
    const id = await save([]);
    expect(await refusal(SAVE, { id, name: 'x', widgets: [] }, viewer)).toContain('FORBIDDEN');
    const elsewhere = await createWorkspace(server, 'elsewhere');
    const { token: stranger } = await createMember(server, elsewhere, 'ADMIN');
    for (const query of [GET, SAVE, 'mutation ($id: ID!) { deleteDashboard(id: $id) }'])
      expect(await refusal(query, { id, name: 'x', widgets: [] }, stranger)).toContain('NOT_FOUND');
  });

  test('a limited token sees a dashboard when it covers all of its devices, and no list', async () => {
    const [a, b] = product.deviceIds;
    const [c] = another.deviceIds;
    const limited = async (more: Record<string, unknown>): Promise<string> =>
      (await createToken(server, token, workspaceId, ['READ'], more)).secret;
    const ofProduct = await limited({ productIds: [product.id] });
    const ofDevice = await limited({ deviceIds: [a] });
    const ofHall = await limited({ deviceIds: [a, c] });
    const seenBy = async (source: object, by: string): Promise<boolean> => {
      const id = await save([widget('value', { source }), widget('text', { options: { text: 'Door 4711' } })]);
      const answer = await server.query(GET, { id }, by);
      expect(answer.errors?.[0]?.extensions.code).toBe(answer.data === null ? 'NOT_FOUND' : undefined);
      return answer.data !== null;
    };
    expect(await seenBy({ deviceIds: [a, b] }, ofProduct)).toBe(true);
    expect(await seenBy({ deviceIds: [a, b, c] }, ofProduct)).toBe(false);
    expect(await seenBy({ productId: product.id }, ofProduct)).toBe(true);
    expect(await seenBy({ productId: product.id }, ofDevice)).toBe(false);
    expect(await seenBy({ deviceIds: [a] }, ofDevice)).toBe(true);
    expect(await seenBy({ tags: ['hall'] }, ofProduct)).toBe(false);
    expect(await seenBy({ tags: ['hall'] }, ofHall)).toBe(true);
    expect(await seenBy({ tags: ['nobody'] }, ofHall)).toBe(false);
    const text = await save([widget('text', { options: { text: 'Door 4711' } })]);
    expect(await refusal(GET, { id: text }, ofHall)).toContain('NOT_FOUND');
    expect(await refusal(LIST, { w: workspaceId }, ofHall)).toContain('FORBIDDEN');
  });

  test('a token limited to fields sees the widgets of those, and no text that names another', async () => {
    const source = { productId: product.id };
    const id = await save([
      widget('line', { source, title: 'Both', fields: ['temperature', 'secret'], options: { decimals: 1 } }),
      widget('value', { source, fields: ['secret'] }),
      widget('text', { options: { text: 'Look here' } }),
      widget('text', { options: { text: 'The secret is out' } }),
    ]);
    const more = { productIds: [product.id], fields: ['temperature'] };
    const { secret } = await createToken(server, token, workspaceId, ['READ'], more);
    expect((await server.gql(GET, { id }, secret))['dashboard'].widgets).toEqual([
      widget('line', { source }),
      widget('text', { fields: [], options: { text: 'Look here' } }),
    ]);
  });

  test('a renamed field is followed by widgets of its product, and by no others', async () => {
    const own = await createProduct(server, { token, workspaceId, fields: { before: 'FLOAT' }, serialNumbers: ['r'] });
    const widgets = [
      widget('line', { fields: ['before'], source: { productId: own.id } }),
      widget('line', { fields: ['before'], source: { tags: ['hall'] } }),
    ];
    const id = await save(widgets);
    const rename = 'mutation ($id: ID!) { renameField(id: $id, identifier: "after") { identifier } }';
    const fields = 'query ($id: ID!) { product(id: $id) { fields { id } } }';
    const { product: found } = await server.gql(fields, { id: own.id }, token);
    await server.gql(rename, { id: found.fields[0].id }, token);
    const shown = (await server.gql(GET, { id }, viewer))['dashboard'].widgets;
    expect(shown.map((one: { fields: string[] }) => one.fields)).toEqual([['after'], ['before']]);
  });

  test('is told in the audit log by the size of its widgets, and goes with its workspace', async () => {
    const of = await createWorkspace(server, 'gone');
    const { token: by } = await createMember(server, of, 'ADMIN');
    const { saveDashboard } = await server.gql(SAVE, { name: 'Gone', widgets: [] }, by);
    const log = 'query ($w: ID!) { auditLog(workspaceId: $w) { edges { node { operation subjects arguments } } } }';
    const { auditLog } = await server.gql(log, { w: of }, by);
    expect(auditLog.edges[0].node).toMatchObject({ operation: 'saveDashboard', subjects: [saveDashboard.id] });
    expect(JSON.stringify(auditLog.edges[0].node.arguments)).toContain('Gone');
    await server.gql('mutation ($w: ID!) { deleteWorkspace(id: $w) }', { w: of }, by);
    expect(await refusal(GET, { id: saveDashboard.id }, server.adminToken)).toContain('NOT_FOUND');
  });
});
