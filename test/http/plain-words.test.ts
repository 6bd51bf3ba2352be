import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { callWebhook, latestOf, saveDecoder } from '../decoders/webhook-client.ts';

const EUI = '70b3d57ed0001234';
const AT = 1_790_000_000;

interface Sent {
  stored: number;
  code: string | null;
  message: string | null;
}

/** Every door by which one value of one field comes in, and what it says. */
type Door = (field: string, value: unknown, at: number) => Promise<Sent>;

describe('one value means the same at every door', () => {
  let server: TestServer;
  let product: TestProduct;
  let network: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
    const fields = { open: 'BOOLEAN', label: 'STRING' };
    product = await createProduct(server, { fields, serialNumbers: ['w-1'] });
    network = await createProduct(server, { fields, serialNumbers: [EUI], input: { deviceType: 'LORAWAN' } });
    await saveDecoder(server, product.id, 'function Decoder(r) { return JSON.parse(r.body); }');
  });
  afterAll(() => server?.stop());

  const told = (stored: number, rejected: { code: string; message: string }[] = []): Sent => ({
    stored,
    code: rejected[0]?.code ?? null,
    message: rejected[0]?.message ?? null,
  });
  const post = async (path: string, type: string, body: string | Uint8Array): Promise<any> => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': type },
      body: body as string,
    });
    return response.json();
  };
  /** Of the newest call's entry. */
  const ofCall = async (id: string, stored: number): Promise<Sent> => {
    const { product: shown } = await server.gql(
      'query ($id: ID!) { product(id: $id) { calls(first: 1) { edges { node { run { entries { code message } } } } } } }',
      { id },
    );
    const [entry] = shown.calls.edges[0].node.run.entries;
    return { stored, code: entry.code, message: entry.message };
  };
  const DOORS: Record<string, Door> = {
    record: async (field, value, timestamp) => {
      const { body } = await server.record('w-1', [{ field, value, timestamp }]);
      return told(body.stored, body.rejected);
    },
    recordMeasurements: async (field, value, timestamp) => {
      const { recordMeasurements } = await server.gql(
        `mutation ($id: ID!, $e: [EntryInput!]!) {
           recordMeasurements(deviceId: $id, entries: $e) { stored rejected { code message } }
         }`,
        { id: product.deviceIds[0], e: [{ field, value, timestamp: new Date(timestamp * 1000).toISOString() }] },
      );
      return told(recordMeasurements.stored, recordMeasurements.rejected);
    },
    webhook: async (field, value, timestamp) => {
      const { body } = await callWebhook(server, product, {
        body: JSON.stringify([{ device: 'w-1', field, value, timestamp }]),
      });
      return ofCall(product.id, body.stored);
    },
    'native route': async (field, value) => {
      const { stored } = await post(
        '/integrations/lorawan/chirpstack/?event=up',
        'application/json',
        JSON.stringify({
          deviceInfo: { devEui: EUI },
          fPort: 1,
          data: 'AQ==',
          fCnt: (frames += 1),
          object: { [field]: value },
        }),
      );
      return ofCall(network.id, stored);
    },
    'NDJSON import': async (field, value, timestamp) => {
      const line = JSON.stringify({ field, value, timestamp });
      const { stored, rejected } = await post('/v1/devices/w-1/import', 'application/x-ndjson', line);
      return told(stored, rejected);
    },
    'test tool': async (field, value, timestamp) => {
      const { testDecoder } = await server.gql(
        `mutation ($id: ID!, $body: String) { testDecoder(productId: $id, request: { body: $body }) { entries { code message } } }`,
        { id: product.id, body: JSON.stringify([{ device: 'w-1', field, value, timestamp }]) },
      );
      const [{ code, message }] = testDecoder.entries;
      return { stored: code === null ? 1 : 0, code, message };
    },
  };
  let frames = 0;
  let at = AT;

  test.each(Object.keys(DOORS))('words for the two states, %s', async (name) => {
    const states = [
      [true, ['ON', 'on', 'Open', 'OPEN', 'yes', 'True', '1', ' on ', true, 1]],
      [false, ['OFF', 'off', 'Closed', 'closed', 'NO', 'FALSE', '0', false, 0]],
    ] as const;
    for (const [, words] of states)
      for (const word of words)
        expect(await DOORS[name]!('open', word, (at += 1)), String(word)).toEqual({
          stored: 1,
          code: null,
          message: null,
        });
    for (const word of ['opened', 'onn', '', '2', 'tru', 'oui']) {
      const { stored, code, message } = await DOORS[name]!('open', word, (at += 1));
      expect([stored, code], word).toEqual([0, 'INVALID_VALUE']);
      expect(message).toContain(`"on", "off", "open", "closed", "yes", "no" in any case, not "${word}"`);
    }
  });

  test('they are stored as true and false', async () => {
    const { deviceIds } = await createProduct(server, { fields: { open: 'BOOLEAN' }, serialNumbers: ['w-2'] });
    const words = ['ON', 'Closed', 'yes', 'off', 'open', 'no'];
    await server.record(
      'w-2',
      words.map((value, index) => ({ field: 'open', value, timestamp: AT + index })),
    );
    const exported = await fetch(`${server.url}/v1/devices/${deviceIds[0]}/history.csv?layout=wide`, {
      headers: { Authorization: `Token ${server.adminToken}` },
    });
    const rows = (await exported.text()).trim().split('\n').slice(1);
    expect(rows.map((row) => row.split(',').at(-1))).toEqual(['true', 'false', 'true', 'false', 'true', 'false']);
  });

  test.each(Object.keys(DOORS))('half of a surrogate pair is refused and shown, %s', async (name) => {
    for (const [value, shown] of [
      ['a\ud83db', '"a\\ud83db"'],
      [`${'x'.repeat(100)}\udca9`, 'x\\xa9"'],
      ['\ude00', '"\\ude00"'],
    ] as const) {
      const { stored, code, message } = await DOORS[name]!('label', value, (at += 1));
      expect([stored, code]).toEqual([0, 'INVALID_VALUE']);
      expect(message).toContain(shown);
      expect(message).toContain('half of a surrogate pair');
    }
    expect(await DOORS[name]!('label', 'a 💩', (at += 1))).toMatchObject({ stored: 1, code: null });
  });

  describe('bytes that are not UTF-8', () => {
    const label = async (): Promise<unknown> => (await latestOf(server, product.deviceIds[0]!))['label'];
    const latin = (value: unknown): Buffer => Buffer.from(JSON.stringify(value), 'latin1');

    test('in a record request cost their own entry alone', async () => {
      const entries = [
        { field: 'label', value: '5 °C', timestamp: (at += 1) },
        { field: 'open', value: 'on', timestamp: at, unit: '°' },
      ];
      const { status, body } = await server.record('w-1', latin(entries));
      expect([status, body.stored]).toEqual([207, 1]);
      expect(body.rejected).toMatchObject([{ index: 0, field: 'label', code: 'INVALID_VALUE' }]);
      expect(body.rejected[0].message).toContain('"5 \\xb0C"');
      const declared = { headers: { 'Content-Type': 'application/json; charset=iso-8859-1' } };
      expect((await server.record('w-1', latin(entries), declared)).body).toEqual({ stored: 2, rejected: [] });
      expect(await label()).toBe('5 °C');
    });

    test.each(['application/json', 'text/plain', 'application/json; charset=iso-8859-1', 'application/octet-stream'])(
      'are characters with their numbers to a decoder: %s',
      async (type) => {
        const value = `5 °C ${type}`;
        const body = latin([{ device: 'w-1', field: 'label', value, timestamp: (at += 1) }]);
        const answer = await callWebhook(server, product, { headers: { 'Content-Type': type }, body });
        expect(answer.body).toEqual({ stored: 1, rejected: 0 });
        expect(await label()).toBe(value);
      },
    );

    test('so they are in forms and queries', async () => {
      const form = await createProduct(server, { fields: { label: 'STRING' }, serialNumbers: ['w-1'] });
      await saveDecoder(
        server,
        form.id,
        'function Decoder(r) { return { device: "w-1", field: "label", value: r.GET.a[0] + r.POST.b[0] }; }',
      );
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const body = 'b=Gr%F6%DFe+%C3%A9';
      expect((await callWebhook(server, form, { path: '?a=5%B0', headers, body })).body).toMatchObject({ stored: 1 });
      expect(await latestOf(server, form.deviceIds[0]!)).toEqual({ label: '5°Größe é' });
    });
  });
});
