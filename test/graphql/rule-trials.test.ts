import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';

const TRIAL = `mutation ($r: ID, $p: ID, $i: RuleInput, $d: [ID!], $from: DateTime!, $to: DateTime!) {
  testRule(ruleId: $r, productId: $p, input: $i, deviceIds: $d, from: $from, to: $to) {
    severity startedAt firedAt endedAt values device { id }
  }
}`;

type Episode = Record<string, any>;

/** Midnight of a day some time ago, in seconds. */
const BASE = Date.UTC(2026, 0, 1) / 1_000;
const time = (minutes: number): string => new Date((BASE + minutes * 60) * 1_000).toISOString();
const above = (value: number, more = {}) => ({ field: 'temperature', operator: 'GT', value, ...more });
const levels = (condition: Record<string, unknown>) => [{ severity: 'WARNING', all: [condition] }];

describe.each(EITHER_DATABASE)('testRule on %s', (database) => {
  let server: TestServer;
  let product: TestProduct;
  let device: string;

  beforeAll(async () => {
    server = await startServer({ database });
  });

  afterAll(async () => {
    await server?.stop();
  });

  beforeEach(async () => {
    const workspaceId = await createWorkspace(server, 'trials');
    const fields = { temperature: 'FLOAT', door: 'BOOLEAN', total: 'FLOAT' };
    product = await createProduct(server, { workspaceId, fields, serialNumbers: ['a', 'b'] });
    device = product.deviceIds[0]!;
  });

  async function record(values: Record<number, unknown>, field = 'temperature', of = device): Promise<void> {
    const entries = Object.entries(values).map(([minutes, value]) => ({
      field,
      value,
      timestamp: BASE + Number(minutes) * 60,
    }));
    expect((await server.record(of, entries)).status).toBe(200);
  }

  async function trial(input: Record<string, unknown>, { from = 0, to = 1_440, more = {} } = {}): Promise<Episode[]> {
    const variables = { p: product.id, i: { name: 'trial', ...input }, from: time(from), to: time(to), ...more };
    return (await server.gql(TRIAL, variables))['testRule'];
  }

  const minutes = ({ startedAt, firedAt, endedAt }: Episode): (number | null)[] =>
    [startedAt, firedAt, endedAt].map((at) => (at === null ? null : (Date.parse(at) / 1_000 - BASE) / 60));

  test('the episodes that it would have made, of each device', async () => {
    await record({ 0: 20, 10: 31, 15: 32, 40: 20, 50: 31, 55: 20, 100: 35 });
    await record({ 5: 31, 6: 20 }, 'temperature', product.deviceIds[1]);
    const found = await trial({ levels: levels(above(30)), forSeconds: 600 });
    expect(found.map(minutes)).toEqual([
      [10, 20, 40],
      [100, 110, null],
    ]);
    expect(found[0]).toMatchObject({ severity: 'WARNING', values: { temperature: 32 }, device: { id: device } });
    const both = await trial({ levels: levels(above(30)) });
    expect(both.map(minutes)).toEqual([
      [10, 10, 40],
      [50, 50, 55],
      [100, 100, null],
      [5, 5, 6],
    ]);
    const { alerts } = await server.gql('query ($p: ID) { alerts(productId: $p) { totalCount } }', { p: product.id });
    expect(alerts.totalCount).toBe(0);
    const one = await trial({ levels: levels(above(30)) }, { more: { d: [product.deviceIds[1]] } });
    expect(one).toHaveLength(1);
  });

  test('what held before the range goes on in it; what was over is left out', async () => {
    await record({ 0: 31, 10: 20, 20: 31, 40: 20 });
    expect((await trial({ levels: levels(above(30)) }, { from: 30 })).map(minutes)).toEqual([[20, 20, 40]]);
    expect(await trial({ levels: levels(above(30)) }, { from: 50 })).toEqual([]);
  });

  test('the highest level that an episode reached', async () => {
    await record({ 0: 31, 10: 41, 20: 31, 30: 20 });
    const both = [...levels(above(30)), { severity: 'CRITICAL', all: [above(40)] }];
    const [episode, ...others] = await trial({ levels: both });
    expect(others).toEqual([]);
    expect([episode!['severity'], ...minutes(episode!)]).toEqual(['CRITICAL', 0, 0, 30]);
  });

  test('silence, turns and windows', async () => {
    await record({ 0: 10, 10: 20, 20: 60, 200: 10 });
    const silent = await trial({ levels: levels({ absentSeconds: 3_600 }) });
    expect(silent.map(minutes)).toEqual([
      [80, 80, 200],
      [260, 260, null],
    ]);
    const window = (aggregation: string) => ({ window: { aggregation, seconds: 1_800 } });
    expect((await trial({ levels: levels(above(29, window('AVG'))) })).map(minutes)).toEqual([[20, 20, 200]]);
    expect((await trial({ levels: levels(above(2, window('COUNT'))) })).map(minutes)).toEqual([[20, 20, 200]]);
    expect((await trial({ levels: levels(above(45, window('DIFFERENCE'))) })).map(minutes)).toEqual([[20, 20, 200]]);
    await record({ 0: false, 5: true, 90: false }, 'door');
    const opened = levels({ field: 'door', from: false, to: true });
    expect((await trial({ levels: opened, forSeconds: 600 })).map(minutes)).toEqual([[5, 15, 90]]);
  });

  test('a saved rule, with its tags; mistakes are named', async () => {
    await record({ 0: 31 });
    const { createRule: rule } = await server.gql(
      'mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) { id } }',
      { p: product.id, i: { name: 'tagged', tags: ['cold'], levels: levels(above(30)) } },
    );
    const saved = { r: rule.id, from: time(0), to: time(10) };
    expect((await server.gql(TRIAL, saved))['testRule']).toEqual([]);
    await server.gql('mutation ($d: ID!) { updateDevice(id: $d, input: { tags: ["cold"] }) { id } }', { d: device });
    expect((await server.gql(TRIAL, saved))['testRule']).toHaveLength(1);
    const message = async (variables: Record<string, unknown>): Promise<string> =>
      (await server.query(TRIAL, { from: time(0), to: time(10), ...variables })).errors![0]!.message;
    expect(await message({})).toBe('testRule: give either "ruleId" or "input".');
    expect(await message({ i: { name: 'x', levels: levels(above(30)) } })).toContain('productId: say of which product');
    expect(await message({ p: product.id, i: { name: 'x', levels: levels(above(30, { field: 'x' })) } })).toContain(
      'input.levels[0].all[0].field: the product has no field "x"',
    );
    expect(await message({ r: rule.id, to: time(-1) })).toBe('"from" must be before "to".');
  });
});
