import { readAnswer, type RestAnswer, type TestProduct, type TestServer } from '../support/server.ts';

export interface Outcome {
  index: number;
  device: string | null;
  field: string | null;
  value: unknown;
  timestamp: string | null;
  code: string | null;
  message: string | null;
  matchedDevice: { id: string } | null;
  matchedField: { identifier: string } | null;
}

export interface ShownRun {
  ok: boolean;
  output: unknown;
  console: string[];
  error: { kind: string; message: string; line: number | null; column: number | null } | null;
  durationMs: number;
  entries: Outcome[];
}

export interface ShownCall {
  id: string;
  receivedAt: string;
  method: string;
  path: string;
  query: Record<string, string[]>;
  headers: Record<string, string>;
  body: string;
  bodyTruncated: boolean;
  status: string;
  httpStatus: number;
  decoderVersion: number | null;
  run: ShownRun | null;
}

export const RUN_FIELDS = `ok output console durationMs error { kind message line column }
  entries { index device field value timestamp code message matchedDevice { id } matchedField { identifier } }`;
export const CALL_FIELDS = `id receivedAt method path query headers body bodyTruncated status httpStatus decoderVersion
  run { ${RUN_FIELDS} }`;

/** One call to a product's webhook; a POST with the body unless told otherwise. */
export async function callWebhook(
  server: TestServer,
  product: Pick<TestProduct, 'webhookId'>,
  call: { method?: string; path?: string; headers?: Record<string, string>; body?: string | Uint8Array | null },
): Promise<RestAnswer> {
  const { method = 'POST', path = '', headers = {}, body } = call;
  const response = await fetch(`${server.url}/integrations/api/${product.webhookId}/${path}`, {
    method,
    // A Blob has no type of its own: nothing is added to what the test sends.
    headers,
    body: body == null ? null : new Blob([body]),
  });
  return readAnswer(response);
}

/** Newest first. */
export async function callsOf(server: TestServer, productId: string, filter = ''): Promise<ShownCall[]> {
  const { product } = await server.gql<{ product: { calls: { edges: { node: ShownCall }[] } } }>(
    `query ($id: ID!) { product(id: $id) { calls(first: 500 ${filter}) { edges { node { ${CALL_FIELDS} } } } } }`,
    { id: productId },
  );
  return product.calls.edges.map(({ node }) => node);
}

export async function saveDecoder(
  server: TestServer,
  productId: string,
  source: string,
  force = false,
): Promise<number> {
  const { saveDecoder: saved } = await server.gql<{ saveDecoder: { version: number } }>(
    'mutation ($id: ID!, $source: String!, $force: Boolean) { saveDecoder(productId: $id, source: $source, force: $force) { version } }',
    { id: productId, source, force },
  );
  return saved.version;
}

/** Identifier → value of the latest measurement of each field. */
export async function latestOf(server: TestServer, deviceId: string): Promise<Record<string, unknown>> {
  const { device } = await server.gql<{ device: { latest: { field: { identifier: string }; value: unknown }[] } }>(
    'query ($id: ID!) { device(id: $id) { latest { field { identifier } value } } }',
    { id: deviceId },
  );
  return Object.fromEntries(device.latest.map(({ field, value }) => [field.identifier, value]));
}

/** The raw values of a field in time order: [Unix seconds, value]. */
export async function historyOf(server: TestServer, deviceId: string, field: string): Promise<[number, unknown][]> {
  const { device } = await server.gql<{ device: { history: { timestamps: number[]; values: unknown[] }[] } }>(
    `query ($id: ID!, $field: String!) {
       device(id: $id) { history(fields: [$field], from: "1970-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z") { timestamps values } }
     }`,
    { id: deviceId, field },
  );
  const [series] = device.history;
  return (series?.timestamps ?? []).map((timestamp, at) => [timestamp, series?.values[at]]);
}
