import { ADMIN_TOKEN, type ServerProcess } from '../support/server-process.ts';
import { type NextRequest, postRequest } from './generator.ts';

const DEVICES = 200;
const JSON_TYPE = 'Content-Type: application/json';
const HEADERS = [JSON_TYPE, `Authorization: Token ${ADMIN_TOKEN}`];
const DECODER = `function Decoder(request) {
  var body = JSON.parse(request.body);
  return [{ device: body.serial, field: 'temperature', value: body.value, timestamp: body.time / 1000 }];
}`;

/** Makes a product with a decoder and devices. */
export async function fillDoors(server: ServerProcess): Promise<{ id: string; webhookId: string }> {
  const { createProduct: product } = await server.gql<{ createProduct: { id: string; webhookId: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id webhookId } }',
    { input: { name: 'bench', fields: [{ identifier: 'temperature', type: 'FLOAT' }], decoder: DECODER } },
  );
  await server.gql(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    {
      id: product.id,
      devices: Array.from({ length: DEVICES }, (_, at) => ({ name: `${at}`, serialNumber: `serial-${at}` })),
    },
  );
  return product;
}

/** Every value has a time of its own, so that no key repeats. */
let clock = 1_600_000_000_000;

/** A value by the record endpoint, one by the webhook, and a query: what comes next on a connection, and the values in it. */
export function throughDoors(id: string, webhookId: string): Record<string, { next: NextRequest; values: number }> {
  const serial = (connection: number, sequence: number): string => `serial-${(connection * 7 + sequence) % DEVICES}`;
  const query = `query ($id: ID!, $first: Int) { product(id: $id) { name fields { identifier } } devices(productId: $id, first: $first) {
    edges { node { name latest { value timestamp } } } } }`;
  return {
    record: {
      values: 1,
      next: (connection, sequence) =>
        postRequest(
          `/v1/devices/${serial(connection, sequence)}/record/`,
          HEADERS,
          `[{"field":"temperature","value":21.5,"timestamp":${(clock += 1) / 1000}}]`,
        ),
    },
    webhook: {
      values: 1,
      next: (connection, sequence) =>
        postRequest(
          `/integrations/api/${webhookId}/`,
          [JSON_TYPE],
          `{"serial":"${serial(connection, sequence)}","value":21.5,"time":${(clock += 1)}}`,
        ),
    },
    // Each connection asks for another number of devices: equal questions that wait are answered together.
    graphql: {
      values: 0,
      next: (connection) =>
        postRequest('/graphql', HEADERS, JSON.stringify({ query, variables: { id, first: 5 + connection } })),
    },
  };
}
