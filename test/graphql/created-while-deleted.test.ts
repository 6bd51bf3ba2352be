import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const ROUNDS = 3;
/** How often each creation is asked for while the deletion goes on. */
const AT_ONCE = 3;
/** What was deleted is not there, who was deleted is nobody; one replay at a time. */
const FINE = ['NOT_FOUND', 'UNAUTHENTICATED', 'CONFLICT'];
const DECODER = 'function Decoder(request) { return [{ device: "serial-1", field: "temperature", value: 1 }] }';

type Ask = () => Promise<string>;

/** What is deleted, and what is asked for at the same time. */
interface Pair {
  end: Ask;
  asks: Ask[];
}

describe.each(DATABASES)('what is created in what is being deleted, on %s', (database) => {
  let server: TestServer;
  let count = 0;
  let workspaceId: string;
  beforeAll(async () => {
    server = await startServer({ database, env: { ANONYMOUS_PER_MINUTE: '0' } });
    workspaceId = await createWorkspace(server, 'shared');
  });
  afterAll(() => server.stop());

  /** 'done', or the codes of the errors. */
  function gql(query: string, token: string | null = server.adminToken): Ask {
    return async () => {
      const { errors = [] } = await server.query(`mutation ${query}`, {}, token);
      return errors.map(({ extensions }) => extensions.code).join(' ') || 'done';
    };
  }

  function rest(path: string, body: string, type = 'application/json', token = server.adminToken): Ask {
    return async () => {
      const headers = { authorization: `Token ${token}`, 'content-type': type };
      const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body });
      const { code } = (await response.json()) as { code?: string };
      return code ?? 'done';
    };
  }

  const next = (): string => `n${(count += 1)}`;

  async function inWorkspace(of: (workspaceId: string, product: TestProduct) => Promise<Ask[]>): Promise<Pair> {
    const id = await createWorkspace(server, next());
    const product = await createProduct(server, { workspaceId: id, serialNumbers: [] });
    return { end: gql(`{ deleteWorkspace(id: "${id}") }`), asks: await of(id, product) };
  }

  async function ofUser(of: (user: { id: string; token: string; workspaceId: string }) => Ask[]): Promise<Pair> {
    const place = await createWorkspace(server, next());
    const { userId: id, token } = await createMember(server, place, 'ADMIN');
    await server.gql('mutation ($id: ID!) { updateUser(id: $id, input: { operator: true }) { id } }', { id });
    return { end: gql(`{ deleteUser(id: "${id}") }`), asks: of({ id, token, workspaceId: place }) };
  }

  async function inProduct(of: (product: TestProduct) => Ask[]): Promise<Pair> {
    const product = await createProduct(server, { workspaceId, input: { decoder: DECODER } });
    return { end: gql(`{ deleteProduct(id: "${product.id}") }`), asks: of(product) };
  }

  async function onDevice(of: (deviceId: string, product: TestProduct) => Ask[]): Promise<Pair> {
    const product = await createProduct(server, { workspaceId, serialNumbers: ['serial-1', 'serial-2'] });
    await gql(
      `{ addConfigurationField(productId: "${product.id}", input: { identifier: "c", type: STRING }) { id } }`,
    )();
    const [deviceId] = product.deviceIds;
    return { end: gql(`{ deleteDevices(ids: ["${deviceId}"]) }`), asks: of(deviceId!, product) };
  }

  const line = (): string =>
    `device,field,timestamp,value\nserial-1,temperature,2024-01-01T00:00:00.${100 + ((count += 1) % 900)}Z,1\n`;

  const PAIRS: [string, () => Promise<Pair>][] = [
    [
      'tokens, products and members of a workspace',
      () =>
        inWorkspace(async (id, product) => {
          const individual = await createToken(server, server.adminToken, id, ['READ', 'RECORD', 'CONFIGURE', 'ADMIN']);
          const other = await createMember(server, await createWorkspace(server, next()), 'ADMIN');
          const made = `input: { kind: INDIVIDUAL, name: "t", workspaceId: "${id}", scopes: [READ] }`;
          return [
            gql(`{ createToken(${made}) { token { id scopes } } }`),
            gql(`{ createToken(${made}) { secret } }`, individual.secret),
            gql(`{ updateToken(id: "${individual.id}", input: { name: "u" }) { id scopes } }`),
            gql(`{ createProduct(input: { name: "p", workspaceId: "${id}" }) { id fields { id } } }`),
            gql(`{ cloneProduct(id: "${product.id}", name: "p") { id fields { id } } }`),
            gql(`{ setMember(workspaceId: "${id}", userId: "${other.userId}", role: EDITOR) { id members { role } } }`),
            gql(`{ renameWorkspace(id: "${id}", name: "r") { id tokens { id } } }`),
            gql(`{ setWriteRate(workspaceId: "${id}", perSecond: 1) }`),
          ];
        }),
    ],
    [
      'uplinks of unknown devices of a workspace',
      () =>
        inWorkspace(async (id) => {
          const { secret } = await createToken(server, server.adminToken, id, ['RECORD']);
          const uplink = (eui: string): string =>
            JSON.stringify({ end_device_ids: { dev_eui: eui }, uplink_message: { f_port: 1, frm_payload: 'AQ==' } });
          const path = '/integrations/lorawan/tti/';
          return [
            rest(path, uplink('0011223344556677'), 'application/json', secret),
            rest(path, uplink('0011223344556688'), 'application/json', secret),
          ];
        }),
    ],
    [
      'calls of an unknown device that is adopted',
      async () => {
        const place = await createWorkspace(server, next());
        const { secret } = await createToken(server, server.adminToken, place, ['READ', 'RECORD']);
        const input = { deviceType: 'LORAWAN' };
        const { id } = await createProduct(server, { workspaceId: place, serialNumbers: [], input });
        const uplink = JSON.stringify({
          end_device_ids: { dev_eui: '0011223344556677' },
          uplink_message: { f_port: 1, frm_payload: 'AQ==' },
        });
        const send = rest('/integrations/lorawan/tti/', uplink, 'application/json', secret);
        await send();
        const { unknownDevices } = await server.gql('{ unknownDevices { id } }', {}, secret);
        return {
          end: gql(`{ adoptUnknownDevice(id: "${unknownDevices[0].id}", productId: "${id}") { id } }`),
          asks: [send],
        };
      },
    ],
    [
      'tokens and memberships of a user',
      () =>
        ofUser(({ id, token, workspaceId: place }) => [
          gql('{ createToken(input: { kind: PERSONAL, name: "t" }) { token { id } } }', token),
          gql(`{ createWorkspace(name: "${next()}") { id members { role } } }`, token),
          gql(`{ setMember(workspaceId: "${place}", userId: "${id}", role: EDITOR) { id members { role } } }`),
          gql(`{ updateUser(id: "${id}", input: { name: "n" }) { id email } }`),
        ]),
    ],
    [
      'fields, devices and decoders of a product',
      () =>
        inProduct(({ id }) => [
          async () => gql(`{ addField(productId: "${id}", input: { identifier: "${next()}", type: FLOAT }) { id } }`)(),
          gql(
            `{ createDevices(productId: "${id}", plan: "unlimited", devices: [{ name: "d" }]) { id product { id name } } }`,
          ),
          gql(`{ saveDecoder(productId: "${id}", source: ${JSON.stringify(DECODER)}, force: true) { version } }`),
          async () =>
            gql(
              `{ addDecoderExample(productId: "${id}", name: "${next()}", request: { body: "" }, expected: []) { id } }`,
            )(),
          async () =>
            gql(
              `{ addConfigurationField(productId: "${id}", input: { identifier: "${next()}", type: STRING }) { id } }`,
            )(),
          gql(`{ cloneProduct(id: "${id}", name: "p") { id fields { id } } }`),
        ]),
    ],
    [
      'dashboards, limits and values of a product',
      () =>
        inProduct(({ id, webhookId, deviceIds }) => [
          gql(`{ updateProduct(id: "${id}", input: { dashboard: null, name: "q" }) { id fields { id } } }`),
          gql(`{ setWriteRate(productId: "${id}", perSecond: 1) }`),
          gql(`{ rotateWebhook(productId: "${id}") { webhookId fields { id } } }`),
          gql(`{ activateDecoder(productId: "${id}", version: 1) { version } }`),
          gql(`{ replayCalls(productId: "${id}") { calls } }`),
          rest(`/integrations/api/${webhookId}/`, 'x'),
          async () => gql(`{ replaceDevice(id: "${deviceIds[0]}", serialNumber: "${next()}") { id } }`)(),
          async () => rest(`/v1/import?product=${id}`, line(), 'text/csv')(),
        ]),
    ],
    [
      'values and settings of a device',
      () =>
        onDevice((id, product) => [
          gql(`{ recordMeasurements(deviceId: "${id}", entries: [{ field: "temperature", value: 1 }]) { stored } }`),
          gql(`{ setWriteRate(deviceId: "${id}", perSecond: 0) }`),
          gql(`{ setConfiguration(deviceId: "${id}", values: { c: "x" }) { id product { name } } }`),
          gql(`{ updateDevice(id: "${id}", input: { name: "x" }) { id product { name } } }`),
          gql(`{ replaceDevice(id: "${product.deviceIds[1]}", serialNumber: "serial-1", absorb: "${id}") { id } }`),
          rest(`/v1/devices/${id}/record`, '[{"field":"temperature","value":1}]'),
          async () => rest(`/v1/devices/${id}/import`, line(), 'text/csv')(),
        ]),
    ],
  ];

  test.each(PAIRS)('%s: it is there or not, and nothing goes wrong', async (_, make) => {
    const seen = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const { end, asks } = await make();
      const asking = asks.flatMap((ask) =>
        Array.from({ length: AT_ONCE }, async (__, at) => {
          await new Promise((resolve) => setTimeout(resolve, at * 6));
          return ask();
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, round * 3));
      const ended = await end();
      expect(['done', 'NOT_FOUND', 'CONFLICT']).toContain(ended);
      for (const [at, outcome] of (await Promise.all(asking)).entries()) {
        if (outcome !== 'done') seen.add(`${outcome} (${Math.floor(at / AT_ONCE)})`);
      }
    }
    const unexpected = [...seen].filter((name) => !FINE.includes(name.split(' ')[0]!));
    const logged = server.process.lines.filter(({ level }) => level === 'error');
    expect({ unexpected, logged: logged.slice(0, 3) }).toEqual({ unexpected: [], logged: [] });
  });
});
