import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../../support/server-process.ts';
import { createMember, createToken } from '../../support/tenant.ts';
import { createProduct, type TestServer } from '../../support/server.ts';
import { fillRows } from './fill-rows.ts';
import type { Size, World } from './world.ts';
import { makeDashboard } from './dashboard-ways.ts';
import { NOWHERE } from './endpoint-ways.ts';
import { ALARM } from './rule-ways.ts';

const SECRETS = 12;
/** What one call of the record endpoint may hold. */
const BATCH = 10_000;
const LONG_VALUE = 4_000;

/** Of these calls each takes until its decoder is ended. */
/** Calls whose decoder takes its time, and then throws. */
const SLOW = { calls: 8, body: 'slow', ms: 60 };
const MOST_TRIES = 20;

/** Prints and returns as much as the log keeps of a call. */
const DECODER = `function Decoder(r) {
  if (r.body === '${SLOW.body}') {
    for (const until = Date.now() + ${SLOW.ms}; Date.now() < until;);
    throw new Error('slow');
  }
  const many = r.body.length > 1000 ? 400 : 4;
  for (let at = 0; at < many; at++) console.log('x'.repeat(100));
  const entries = Array.from({ length: many }, (_, at) => ({ device: 'd0', field: 'nofield' + at, value: 'y'.repeat(100) }));
  return [...entries, { device: 'd0', field: 'f2', value: 1 }];
}`;

/**
 * Fills an empty database through a server and, where that would take minutes, as rows; resolves with a server that has
 * read none of it before, and with what was filled in.
 */
export async function fill(
  databaseUrl: string,
  size: Size,
  start: () => Promise<TestServer>,
): Promise<{ server: TestServer; world: World }> {
  const before = await start();
  let made: Awaited<ReturnType<typeof fillThrough>>;
  try {
    made = await fillThrough(before, size);
  } finally {
    await before.stop();
  }
  const rows = await fillRows(databaseUrl, size, made);
  const server = await start();
  await breakOffReplay(server, made);
  const world = { size, ...made, ...rows, ...(await lookUp(server, made)), next: counter() };
  return { server, world: { ...world, deviceIds: made.deviceIds } };
}

/** What goes through a server. */
async function fillThrough(server: TestServer, size: Size) {
  const { workspaces } = await server.gql('{ workspaces { id } }');
  const workspaceId: string = workspaces[0].id;
  const fields = Object.fromEntries(
    Array.from({ length: size.fields }, (_, at) => [`f${at}`, at % 2 === 0 ? 'FLOAT' : 'STRING']),
  );
  const serialNumbers = Array.from({ length: size.devices }, (_, at) => `d${at}`);
  const product = await createProduct(server, {
    workspaceId,
    fields: { ...fields, place: 'GEOLOCATION' },
    serialNumbers,
    input: { key: 'walked', decoder: DECODER, webhookAnswer: { body: '[]' } },
  });
  const spare = await createProduct(server, { workspaceId, serialNumbers: [], input: { decoder: DECODER } });
  await fillValues(server, size, product.deviceIds);
  await fillCalls(server, size, product.webhookId);
  await fillOverview(server, workspaceId, product);
  await server.gql('mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) { id } }', {
    p: product.id,
    i: ALARM,
  });
  const { createEndpoint } = await server.gql(
    'mutation ($w: ID!, $i: EndpointInput!) { createEndpoint(workspaceId: $w, input: $i) { endpoint { id } } }',
    { w: workspaceId, i: NOWHERE },
  );
  const endpointId: string = createEndpoint.endpoint.id;
  const { testEndpoint } = await server.gql('mutation ($id: ID!) { testEndpoint(id: $id) { id } }', { id: endpointId });
  const secrets: string[] = [];
  while (secrets.length < SECRETS) {
    const { createToken } = await server.gql(
      'mutation { createToken(input: { name: "walk", kind: PERSONAL }) { secret } }',
    );
    secrets.push(createToken.secret);
  }
  const { email, token } = await createMember(server, workspaceId, 'ADMIN');
  return {
    workspaceId,
    productId: product.id,
    webhookId: product.webhookId,
    spareProductId: spare.id,
    deviceIds: product.deviceIds,
    endpointId,
    dashboardId: await makeDashboard(server, { size, workspaceId, deviceIds: product.deviceIds }),
    deliveryId: testEndpoint.id as string,
    secrets,
    person: { email, secret: token },
  };
}

