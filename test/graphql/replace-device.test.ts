import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const REPLACE = `mutation ($id: ID!, $s: String!, $absorb: ID) {
  replaceDevice(id: $id, serialNumber: $s, absorb: $absorb) { id name serialNumber lastHeardAt }
}`;

describe.each(EITHER_DATABASE)('replaceDevice on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;

  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'replace');
    ({ token } = await createMember(server, workspaceId, 'ADMIN'));
  });

  afterAll(async () => {
    await server?.stop();
  });

  const replace = (id: string, s: string, absorb: string | null = null, as = token) =>
    server.query(REPLACE, { id, s, absorb }, as);
  async function values(device: string, field = 'temperature'): Promise<[string, number][]> {
    const answer = await server.gql(
      `query ($d: ID!, $f: String!) { device(id: $d) { measurements(field: $f, first: 500) { edges { node { timestamp value } } } } }`,
      { d: device, f: field },
      token,
    );
    return answer.device.measurements.edges.map(({ node }: any) => [node.timestamp, node.value]);
  }

  test('the device takes a serial number that nobody has', async () => {
    const { deviceIds } = await createProduct(server, { token, serialNumbers: ['broken'] });
    expect((await replace(deviceIds[0]!, 'fresh')).data?.replaceDevice).toMatchObject({
      id: deviceIds[0],
      serialNumber: 'fresh',
    });
    expect((await server.record('fresh', [{ field: 'temperature', value: 1 }], { token })).status).toBe(200);
    expect((await server.record('broken', [{ field: 'temperature', value: 1 }], { token })).status).toBe(404);
  });

  test('and from the device that has it what that one recorded; it is gone', async () => {
    const { id, deviceIds } = await createProduct(server, {
      token,
      fields: { temperature: 'FLOAT', note: 'STRING' },
      serialNumbers: ['old', 'new'],
    });
    const [kept, absorbed] = deviceIds as [string, string];
    await server.record(
      kept,
      [1, 2, 3].map((value) => ({ field: 'temperature', value, timestamp: 1_700_000_000 + value })),
      { token },
    );
    await server.record(
      absorbed,
      [
        { field: 'temperature', value: 30, timestamp: 1_700_000_003 },
        { field: 'temperature', value: 40, timestamp: 1_700_000_004 },
        { field: 'note', value: 'hello', timestamp: 1_700_000_004 },
      ],
      { token },
    );
    expect((await replace(kept, 'new')).errors?.[0]?.extensions.code).toBe('CONFLICT');
    const answer = await replace(kept, 'new', absorbed);
    expect(answer.data?.replaceDevice).toMatchObject({ id: kept, name: 'device old', serialNumber: 'new' });
    // What it has at a moment itself stays: it may have been recorded while the other's values were still on their way.
    expect((await values(kept)).map(([, value]) => value)).toEqual([1, 2, 3, 40]);
    expect(await values(kept, 'note')).toEqual([['2023-11-14T22:13:24.000Z', 'hello']]);
    const { product } = await server.gql(
      'query ($p: ID!) { product(id: $p) { devices { edges { node { id } } } } }',
      { p: id },
      token,
    );
    expect(product.devices.edges.map(({ node }: any) => node.id)).toEqual([kept]);
    await server.record('new', [{ field: 'temperature', value: 50, timestamp: 1_700_000_005 }], { token });
    expect((await values(kept)).at(-1)).toEqual(['2023-11-14T22:13:25.000Z', 50]);
  });

  test('of two that absorb each other one stays', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { deviceIds } = await createProduct(server, { token, serialNumbers: ['one', 'two'] });
      const [one, two] = deviceIds as [string, string];
      const answers = await Promise.all([replace(one, 'two', two), replace(two, 'one', one)]);
      const outcomes = answers.map(({ errors }) => errors?.[0]?.extensions.code ?? 'done');
      expect(outcomes.sort()).toEqual(['NOT_FOUND', 'done']);
    }
  });

  test('what is recorded under the serial number meanwhile is not overwritten', async () => {
    const { id, deviceIds } = await createProduct(server, { token, serialNumbers: ['kept', 'much'] });
    const [kept, absorbed] = deviceIds as [string, string];
    await server.gql('mutation ($p: ID!) { setWriteRate(productId: $p, perSecond: null) }', { p: id }, token);
    // They are handed over in order of time, a page at a time: the last one comes last.
    const count = 60_000;
    const lines = Array.from({ length: count }, (_, at) => `temperature,${1_600_000_000 + at},1\n`);
    const csv = `field,timestamp,value\n${lines.join('')}`;
    const imported = await fetch(`${server.url}/v1/devices/${absorbed}/import`, {
      method: 'POST',
      headers: { Authorization: `Token ${token}`, 'Content-Type': 'text/csv' },
      body: csv,
    });
    expect(await imported.json()).toMatchObject({ stored: count });
    const replaced = replace(kept, 'much', absorbed);
    const last = { field: 'temperature', value: 999, timestamp: 1_600_000_000 + count - 1 };
    expect((await server.record(kept, [last], { token })).status).toBe(200);
    const serialNumber = async (): Promise<string> =>
      (await server.gql('query ($d: ID!) { device(id: $d) { serialNumber } }', { d: kept }, token)).device.serialNumber;
    await expect.poll(serialNumber, { interval: 5 }).toBe('much');
    expect((await server.record('much', [last], { token })).status).toBe(200);
    await replaced;
    const newest = async (): Promise<unknown> =>
      (await server.gql('query ($d: ID!) { device(id: $d) { latest { value } } }', { d: kept }, token)).device.latest;
    expect(await newest()).toEqual([{ value: 999 }]);
  });

  test('who absorbs the same device at the same moment is told that it is gone', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { deviceIds } = await createProduct(server, { token, serialNumbers: ['one', 'two', 'three', 'wanted'] });
      const wanted = deviceIds.pop()!;
      const answers = await Promise.all(deviceIds.map((id) => replace(id, 'wanted', wanted)));
      const outcomes = answers.map(({ errors }) => errors?.[0]?.extensions.code ?? 'done');
      expect(outcomes.sort()).toEqual(['NOT_FOUND', 'NOT_FOUND', 'done']);
    }
  });

  test('a token limited to some devices learns nothing of the serial numbers of others', async () => {
    const { id: productId, deviceIds } = await createProduct(server, {
      token,
      serialNumbers: ['mine', 'ours', 'hidden'],
    });
    const [mine, ours] = deviceIds as [string, string];
    const scopes = ['READ', 'CONFIGURE'];
    const limited = await createToken(server, token, workspaceId, scopes, { deviceIds: [mine, ours] });
    const update = 'mutation ($id: ID!, $s: String!) { updateDevice(id: $id, input: { serialNumber: $s }) { id } }';
    const refusal = ({ errors }: Awaited<ReturnType<typeof replace>>) =>
      errors?.map(({ message, extensions }) => [extensions.code, message]);
    for (const change of [
      (s: string) => replace(mine, s, null, limited.secret),
      (s: string) => server.query(update, { id: mine, s }, limited.secret),
    ]) {
      const [taken, free] = [refusal(await change('hidden')), refusal(await change('nobody has it'))];
      expect(taken).toEqual([['FORBIDDEN', expect.stringContaining('limited to some devices')]]);
      expect(free).toEqual(taken);
      expect(refusal(await change('mine'))).toBeUndefined();
    }
    // What it sees it may absorb.
    expect(refusal(await replace(mine, 'ours', ours, limited.secret))).toBeUndefined();
    const whole = await createToken(server, token, workspaceId, scopes, { productIds: [productId] });
    expect(refusal(await replace(mine, 'hidden', null, whole.secret))?.[0]?.[0]).toBe('CONFLICT');
    expect(refusal(await replace(mine, 'nobody has it', null, whole.secret))).toBeUndefined();
  });

  test('calls that are replayed meanwhile are stored for the device that takes over', async () => {
    const decoder = (factor: number, ms: number): string => `function Decoder(r) {
      for (var until = Date.now() + ${ms}; Date.now() < until;);
      return { device: 'old', field: 'temperature', value: r.body * ${factor}, timestamp: +r.body } }`;
    const input = { decoder: decoder(1, 0) };
    const { id, webhookId, deviceIds } = await createProduct(server, { token, serialNumbers: ['new', 'old'], input });
    const times = Array.from({ length: 10 }, (_, at) => 1_700_000_001 + at);
    for (const body of times)
      await fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: String(body) });
    await server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
      { id, source: decoder(100, 150) },
      token,
    );
    const replaying = server.query('mutation ($id: ID!) { replayCalls(productId: $id) { stored } }', { id }, token);
    const progress = 'query ($id: ID!) { product(id: $id) { replayProgress { calls } } }';
    const begun = async (): Promise<unknown> => (await server.gql(progress, { id }, token)).product.replayProgress;
    await expect.poll(begun, { interval: 5 }).not.toBeNull();
    expect((await replace(deviceIds[0]!, 'old', deviceIds[1]!)).errors).toBeUndefined();
    expect((await replaying).data?.replayCalls).toEqual({ stored: 10 });
    const stored = times.map((at) => [new Date(at * 1000).toISOString(), 100 * at]);
    await expect.poll(() => values(deviceIds[0]!)).toEqual(stored);
  });

  test('only a device of the same product that has the serial number is absorbed, and none of it happens by halves', async () => {
    const { deviceIds } = await createProduct(server, { token, serialNumbers: ['one', 'two', 'three'] });
    const other = await createProduct(server, { token, serialNumbers: ['two'] });
    const [one, two, three] = deviceIds as [string, string, string];
    for (const absorb of [other.deviceIds[0]!, three, one])
      expect((await replace(one, 'two', absorb)).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect((await replace(one, 'two', '00000000-0000-7000-8000-000000000000')).errors?.[0]?.extensions.code).toBe(
      'NOT_FOUND',
    );
    const limited = await createToken(server, token, workspaceId, ['READ', 'CONFIGURE'], { deviceIds: [one] });
    expect((await replace(one, 'two', two, limited.secret)).errors?.[0]?.extensions.code).toBe('NOT_FOUND');
    const { devices } = await server.gql(
      'query ($ids: [ID!]) { devices(ids: $ids) { edges { node { serialNumber } } } }',
      { ids: deviceIds },
      token,
    );
    expect(devices.edges.map(({ node }: any) => node.serialNumber)).toEqual(['one', 'two', 'three']);
  });
});
