import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { createLog } from '../../src/log.ts';
import type { OtherShapes } from '../../src/mqtt/topic-meaning.ts';
import type { TopicMessage, TopicOutcome } from '../../src/mqtt/topic-message.ts';
import { Topics } from '../../src/mqtt/topics.ts';
import { countsOf } from '../../src/scheduling/lane-counts.ts';
import { LANES } from '../../src/scheduling/lanes.ts';
import { InvalidInputThrottle } from '../../src/scheduling/invalid-input-throttle.ts';
import { startPool } from '../sandbox/pool.ts';
import { type OpenDomain, openDomain } from '../support/open-domain.ts';
import { EITHER_DATABASE } from '../support/server.ts';

const AT = Date.UTC(2026, 0, 31, 12);
const DECODER = `function Decoder({ method, path, body }) {
  const [, , device, field] = path.split('/');
  return method === 'MQTT' ? [{ device, field, value: body }] : [];
}`;

describe.each(EITHER_DATABASE)('topics (CONTRACT 14), %s', (database) => {
  let domain: OpenDomain;
  let product: { id: string; webhookId: string };
  let workspaceId: string;
  let nth = 0;
  /** A device without values yet. */
  let device: { id: string; key: number; serialNumber: string };
  const pool = startPool();

  beforeAll(async () => {
    domain = await openDomain(database, pool);
    const fields = (['FLOAT', 'INTEGER', 'BOOLEAN', 'STRING', 'GEOLOCATION'] as const).map((type) => ({
      identifier: type,
      type,
    }));
    const more = ['A', 'B', 'gps_alt', 'pm2_5'].map((identifier) => ({ identifier, type: 'FLOAT' as const }));
    product = await domain.products.create(domain.access, { name: 'p', fields: [...fields, ...more] });
    await domain.decoders.saveDecoder(domain.access, product.id, DECODER);
    await domain.writeRates.set(domain.access, { productId: product.id, perSecond: 0 });
    workspaceId = (await domain.ingestCache.product(product.id))!.workspaceId;
  });
  afterAll(async () => {
    await domain.close();
    await pool.stop();
  });
  beforeEach(async () => {
    nth += 1;
    device = (await createDevices([`serial-${nth}`]))[0]!;
    domain.clock.now = AT + nth * 60_000;
  });

  async function createDevices(serials: string[]) {
    const wishes = serials.map((serialNumber) => ({ name: serialNumber, serialNumber }));
    return domain.devices.create(domain.access, product.id, wishes, 'unlimited');
  }

  const topicsWith = (shapes: Partial<OtherShapes> = {}): Topics =>
    new Topics({
      ...domain,
      devices: domain.deviceFinder,
      receiver: domain.webhookReceiver,
      refused: new InvalidInputThrottle(domain.senders),
      turns: { run: (_, work) => work() },
      shapes: { datacake: false, thingsboard: false, ...shapes },
      maxBytes: 1_048_576,
      log: createLog('silent'),
    });

  const messageOf = (topic: string, payload: unknown): TopicMessage => ({
    topic,
    payload: Buffer.isBuffer(payload)
      ? payload
      : Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)),
    receivedAt: domain.clock.now,
    isAbandoned: () => false,
  });

  async function send(
    topic: string,
    payload: unknown,
    { access = domain.access, ...shapes }: Partial<OtherShapes> & { access?: Access } = {},
  ): Promise<Omit<TopicOutcome, 'answer'> & { answer: any }> {
    const outcome = await topicsWith(shapes).receive(access, messageOf(topic, payload));
    return { ...outcome, answer: JSON.parse(outcome.answer) };
  }

  /** Field → its values of the device as [seconds since the message, value], as they are in the store. */
  async function stored(of = device): Promise<Record<string, [at: number, value: unknown][]>> {
    const { fields } = (await domain.ingestCache.product(product.id))!;
    const found: Record<string, [number, unknown][]> = {};
    for (const { identifier, key: fieldKey } of fields.values()) {
      const query = { deviceKey: of.key, fieldKey, from: 0, to: 1e14, newestFirst: false, limit: 100 };
      const { timestamps, values } = await domain.store.range({ ...query, maxCharacters: 1e6 });
      if (values.length > 0)
        found[identifier] = values.map((value, at) => [(timestamps[at]! - domain.clock.now) / 1_000, value]);
    }
    return found;
  }

  async function tokenOf(limits: { deviceIds?: string[]; fields?: string[]; expiresAt?: number } = {}) {
    const input = { name: 't', kind: 'INDIVIDUAL' as const, workspaceId, scopes: ['RECORD' as const], ...limits };
    const { token, secret } = await domain.tokens.create(domain.access, input);
    return { id: token.id, access: (await domain.authenticator.authenticate(secret))! };
  }

  const ok = { reason: 0x00, code: null, rejected: 0 };

  test.each(['id', 'serialNumber'] as const)(
    'v1/<device>/record takes the body of the record endpoint, by %s',
    async (by) => {
      const seconds = domain.clock.now / 1_000 - 10;
      const body = [
        { field: 'FLOAT', value: 1.5 },
        { field: 'STRING', value: 'x', timestamp: seconds },
      ];
      const { answer, ...outcome } = await send(`v1/${device[by]}/record`, body);
      expect(outcome).toEqual({ ...ok, stored: 2 });
      expect(answer).toEqual({ stored: 2, rejected: [] });
      expect(await send(`v1/${device[by]}/record/`, { field: 'INTEGER', value: 3 })).toMatchObject(ok);
      expect(await stored()).toEqual({ FLOAT: [[0, 1.5]], STRING: [[-10, 'x']], INTEGER: [[0.001, 3]] });
    },
  );

  test('what is refused has the code, and what can be stored is stored', async () => {
    const some = await send(`v1/${device.id}/record`, [
      { field: 'FLOAT', value: 1 },
      { field: 'NONE', value: 2 },
    ]);
    expect(some).toMatchObject({ reason: 0x00, code: 'UNKNOWN_FIELD', stored: 1, rejected: 1 });
    expect(some.answer).toMatchObject({ stored: 1, rejected: [{ index: 1, field: 'NONE', code: 'UNKNOWN_FIELD' }] });
    const none = await send(`v1/${device.id}/record`, { field: 'FLOAT', value: 'warm' });
    expect(none).toMatchObject({ reason: 0x99, code: 'INVALID_VALUE', stored: 0, rejected: 1 });
    const mixed = [
      { field: 'FLOAT', value: 'warm' },
      { field: 'NONE', value: 1 },
    ];
    expect(await send(`v1/${device.id}/record`, mixed)).toMatchObject({ reason: 0x99, code: 'NOTHING_STORED' });
    const noJson = await send(`v1/${device.id}/record`, '[{"field":');
    expect(noJson).toMatchObject({ reason: 0x99, code: 'INVALID_JSON', answer: { stored: 0, rejected: [] } });
    expect(noJson.answer.detail).toContain('line 1, column 11');
    expect(await send(`v1/${device.id}/record`, '17')).toMatchObject({ reason: 0x99, code: 'INVALID_BODY' });
    const many = Array.from({ length: 10_001 }, () => 0);
    expect(await send(`v1/${device.id}/record`, many)).toMatchObject({ reason: 0x99, code: 'TOO_MANY_ENTRIES' });
    const large = ' '.repeat(1_048_577);
    for (const topic of [`v1/${device.id}/record`, `webhook/${product.webhookId}/x`])
      expect(await send(topic, large)).toMatchObject({ reason: 0x99, code: 'BODY_TOO_LARGE' });
    expect(await stored()).toEqual({ FLOAT: [[0, 1]] });
    const suggested = async (): Promise<unknown> => {
      await domain.suggestions.flushAll();
      return domain.fields.suggestions(domain.access, product.id);
    };
    expect(await suggested()).toMatchObject([{ identifier: 'NONE', type: 'FLOAT' }]);
  });

  test.each([
    ['FLOAT', '21.5', 21.5],
    ['FLOAT', '21.5\r\n\0', 21.5],
    ['FLOAT', '"21.5"', 21.5],
    ['INTEGER', '-7', -7],
    ['BOOLEAN', 'true', 1],
    ['BOOLEAN', 'ON', 1],
    ['GEOLOCATION', '(52.5,13.4)', '(52.5,13.4)'],
    ['STRING', 'a text, as it is', 'a text, as it is'],
    ['STRING', '21.50', '21.50'],
    ['STRING', '{"nested":{"value":1}}', '{"nested":{"value":1}}'],
    ['STRING', '{no JSON', '{no JSON'],
    ['FLOAT', '{"value":21.5}', 21.5],
    ['FLOAT', '{"field":"FLOAT","value":"21.5","more":1}', 21.5],
  ])('v1/<device>/%s takes %j', async (field, payload, value) => {
    expect(await send(`v1/${device.serialNumber}/${field}`, payload)).toMatchObject({ ...ok, stored: 1 });
    expect(await stored()).toEqual({ [field]: [[0, value]] });
  });

  test('an entry of a field has its time; one without a value, or with another field, is refused', async () => {
    const timestamp = domain.clock.now / 1_000 - 60;
    expect(await send(`v1/${device.id}/FLOAT`, { value: 1, timestamp })).toMatchObject({ stored: 1 });
    expect(await stored()).toEqual({ FLOAT: [[-60, 1]] });
    expect(await send(`v1/${device.id}/FLOAT`, '')).toMatchObject({ reason: 0x99, code: 'MISSING_VALUE' });
    expect(await send(`v1/${device.id}/FLOAT`, { timestamp })).toMatchObject({ reason: 0x99, code: 'MISSING_VALUE' });
    expect(await send(`v1/${device.id}/FLOAT`, 'nan')).toMatchObject({ reason: 0x99, code: 'INVALID_VALUE' });
    const other = await send(`v1/${device.id}/FLOAT`, { field: 'INTEGER', value: 1 });
    expect(other).toMatchObject({ reason: 0x99, code: 'INVALID_BODY' });
    expect(other.answer.detail).toBe('The topic names the field "FLOAT", the payload "INTEGER": leave "field" out.');
    expect(await send(`v1/${device.id}/STRING`, Buffer.from([0x41, 0xff]))).toMatchObject({ code: 'INVALID_VALUE' });
    expect(await send(`v1/${device.id}/NEW`, '1')).toMatchObject({ reason: 0x99, code: 'UNKNOWN_FIELD' });
  });

  test('a name that no topic may have is percent-encoded', async () => {
    const [odd, percent] = await createDevices([`a/b+c#${nth}`, `100%-${nth}`]);
    expect(await send(`v1/a%2Fb%2Bc%23${nth}/FLOAT`, '1')).toMatchObject({ stored: 1 });
    expect(await send(`v1/100%-${nth}/FLOAT`, '2')).toMatchObject({ stored: 1 });
    expect(await stored(odd)).toMatchObject({ FLOAT: [[0, 1]] });
    expect(await stored(percent)).toMatchObject({ FLOAT: [[0, 2]] });
    expect(topicsWith().outcomeTopicOf(`v1/a%2Fb%2Bc%23${nth}/FLOAT`)).toBe(`v1/a%2Fb%2Bc%23${nth}/outcome`);
  });

  test('the write limit is told apart', async () => {
    await domain.writeRates.set(domain.access, { deviceId: device.id, perSecond: 0.001 });
    expect(await send(`v1/${device.id}/FLOAT`, '1')).toMatchObject({ ...ok, stored: 1 });
    expect(await send(`v1/${device.id}/FLOAT`, '2')).toMatchObject({ reason: 0x97, code: 'RATE_LIMITED', rejected: 1 });
    const both = [
      { field: 'FLOAT', value: 3 },
      { field: 'INTEGER', value: 3 },
    ];
    expect(await send(`v1/${device.id}/record`, both)).toMatchObject({ reason: 0x00, code: 'RATE_LIMITED', stored: 1 });
  });

  test('devices that the token has no right to, and topics without a meaning, are not authorised', async () => {
    const [other] = await createDevices([`other-${nth}`]);
    const { access } = await tokenOf({ deviceIds: [device.id], fields: ['FLOAT'] });
    expect(await send(`v1/${device.serialNumber}/FLOAT`, '1', { access })).toMatchObject({ ...ok, stored: 1 });
    expect(await send(`v1/${device.id}/INTEGER`, '1', { access })).toMatchObject({ code: 'UNKNOWN_FIELD' });
    expect(await send(`v1/${other!.id}/FLOAT`, '1', { access })).toMatchObject({ reason: 0x87, code: 'FORBIDDEN' });
    expect(await send('v1/nobody/FLOAT', '1', { access })).toMatchObject({ reason: 0x87, code: 'NOT_FOUND' });
    for (const topic of [
      '',
      '/',
      'v1',
      'v1/',
      `v1/${device.id}`,
      `v1/${device.id}/`,
      `v1//FLOAT`,
      `v1/${device.id}/FLOAT/x`,
      `/v1/${device.id}/FLOAT`,
      `V1/${device.id}/FLOAT`,
      'v1/devices/me/telemetry',
      `dtck-pub/p/${device.id}/FLOAT`,
    ])
      expect(await send(topic, '1'), topic).toMatchObject({ reason: 0x87, code: 'FORBIDDEN' });
    expect(await stored()).toEqual({ FLOAT: [[0, 1]] });
    expect(await stored(other)).toEqual({});
  });

  test('what authorised a message is checked again: a token that is gone stores nothing', async () => {
    const { id, access } = await tokenOf();
    expect(await send(`v1/${device.serialNumber}/FLOAT`, '1', { access })).toMatchObject(ok);
    await domain.tokens.revoke(domain.access, id);
    const unauthenticated = { code: 'UNAUTHENTICATED' };
    await expect(send(`v1/${device.serialNumber}/FLOAT`, '2', { access })).rejects.toMatchObject(unauthenticated);
    await expect(send(`webhook/${product.webhookId}/${device.id}/FLOAT`, '2', { access })).rejects.toMatchObject(
      unauthenticated,
    );
    const short = await tokenOf({ expiresAt: domain.clock.now + 1_000 });
    expect(await send(`v1/${device.id}/INTEGER`, '1', { access: short.access })).toMatchObject(ok);
    domain.clock.now += 2_000;
    await expect(send(`v1/${device.id}/INTEGER`, '2', { access: short.access })).rejects.toMatchObject(unauthenticated);
    domain.clock.now -= 2_000;
    expect(await stored()).toEqual({ FLOAT: [[0, 1]], INTEGER: [[0.001, 1]] });
  });

  test('webhook topics run the decoder with method MQTT and the topic as path; the call is logged and replayed', async () => {
    const topic = `webhook/${product.webhookId}/${device.id}/FLOAT`;
    const { answer, ...outcome } = await send(topic, '4.5');
    expect(outcome).toEqual({ ...ok, stored: 1 });
    expect(answer).toEqual({ stored: 1, rejected: 0 });
    expect(await stored()).toEqual({ FLOAT: [[0, 4.5]] });
    // An entry that is refused is kept with its call, and can be replayed.
    expect(await send(`webhook/${product.webhookId}/nobody/FLOAT`, '1')).toMatchObject({
      ...ok,
      stored: 0,
      rejected: 1,
    });
    const { items } = await domain.calls.calls(domain.access, product.id, {}, 2);
    expect(items.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      { method: 'MQTT', path: `webhook/${product.webhookId}/nobody/FLOAT`, body: '1' },
      { method: 'MQTT', path: topic, body: '4.5' },
    ]);
    await domain.decoders.saveDecoder(domain.access, product.id, DECODER.replace('value: body', 'value: 2 * body'));
    const { changed } = await domain.replay.replayCalls(domain.access, product.id, {
      callIds: [items[1]!.id],
    } as never);
    await domain.decoders.saveDecoder(domain.access, product.id, DECODER);
    expect(changed).toBe(1);
    expect(await stored()).toEqual({ FLOAT: [[0, 9]] });
  });

  test.each([
    {
      name: 'tasmota',
      sent: [
        [
          'tele/plug/SENSOR',
          '{"Time":"2026-01-31T11:59:30","ENERGY":{"TotalStartTime":"2025-01-01T00:00:00","Total":12.5,"Power":[15,7]},"AM2301":{"Temperature":21.4}}',
        ],
        ['tele/plug/STATE', '{"Time":"1970-01-01T00:00:12","POWER1":"ON","Wifi":{"RSSI":78},"Vcc":null}'],
        ['stat/plug/RESULT', '{"POWER1":"OFF"}'],
        ['stat/plug/POWER1', 'OFF'],
        ['tele/plug/LWT', 'Online'],
      ],
      fields: {
        ENERGY_Total: 12.5,
        ENERGY_Power_0: 15,
        ENERGY_Power_1: 7,
        AM2301_Temperature: 21.4,
        POWER1: 0,
        Wifi_RSSI: 78,
      },
      others: ['ENERGY_TotalStartTime', 'Vcc'],
      at: { ENERGY_Total: Date.UTC(2026, 0, 31, 11, 59, 30) },
    },
    {
      name: 'shelly',
      sent: [
        [
          'plug/events/rpc',
          '{"src":"shellyplus1pm-a8032abe54dc","dst":"plug/events","method":"NotifyStatus","params":{"ts":1769860700.25,"switch:0":{"id":0,"apower":8.9,"aenergy":{"by_minute":[1,2,3],"minute_ts":1769860680,"total":6.5}}}}',
        ],
        [
          'plug/events/rpc',
          '{"src":"s","dst":"plug/events","method":"NotifyEvent","params":{"ts":1769860701,"events":[]}}',
        ],
        ['plug/status/switch:0', '{"id":0,"source":"MQTT","output":true,"temperature":{"tC":23.6}}'],
        ['plug/online', 'true'],
      ],
      fields: { switch_0_apower: 8.9, switch_0_aenergy_total: 6.5, switch_0_output: 1, switch_0_temperature_tC: 23.6 },
      others: ['switch_0_aenergy_minute_ts'],
      at: { switch_0_apower: 1_769_860_700_250 },
    },
  ])('the sample decoder for $name in docs/mqtt.md reads its messages', async ({ name, sent, fields, others, at }) => {
    const page = readFileSync(new URL('../../docs/mqtt.md', import.meta.url), 'utf8');
    const source = new RegExp(`<!-- ${name} -->\n+\`\`\`js\n([^]*?)\`\`\``).exec(page)![1]!;
    const { id, webhookId } = await domain.products.create(domain.access, {
      name,
      fields: Object.keys(fields).map((identifier) => ({
        identifier,
        type: /POWER1|output/.test(identifier) ? ('BOOLEAN' as const) : ('FLOAT' as const),
      })),
    });
    await domain.decoders.saveDecoder(domain.access, id, source);
    const wish = { name, serialNumber: 'plug' };
    const [plug] = await domain.devices.create(domain.access, id, [wish], 'unlimited');
    for (const [topic, payload] of sent)
      expect(await send(`webhook/${webhookId}/${topic}`, payload)).toMatchObject({ reason: 0x00, code: null });
    await domain.suggestions.flushAll();
    const suggested = await domain.fields.suggestions(domain.access, id);
    expect(suggested.map(({ identifier }) => identifier).toSorted()).toEqual(others.toSorted());
    const known = (await domain.ingestCache.product(id))!;
    const query = { deviceKey: plug!.key, fieldKeys: [...known.fieldsByKey.keys()], tenant: workspaceId };
    const latest = await domain.store.latest([query]);
    const named = latest.map(({ fieldKey, value }) => [known.fieldsByKey.get(fieldKey)!.identifier, value]);
    expect(Object.fromEntries(named)).toEqual(fields);
    for (const [identifier, moment] of Object.entries(at))
      expect(latest.find(({ fieldKey }) => known.fieldsByKey.get(fieldKey)!.identifier === identifier)!.timestamp).toBe(
        moment,
      );
  });

  test('an unknown webhook is not authorised; the test tool runs a message that is typed in', async () => {
    expect(await send('webhook/0123456789012345678901/x', '1')).toMatchObject({ reason: 0x87, code: 'NOT_FOUND' });
    expect(await send('webhook/', '1')).toMatchObject({ reason: 0x87, code: 'NOT_FOUND' });
    const request = { method: 'mqtt', path: `${device.id}/FLOAT?`, body: '7' };
    const run = await domain.decoders.testDecoder(domain.access, product.id, { request } as never);
    expect(run.entries).toMatchObject([{ field: 'FLOAT?', value: '7' }]);
  });

  test('Datacake’s topics, where they are switched on', async () => {
    const shapes = { datacake: true };
    expect(await send(`dtck-pub/my-product/${device.serialNumber}/FLOAT`, '1.25', shapes)).toMatchObject(ok);
    expect(await stored()).toEqual({ FLOAT: [[0, 1.25]] });
    expect(await send(`dtck-pub/${device.serialNumber}/FLOAT`, '1', shapes)).toMatchObject({ reason: 0x87 });
    expect(topicsWith(shapes).outcomeTopicOf(`dtck-pub/p/${device.serialNumber}/FLOAT`)).toBe(
      `v1/${device.serialNumber}/outcome`,
    );
  });

  test('ThingsBoard’s telemetry of the device that the token is limited to', async () => {
    const { access } = await tokenOf({ deviceIds: [device.id] });
    const telemetry = (payload: unknown) => send('v1/devices/me/telemetry', payload, { access, thingsboard: true });
    expect(await telemetry({ A: 1, STRING: 'x', BOOLEAN: true, gps: { alt: 34 }, 'pm2.5': 2 })).toMatchObject({
      ...ok,
      stored: 5,
    });
    const ts = domain.clock.now - 5_000;
    expect(await telemetry({ ts, values: { A: 2, B: 3 } })).toMatchObject({ ...ok, stored: 2 });
    const list = [{ B: 4 }, { ts: String(ts - 1_000), values: { A: 5 } }];
    expect(await telemetry(list)).toMatchObject({ ...ok, stored: 2 });
    expect(await stored()).toEqual({
      A: [
        [-6, 5],
        [-5, 2],
        [0, 1],
      ],
      B: [
        [-5, 3],
        [0.001, 4],
      ],
      STRING: [[0, 'x']],
      BOOLEAN: [[0, 1]],
      gps_alt: [[0, 34]],
      pm2_5: [[0, 2]],
    });
    const inSeconds = await telemetry({ ts: domain.clock.now / 1_000, values: { A: 1 } });
    expect(inSeconds).toMatchObject({ reason: 0x99, code: 'INVALID_TIMESTAMP' });
    expect(inSeconds.answer.rejected[0].message).toMatch(
      /in Unix milliseconds is 1970-.*It looks like Unix seconds; send Unix milliseconds: \d{13}\.$/,
    );
    const late = await telemetry({ ts: domain.clock.now + 90_000_000, values: { A: 1 } });
    expect(late).toMatchObject({ reason: 0x99, code: 'TIMESTAMP_IN_FUTURE' });
    const iso = await telemetry({ ts: '2026-01-31T12:00:00Z', values: { A: 1 } });
    expect(iso.answer.rejected[0].message).toContain(`That is ${AT} in Unix milliseconds.`);
    expect(await telemetry([1])).toMatchObject({ reason: 0x99, code: 'INVALID_BODY' });
    const whole = await send('v1/devices/me/telemetry', { A: 1 }, { thingsboard: true });
    expect(whole).toMatchObject({ reason: 0x87, code: 'FORBIDDEN' });
    expect(whole.answer.detail).toContain('not limited to exactly one device');
  });

  test('ThingsBoard’s gateways send for many devices; one that is unknown loses nothing of the others', async () => {
    const [second] = await createDevices([`second-${nth}`]);
    const ts = domain.clock.now - 1_000;
    const outcome = await send(
      'v1/gateway/telemetry',
      {
        [device.serialNumber]: [{ ts, values: { A: 1 } }, { B: 2 }],
        nobody: [{ A: 1 }],
        [`second-${nth}`]: { ts, values: { A: 3, NONE: 1 } },
      },
      { thingsboard: true },
    );
    expect(outcome).toMatchObject({ reason: 0x00, code: 'NOTHING_STORED', stored: 3, rejected: 2 });
    expect(outcome.answer.rejected).toMatchObject([
      { index: 2, code: 'UNKNOWN_DEVICE', message: 'No device "nobody" is visible to this token.' },
      { index: 4, code: 'UNKNOWN_FIELD' },
    ]);
    expect(await stored()).toEqual({ A: [[-1, 1]], B: [[0, 2]] });
    expect(await stored(second)).toEqual({ A: [[-1, 3]] });
    expect(await send('v1/gateway/telemetry', [], { thingsboard: true })).toMatchObject({ code: 'INVALID_BODY' });
  });

  test('a gateway’s message that was stored in part is not stored twice when it is tried again', async () => {
    const [second] = await createDevices([`second-${nth}`]);
    const message = messageOf('v1/gateway/telemetry', { [device.id]: { A: 1 }, [second!.id]: { A: 2 } });
    const topics = topicsWith({ thingsboard: true });
    const { append } = domain.store;
    let left = 1;
    domain.store.append = async (receipt) => {
      if (receipt.batches[0]!.deviceKey === second!.key && left-- > 0) throw new Error('no space left on device');
      return append.call(domain.store, receipt);
    };
    await expect(topics.receive(domain.access, message)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await topics.receive(domain.access, message)).toMatchObject({ ...ok, stored: 2 });
    domain.store.append = append;
    expect(await stored()).toEqual({ A: [[0, 1]] });
    expect((await stored(second))['A']).toHaveLength(1);
  });

  test('a token may subscribe to the outcomes of its devices alone', async () => {
    const { access } = await tokenOf({ deviceIds: [device.id] });
    const [other] = await createDevices([`other-${nth}`]);
    const may = (filter: string): Promise<boolean> => topicsWith().maySubscribe(access, filter);
    expect(await may(`v1/${device.id}/outcome`)).toBe(true);
    expect(await may(`v1/${device.serialNumber}/outcome`)).toBe(true);
    for (const filter of [
      `v1/${other!.id}/outcome`,
      'v1/+/outcome',
      'v1/#',
      '#',
      `v1/${device.id}/record`,
      `v1/${device.id}/outcome/#`,
      `$share/g/v1/${device.id}/outcome`,
      'v1/nobody/outcome',
    ])
      expect(await may(filter), filter).toBe(false);
    expect(topicsWith().outcomeTopicOf(`v1/${device.id}/record`)).toBe(`v1/${device.id}/outcome`);
    expect(topicsWith().outcomeTopicOf(`webhook/${product.webhookId}/x`)).toBe(null);
  });

  test('a device shows the last eight clients that sent for it, and their last topic', async () => {
    const clientOf = (id: string) => ({ id, connectedAt: domain.clock.now, isConnected: true });
    const sendAs = (client: ReturnType<typeof clientOf>, topic: string) =>
      topicsWith().receive(domain.access, { ...messageOf(topic, '1'), client });
    const shown = () => domain.deviceClients.of(device.id).map(({ client, lastTopic }) => [client.id, lastTopic]);
    const [one, two] = [clientOf('one'), clientOf('two')];
    await sendAs(one, `v1/${device.id}/FLOAT`);
    await sendAs(two, `v1/${device.serialNumber}/STRING`);
    await sendAs(one, `v1/${device.id}/INTEGER`);
    await sendAs(one, 'v1/nobody/INTEGER');
    expect(shown()).toEqual([
      ['one', `v1/${device.id}/INTEGER`],
      ['two', `v1/${device.serialNumber}/STRING`],
    ]);
    one.isConnected = false;
    expect(domain.deviceClients.of(device.id)[0]).toMatchObject({ client: { isConnected: false } });
    await sendAs(clientOf('one'), `v1/${device.id}/FLOAT`);
    expect(domain.deviceClients.of(device.id).map(({ client }) => client.isConnected)).toEqual([true, true]);
    for (let n = 0; n < 8; n += 1) await sendAs(clientOf(`c${n}`), `v1/${device.id}/FLOAT`);
    expect(shown().map(([id]) => id)).toEqual(['c7', 'c6', 'c5', 'c4', 'c3', 'c2', 'c1', 'c0']);
  });

  test('messages of a client are recorded in their order, however long it takes to find the device of each', async () => {
    const [second] = await createDevices([`second-${nth}`]);
    // One that nobody has looked up so far, one that is in memory, one that does not exist.
    const topics = [
      `v1/second-${nth}/FLOAT`,
      `v1/${device.id}/FLOAT`,
      'v1/nobody/FLOAT',
      `v1/second-${nth}/FLOAT`,
      `v1/${second!.id}/FLOAT`,
    ];
    await send(`v1/${device.id}/FLOAT`, '0');
    const { append } = domain.store;
    const order: unknown[] = [];
    domain.store.append = async (receipt) => {
      const [batch] = receipt.batches;
      if (batch!.deviceKey === second!.key) order.push(batch!.values[0]);
      return append.call(domain.store, receipt);
    };
    const received = topicsWith();
    const client = { id: 'c', connectedAt: 0, isConnected: true };
    await Promise.all(
      topics.map(async (topic, n) => received.receive(domain.access, { ...messageOf(topic, String(n)), client })),
    );
    domain.store.append = append;
    expect(order).toEqual([0, 3, 4]);
    expect((await stored(second))['FLOAT']).toEqual([
      [0, 0],
      [0.001, 3],
      [0.002, 4],
    ]);
  });

  test('what is refused is charged to its workspace as at the other doors, what is stored is not', async () => {
    const counts = countsOf(LANES.refusedInput.name);
    const chargedFor = async (topic: string, payload: unknown): Promise<number> => {
      const before = counts.chargedMs;
      await send(topic, payload, { thingsboard: true });
      return counts.chargedMs - before;
    };
    const at = (n: number): number => domain.clock.now / 1_000 - n;
    const entries = (field: string): object[] =>
      Array.from({ length: 400 }, (_, n) => ({ field, value: n, timestamp: at(n) }));
    expect(await chargedFor(`v1/${device.id}/record`, entries('FLOAT'))).toBe(0);
    expect(await chargedFor(`v1/${device.id}/record`, entries('NONE'))).toBeGreaterThan(0.5);
    expect(await chargedFor(`v1/${device.id}/FLOAT`, 'x'.repeat(20_000))).toBeGreaterThan(0.5);
    const telemetry = (key: string): object[] =>
      Array.from({ length: 400 }, (_, n) => ({ ts: domain.clock.now - n, values: { [key]: n } }));
    expect(await chargedFor('v1/gateway/telemetry', { [device.id]: telemetry('A') })).toBe(0);
    expect(await chargedFor('v1/gateway/telemetry', { nobody: telemetry('A') })).toBeGreaterThan(0.5);
    expect(await chargedFor(`webhook/${product.webhookId}/nobody/x`, 'x'.repeat(20_000))).toBeGreaterThan(0.5);
  });

  test('a mistake of the server’s is no outcome: the message is not acknowledged', async () => {
    const { append } = domain.store;
    domain.store.append = async () => {
      throw new Error('a mistake');
    };
    await expect(send(`v1/${device.id}/FLOAT`, '1')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    domain.store.append = append;
    expect(await send(`v1/${device.id}/FLOAT`, '1')).toMatchObject({ ...ok, stored: 1 });
  });
});
