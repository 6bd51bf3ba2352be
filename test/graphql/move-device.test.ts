import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const MOVE = `mutation ($id: ID!, $input: UpdateDeviceInput!, $confirm: Boolean) {
  updateDevice(id: $id, input: $input, confirm: $confirm) { id name serialNumber product { id } }
}`;
const CHANGE = `query ($id: ID!, $p: ID!, $f: [FieldMoveInput!]) { productChange(deviceId: $id, productId: $p, fields: $f) {
  fields { from to } dropped { field measurements } measurements configuration } }`;
const LIVE = `subscription ($d: [ID!], $p: ID, $after: String) {
  measurementsRecorded(deviceIds: $d, productId: $p, after: $after) {
    cursor device { id product { id } } measurements { field { identifier } value } } }`;
const ALWAYS = 'from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z"';
const EUI = '70b3d57ed00000aa';

describe.each(DATABASES)('a device moves to another product, on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  let admin: string;
  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'move');
    ({ token } = await createMember(server, workspaceId, 'EDITOR'));
    ({ token: admin } = await createMember(server, workspaceId, 'ADMIN'));
  });
  afterAll(async () => {
    await server?.stop();
  });

  let named = 0;
  const make = (fields: Record<string, string>, serialNumbers = [`m${(named += 1)}`], input = {}) =>
    createProduct(server, { token, fields, serialNumbers, input });
  const move = (id: string, productId: string, more: object = {}, confirm = true, as = token) =>
    server.query(MOVE, { id, input: { productId, ...more }, confirm }, as);
  const moved = async (...args: Parameters<typeof move>): Promise<void> => {
    expect((await move(...args)).errors).toBeUndefined();
  };
  const refusal = ({ errors }: Awaited<ReturnType<typeof move>>): [string, string] => [
    errors![0]!.extensions.code,
    errors![0]!.message,
  ];
  const ask = async (device: string, what: string): Promise<any> =>
    (await server.gql(`query ($d: ID!) { device(id: $d) { ${what} } }`, { d: device }, token)).device;
  /** Field → its values in time order. */
  async function values(device: string): Promise<Record<string, unknown[]>> {
    const { history } = await ask(device, `history(${ALWAYS}) { field { identifier } values }`);
    const shown = history.filter((one: any) => one.values.length > 0);
    return Object.fromEntries(shown.map((one: any) => [one.field.identifier, one.values]));
  }
  const at = (second: number): number => 1_790_000_000 + second;
  const record = async (device: string, field: string, ...some: unknown[]): Promise<void> => {
    const entries = some.map((value, nth) => ({ field, value, timestamp: at(nth) }));
    expect((await server.record(device, entries, { token })).body).toEqual({ stored: some.length, rejected: [] });
  };
  const fieldId = async (product: string, identifier: string): Promise<string> => {
    const query = 'query ($p: ID!, $f: String!) { product(id: $p) { field(identifier: $f) { id } } }';
    return (await server.gql(query, { p: product, f: identifier }, token)).product.field.id;
  };
  const removeField = async (product: string, identifier: string): Promise<unknown> =>
    server.gql('mutation ($id: ID!) { removeField(id: $id) }', { id: await fieldId(product, identifier) }, token);

  test('with its history at every door, and all that is its own', async () => {
    const from = await make({ temperature: 'FLOAT', count: 'INTEGER', note: 'STRING', empty: 'FLOAT' }, ['whole']);
    const to = await make({ temperature: 'FLOAT', total: 'FLOAT', place: 'GEOLOCATION' }, ['other']);
    const device = from.deviceIds[0]!;
    const addSetting = (id: string, identifier: string): Promise<unknown> =>
      server.gql(
        'mutation ($id: ID!, $i: ConfigurationFieldInput!) { addConfigurationField(productId: $id, input: $i) { id } }',
        { id, i: { identifier, type: 'STRING' } },
        token,
      );
    for (const [id, name] of [[from.id, 'both'], [from.id, 'mine'], [to.id, 'both']] as const) await addSetting(id, name); // oxfmt-ignore
    await server.gql(
      `mutation ($id: ID!) {
         setConfiguration(deviceId: $id, values: { both: "kept", mine: "gone" }) { id }
         updateDevice(id: $id, input: { tags: ["a"], metadata: { m: 1 }, location: "roof" }) { id }
         setWriteRate(deviceId: $id, perSecond: 5000) }`,
      { id: device },
      token,
    );
    await record(device, 'temperature', 1.5, 2.5, 3.5);
    await record(device, 'count', 7, 8);
    await record(device, 'note', 'x', 'y', 'z');
    const before = await ask(device, 'createdAt lastHeardAt');

    const fields = [{ from: 'count', to: 'total' }];
    const changeOf = async (f: object[]) =>
      (await server.gql(CHANGE, { id: device, p: to.id, f }, token)).productChange;
    const loss = { dropped: [{ field: 'note', measurements: 3 }], measurements: 3, configuration: ['mine'] };
    expect(await changeOf(fields)).toEqual({
      fields: [
        { from: 'temperature', to: 'temperature' },
        { from: 'count', to: 'total' },
      ],
      ...loss,
    });
    expect((await changeOf([])).measurements).toBe(5);
    const refused = await move(device, to.id, { fields }, false);
    expect(refusal(refused)).toEqual([
      'CONFLICT',
      expect.stringMatching(/3 values.*"note" \(3\).*"mine".*confirm: true/),
    ]);
    expect(refused.errors![0]!.extensions).toMatchObject(loss);
    expect((await ask(device, 'product { id }')).product.id).toBe(from.id);

    const answer = await move(device, to.id, { fields, name: 'new name' });
    expect(answer.data!['updateDevice']).toEqual({
      id: device,
      name: 'new name',
      serialNumber: 'whole',
      product: { id: to.id },
    });
    const log = 'query ($w: ID) { auditLog(workspaceId: $w, first: 1) { edges { node { operation subjects } } } }';
    const { auditLog } = await server.gql(log, { w: workspaceId }, admin);
    expect(auditLog.edges[0].node).toEqual({ operation: 'updateDevice', subjects: [device] });
    const read = () =>
      ask(
        device,
        `createdAt lastHeardAt tags metadata location writeRate { perSecond } configuration { field { identifier } value }
         latest { field { identifier } value } statistics(fields: ["total"], ${ALWAYS}) { count min max }
         measurements(field: "temperature", first: 10) { edges { node { value } } }`,
      );
    expect(await read()).toEqual({
      ...before,
      tags: ['a'],
      metadata: { m: 1 },
      location: 'roof',
      writeRate: { perSecond: 5000 },
      configuration: [{ field: { identifier: 'both' }, value: 'kept' }],
      latest: [
        { field: { identifier: 'temperature' }, value: 3.5 },
        { field: { identifier: 'total' }, value: 8 },
      ],
      statistics: [{ count: 2, min: 7, max: 8 }],
      measurements: { edges: [1.5, 2.5, 3.5].map((value) => ({ node: { value } })) },
    });
    expect(await values(device)).toEqual({ temperature: [1.5, 2.5, 3.5], total: [7, 8] });
    const get = async (path: string): Promise<string> =>
      (await fetch(server.url + path, { headers: { Authorization: `Token ${token}` } })).text();
    const iso = (second: number): string => new Date(at(second) * 1000).toISOString();
    const exported = await get(`/v1/devices/${device}/history.csv`);
    for (const line of [`temperature,${iso(1)},2.5`, `total,${iso(1)},8`]) expect(exported).toContain(line);
    expect(exported).not.toContain('note');
    expect(await get(`/v1/export.csv?product=${to.id}`)).toContain(iso(2));
    expect(await get(`/v1/export.csv?product=${from.id}`)).not.toContain(iso(2));

    // What comes now joins what was there.
    await record(device, 'total', 70);
    expect((await values(device))['total']).toEqual([70, 8]);
    const old = await server.record(device, { field: 'count', value: 1 }, { token });
    expect(old.body).toMatchObject({ rejected: [{ code: 'UNKNOWN_FIELD' }] });
    const remove = `mutation ($id: ID!) { deleteMeasurements(deviceId: $id, ${ALWAYS}, fields: ["temperature"]) { measurements } }`;
    expect(await server.gql(remove, { id: device }, token)).toEqual({ deleteMeasurements: { measurements: 3 } });
    expect(await values(device)).toEqual({ total: [70, 8] });
  });

  test('and those who follow it go on, or begin, or end', async () => {
    const a = await make({ t: 'FLOAT' }, ['moving', 'staying']);
    const b = await make({ temp: 'FLOAT' });
    const [device, staying] = a.deviceIds as [string, string];
    const client = createClient({
      url: `${server.url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { token },
      retryAttempts: 0,
    });
    const follow = (variables: Record<string, unknown>): { cursor: string; said: string[] }[] => {
      const events: { cursor: string; said: string[] }[] = [];
      client.subscribe(
        { query: LIVE, variables },
        {
          next: ({ data }: any) => {
            const { cursor, measurements } = data.measurementsRecorded;
            events.push({ cursor, said: measurements.map((m: any) => `${m.field.identifier} ${m.value}`) });
          },
          error: (error) => events.push({ cursor: '', said: [JSON.stringify(error)] }),
          complete: () => {},
        },
      );
      return events;
    };
    const said = (events: { said: string[] }[]): string[] => [...new Set(events.flatMap((event) => event.said))];
    const [ofDevice, ofOld, ofNew] = [follow({ d: [device] }), follow({ p: a.id }), follow({ p: b.id })];
    const begun = async (): Promise<boolean> => {
      for (const [id, field] of [[device, 't'], [staying, 't'], [b.deviceIds[0]!, 'temp']] as const) await record(id, field, 0); // oxfmt-ignore
      return [ofDevice, ofOld, ofNew].every(({ length }) => length > 0);
    };
    await expect.poll(begun).toBe(true);
    await record(device, 't', 1);
    await expect.poll(() => said(ofDevice)).toContain('t 1');
    const { cursor } = ofDevice.at(-1)!;
    await record(device, 't', 2);
    await moved(device, b.id, { fields: [{ from: 't', to: 'temp' }] });
    await record(device, 'temp', 3);
    await record(staying, 't', 4);
    await record(b.deviceIds[0]!, 'temp', 5);
    await expect.poll(() => said(ofDevice)).toContain('temp 3');
    await expect.poll(() => said(ofOld)).toContain('t 4');
    await expect.poll(() => said(ofNew)).toContain('temp 5');
    expect(said(ofOld)).not.toContain('temp 3');
    expect(said(ofNew)).toContain('temp 3');
    // Who comes back reads what it was before under its present name.
    const again = follow({ d: [device], after: cursor });
    await expect.poll(() => said(again)).toContain('temp 3');
    expect(said(again).filter((text) => !text.startsWith('temp '))).toEqual([]);
    await client.dispose();
  });

  test('and back, as often as one likes: nothing of what went comes again, and nothing that comes goes', async () => {
    const a = await make({ one: 'FLOAT', two: 'FLOAT', note: 'STRING' });
    const b = await make({ one: 'FLOAT', drei: 'FLOAT' });
    const device = a.deviceIds[0]!;
    await record(device, 'one', 1, 2);
    await record(device, 'two', 20);
    await record(device, 'note', 'old');
    await moved(device, b.id);
    expect(await values(device)).toEqual({ one: [1, 2] });
    await record(device, 'drei', 3);
    // Under one's own name the other way round, while what went may still be there.
    await moved(device, a.id, { fields: [{ from: 'one', to: 'two' }, { from: 'drei', to: 'one' }] }); // oxfmt-ignore
    await record(device, 'note', 'new');
    expect(await values(device)).toEqual({ two: [1, 2], one: [3], note: ['new'] });
    for (let round = 0; round < 4; round += 1) {
      const to = round % 2 === 0 ? b : a;
      const fields = round % 2 === 0 ? [{ from: 'two', to: 'drei' }] : [{ from: 'drei', to: 'two' }];
      await moved(device, to.id, { fields });
      if (to === a) await record(device, 'note', `round ${round}`);
    }
    expect(await values(device)).toEqual({ two: [1, 2], one: [3], note: ['round 3'] });
    // Values that go on under another name keep out of the field that had them before.
    await moved(device, b.id, { fields: [{ from: 'two', to: 'drei' }, { from: 'one' }] }); // oxfmt-ignore
    await moved(device, a.id, { fields: [{ from: 'drei', to: 'two' }, { from: 'one' }] }); // oxfmt-ignore
    expect(await values(device)).toEqual({ two: [1, 2] });
    await record(device, 'one', 30);
    expect(await values(device)).toEqual({ two: [1, 2], one: [30] });
    // Long after, when everything that had to go is gone.
    const { createDevices: others } = await server.gql(
      'mutation ($p: ID!) { createDevices(productId: $p, devices: [{ name: "x" }], plan: "unlimited") { id } }',
      { p: a.id },
      token,
    );
    await server.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: [others[0].id] }, token);
    expect(await values(device)).toEqual({ two: [1, 2], one: [30] });
  });

  test('while it sends, and others read: nothing that was acknowledged is missing at any moment', async () => {
    const a = await make({ n: 'INTEGER' });
    const b = await make({ n: 'INTEGER' });
    const device = a.deviceIds[0]!;
    let acknowledged = 0;
    const until = { isOver: false };
    const send = async (): Promise<void> => {
      for (let nth = 0; !until.isOver; nth += 1) {
        const answer = await server.record(device, { field: 'n', value: nth, timestamp: at(nth) }, { token });
        if (answer.status === 200) acknowledged += 1;
        else expect(answer.body).toMatchObject({ code: 'OVERLOADED' });
      }
    };
    const read = async (): Promise<void> => {
      while (!until.isOver) {
        const atLeast = acknowledged;
        const { statistics } = await ask(device, `statistics(${ALWAYS}) { count }`);
        expect(statistics[0]?.count ?? 0).toBeGreaterThanOrEqual(atLeast);
      }
    };
    const going = Promise.all([send(), read()]);
    for (let round = 0; round < 20; round += 1) await moved(device, round % 2 === 0 ? b.id : a.id);
    until.isOver = true;
    await going;
    expect((await values(device))['n']).toHaveLength(acknowledged);
  });

  test('two moves at once are one after the other, or one of them is refused', async () => {
    const a = await make({ n: 'INTEGER', m: 'INTEGER' });
    const b = await make({ n: 'INTEGER' });
    const c = await make({ m: 'INTEGER' });
    for (let round = 0; round < 3; round += 1) {
      const { createDevices } = await server.gql(
        'mutation ($p: ID!) { createDevices(productId: $p, devices: [{ name: "x" }], plan: "unlimited") { id } }',
        { p: a.id },
        token,
      );
      const device = createDevices[0].id;
      await record(device, 'n', 1);
      await record(device, 'm', 2);
      const answers = await Promise.all([move(device, b.id), move(device, c.id)]);
      const codes = answers.map(({ errors }) => errors?.[0]?.extensions.code ?? 'done');
      // Or one after the other, each with what it was told to let go.
      const expected = { 'done CONFLICT': { n: [1] }, 'CONFLICT done': { m: [2] }, 'done done': {} };
      expect(Object.keys(expected)).toContain(codes.join(' '));
      expect(await values(device)).toEqual(expected[codes.join(' ') as keyof typeof expected]);
    }
  });

  test('calls stay with the old product, and its replays leave the device alone', async () => {
    const source = (value: string): string =>
      `function Decoder(r) { return { device: "${EUI}", field: "t", value: ${value}, timestamp: ${at(0)} } }`;
    const a = await make({ t: 'FLOAT' }, [EUI], { decoder: source('+r.body') });
    const b = await make({ t: 'FLOAT' });
    const device = a.deviceIds[0]!;
    const call = async (): Promise<unknown> =>
      (await fetch(`${server.url}/integrations/api/${a.webhookId}/`, { method: 'POST', body: '5' })).json();
    expect(await call()).toMatchObject({ stored: 1 });
    await moved(device, b.id);
    expect(await call()).toMatchObject({ stored: 0 });
    const logged = 'query ($id: ID!) { product(id: $id) { calls { totalCount } } }';
    const callsOf = async ({ id }: { id: string }) =>
      (await server.gql(logged, { id }, token)).product.calls.totalCount;
    expect([await callsOf(a), await callsOf(b)]).toEqual([2, 0]);
    const replay = (): Promise<any> =>
      server.gql('mutation ($id: ID!) { replayCalls(productId: $id) { calls stored removed } }', { id: a.id }, token);
    expect(await replay()).toEqual({ replayCalls: { calls: 2, stored: 0, removed: 0 } });
    expect(await values(device)).toEqual({ t: [5] });
    const save = 'mutation ($id: ID!, $s: String!) { saveDecoder(productId: $id, source: $s) { version } }';
    await server.gql(save, { id: a.id, s: 'function Decoder() { return [] }' }, token);
    expect(await replay()).toEqual({ replayCalls: { calls: 2, stored: 0, removed: 0 } });
    expect(await values(device)).toEqual({ t: [5] });
    // Back in it, the device is theirs again.
    await moved(device, a.id);
    await server.gql(save, { id: a.id, s: source('10 * r.body') }, token);
    expect(await replay()).toMatchObject({ replayCalls: { stored: 2 } });
    expect(await values(device)).toEqual({ t: [50] });
  });

  test('a field that is removed takes its values of a moved device along, in its present product only', async () => {
    const a = await make({ t: 'FLOAT', u: 'FLOAT' });
    const b = await make({ t: 'FLOAT', u: 'FLOAT' });
    const device = a.deviceIds[0]!;
    await record(device, 't', 1);
    await record(device, 'u', 2);
    await moved(device, b.id);
    await removeField(a.id, 't');
    await removeField(b.id, 'u');
    expect(await values(device)).toEqual({ t: [1] });
    const again = 'mutation ($id: ID!) { addField(productId: $id, input: { identifier: "u", type: FLOAT }) { id } }';
    await server.gql(again, { id: b.id }, token);
    expect(await values(device)).toEqual({ t: [1] });
    await server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id: a.id }, token);
    expect(await values(device)).toEqual({ t: [1] });
  });

  test('a moved device takes over, and is taken over', async () => {
    const a = await make({ t: 'FLOAT' });
    const b = await make({ temp: 'FLOAT' }, ['b1', 'b2']);
    const [device, one, two] = [a.deviceIds[0]!, ...b.deviceIds] as [string, string, string];
    for (const [nth, id] of [one, two].entries())
      await server.record(id, { field: 'temp', value: 10 + nth, timestamp: at(10 + nth) }, { token });
    await record(device, 't', 1);
    await moved(device, b.id, { fields: [{ from: 't', to: 'temp' }] });
    const replace =
      'mutation ($id: ID!, $s: String!, $a: ID) { replaceDevice(id: $id, serialNumber: $s, absorb: $a) { id } }';
    await server.gql(replace, { id: device, s: 'b1', a: one }, token);
    await expect.poll(() => values(device)).toEqual({ temp: [1, 10] });
    await server.gql(replace, { id: two, s: 'b1', a: device }, token);
    await expect.poll(() => values(two)).toEqual({ temp: [1, 10, 11] });
  });

  test('only where it may, and as its fields can', async () => {
    const a = await make({ t: 'FLOAT', s: 'STRING' }, ['taken']);
    const b = await make({ t: 'FLOAT', n: 'INTEGER' }, ['taken']);
    const device = a.deviceIds[0]!;
    await record(device, 't', 1);
    const refused = async (fields: object[] | undefined, ...expected: [string, RegExp]): Promise<void> => {
      expect(refusal(await move(device, b.id, { serialNumber: 'free', ...(fields && { fields }) }))).toEqual([
        expected[0],
        expect.stringMatching(expected[1]),
      ]);
    };
    await refused([{ from: 'x', to: 't' }], 'BAD_USER_INPUT', /input\.fields\[0\]\.from: .*"x"/);
    await refused([{ from: 't', to: 'x' }], 'BAD_USER_INPUT', /input\.fields\[0\]\.to: .*"x"/);
    await refused([{ from: 't', to: 't' }, { from: 's', to: 't' }], 'BAD_USER_INPUT', /\[1\]\.to: "t" is there twice/); // oxfmt-ignore
    await refused([{ from: 't', to: 't' }, { from: 't' }], 'BAD_USER_INPUT', /\[1\]\.from: "t" is there twice/); // oxfmt-ignore
    await refused([{ from: 't', to: 'n' }], 'BAD_USER_INPUT', /"t" is FLOAT, and "n" INTEGER/);
    expect(refusal(await move(device, b.id))).toEqual([
      'CONFLICT',
      expect.stringMatching(/input\.productId: .*"taken"/),
    ]);
    const alone = await server.query(MOVE, { id: device, input: { fields: [{ from: 't' }] } }, token);
    expect(refusal(alone)).toEqual(['BAD_USER_INPUT', expect.stringContaining('productId')]);

    const elsewhere = await createWorkspace(server, 'elsewhere');
    const foreign = await createProduct(server, { workspaceId: elsewhere });
    expect(refusal(await move(device, foreign.id))[0]).toBe('NOT_FOUND');
    const ofBoth = await move(device, foreign.id, {}, true, server.adminToken);
    expect(refusal(ofBoth)).toEqual(['BAD_USER_INPUT', expect.stringContaining('its own workspace')]);
    const scopes = ['READ', 'CONFIGURE'];
    const limited = async (limits: Record<string, unknown>): Promise<[string, string]> => {
      const { secret } = await createToken(server, admin, workspaceId, scopes, limits);
      return refusal(await move(device, b.id, {}, true, secret));
    };
    expect((await limited({ deviceIds: [device] }))[0]).toBe('FORBIDDEN');
    expect((await limited({ productIds: [b.id], deviceIds: [device] }))[0]).toBe('FORBIDDEN');
    expect((await limited({ productIds: [a.id] }))[0]).toBe('NOT_FOUND');
    // None of it has changed anything.
    expect(await values(device)).toEqual({ t: [1] });
    const both = await createToken(server, admin, workspaceId, scopes, { productIds: [a.id, b.id] });
    await moved(device, b.id, { serialNumber: 'free' }, true, both.secret);
    expect(await values(device)).toEqual({ t: [1] });
    // There already: the rest of the change is done.
    await moved(device, b.id, { name: 'again' });
    expect(await ask(device, 'name serialNumber')).toEqual({ name: 'again', serialNumber: 'free' });
  });
});