async function fillValues(server: TestServer, size: Size, [most, long, many, ...others]: string[]): Promise<void> {
  const record = async (device: string, entries: unknown[]): Promise<void> => {
    const { status, body } = await server.record(device, entries);
    if (status !== 200) throw new Error(`not recorded: ${status} ${JSON.stringify(body).slice(0, 300)}`);
  };
  const total = size.thousandValues * 1000;
  for (let from = 0; from < total; from += BATCH)
    await record(
      most!,
      Array.from({ length: Math.min(BATCH, total - from) }, (_, at) => ({
        field: 'f0',
        value: (from + at) * 1.23456789,
        timestamp: 1e9 + from + at,
      })),
    );
  const texts = Array.from({ length: Math.floor(size.fields / 2) }, (_, at) => `f${at * 2 + 1}`);
  const value = 'v'.repeat(Math.min(LONG_VALUE, size.text));
  for (let from = 0; from < texts.length; from += 50)
    await record(
      long!,
      texts.slice(from, from + 50).map((field) => ({ field, value, timestamp: 1e9 })),
    );
  for (let from = 0; from < total; from += 50_000)
    await record(
      many!,
      Array.from({ length: 200 }, (_, at) => ({ field: 'f1', value, timestamp: 1e9 + from / 250 + at })),
    );
  const one = Object.keys(Array.from({ length: size.fields })).map((at) => ({
    field: `f${at}`,
    value: Number(at) % 2 === 0 ? Number(at) : 'a short text',
    timestamp: 1e9,
  }));
  for (const device of [most!, ...others.slice(0, size.parts / 2)]) await record(device, one);
}

/** What the overview of a workspace shows beside numbers: a device with a place, and a decoder that fails. */
async function fillOverview(
  server: TestServer,
  workspaceId: string,
  { id, deviceIds }: { id: string; deviceIds: string[] },
): Promise<void> {
  const { product } = await server.gql('query ($id: ID!) { product(id: $id) { field(identifier: "place") { id } } }', {
    id,
  });
  await server.gql('mutation ($id: ID!) { updateField(id: $id, input: { role: LOCATION }) { id } }', product.field);
  await server.record(deviceIds[0]!, { field: 'place', value: '(52.52,13.405)' });
  const decoder = 'function Decoder() { throw new Error("fails"); }';
  const failing = await createProduct(server, { workspaceId, serialNumbers: [], input: { decoder } });
  await fetch(`${server.url}/integrations/api/${failing.webhookId}/`, { method: 'POST', body: '{}' });
}

async function fillCalls(server: TestServer, size: Size, webhookId: string): Promise<void> {
  const headers: Record<string, string> = { 'content-type': 'text/plain' };
  for (let at = 0; at < 20; at++) headers[`x-h${at}`] = 'h'.repeat(Math.min(300, size.text));
  const query = Array.from({ length: 60 }, (_, at) => `k${at}=${'u'.repeat(50)}`).join('&');
  const bodies = [
    ...Array.from({ length: SLOW.calls }, () => SLOW.body),
    ...Array.from({ length: size.calls }, () => 'b'.repeat(size.text)),
  ];
  for (const body of bodies) {
    const url = `${server.url}/integrations/api/${webhookId}/a?${query}`;
    await (await fetch(url, { method: 'POST', headers, body })).arrayBuffer();
  }
}

/** A replay whose token ends meanwhile: its progress stays to be seen. */
async function breakOffReplay(
  server: TestServer,
  { workspaceId, productId }: { workspaceId: string; productId: string },
): Promise<void> {
  const progress = async (): Promise<unknown> =>
    (await server.gql('query ($id: ID!) { product(id: $id) { replayProgress { calls } } }', { id: productId })).product
      .replayProgress;
  const query = 'mutation ($id: ID!) { replayCalls(productId: $id, status: [DECODER_FAILED], dryRun: true) { calls } }';
  // On a busy machine one may be over before its token is.
  for (let tries = 0; tries < MOST_TRIES && (await progress()) === null; tries++) {
    const { id, secret } = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ', 'RECORD', 'CONFIGURE']);
    const state = { isOver: false };
    const replay = server.query(query, { id: productId }, secret).finally(() => (state.isOver = true));
    while (!state.isOver && (await progress()) === null) await pause(SLOW.ms / 10);
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id });
    await replay;
  }
}

/** What only the server can say: cursors, and ids of what has only a number as a row. */
async function lookUp(
  server: TestServer,
  { workspaceId, productId, deviceIds }: { workspaceId: string; productId: string; deviceIds: string[] },
) {
  const page = 'edges { node { id } } pageInfo { endCursor }';
  const found = await server.gql(
    `query ($w: ID!, $p: ID!, $d: ID!) {
       devices(first: 2) { ${page} } products(first: 2) { ${page} } users(first: 2) { ${page} } auditLog(workspaceId: $w, first: 2) { ${page} }
       device(id: $d) { measurements(field: "f0", first: 2) { pageInfo { endCursor } } }
       product(id: $p) { field(identifier: "f0") { id } configurationFields { id } calls(first: 100, status: [STORED, PARTLY_STORED]) { ${page} } searchCalls(first: 1) { next } }
     }`,
    { w: workspaceId, p: productId, d: deviceIds[0] },
  );
  const endOf = ({ pageInfo }: any): string => pageInfo.endCursor;
  return {
    fieldId: found.product.field.id as string,
    configurationFieldId: found.product.configurationFields[0].id as string,
    callIds: found.product.calls.edges.map(({ node }: any) => node.id as string) as string[],
    cursors: {
      devices: endOf(found.devices),
      products: endOf(found.products),
      users: endOf(found.users),
      auditLog: endOf(found.auditLog),
      measurements: endOf(found.device.measurements),
      calls: endOf(found.product.calls),
      searchCalls: found.product.searchCalls.next as string,
    },
  };
}

function counter(): () => number {
  let last = 0;
  return () => (last += 1);
}
