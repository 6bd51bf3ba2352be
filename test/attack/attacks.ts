import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { createProduct, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createToken } from '../support/tenant.ts';

/** What an attack aims at, all of it the attacker's own. */
export interface AttackGround {
  server: TestServer;
  /** Of the one token that does its worst. */
  secret: string;
  productId: string;
  webhookId: string;
  deviceIds: string[];
}

/** Begins, and gives what ends it, which resolves with how many answers came. */
export type Attack = (ground: AttackGround) => Promise<() => Promise<number>>;

const FIELDS = Array.from({ length: 10 }, (_, at) => `field_${at}`);
const DEVICES = 300;
/** Values of each of `POINT_DEVICES` devices in each field. */
const POINTS = 1_000;
const POINT_DEVICES = 10;
const CALLS = 200;
const PARALLEL = 8;
const START = 1_767_225_600;

/** A million empty lines. */
const NOTHING = gzipSync('\n'.repeat(1_000_000));

/** As dear as it gets: refused with a little more. */
const DEAR = `query ($p: ID!) { devices(productId: $p, first: 300) { edges { node {
  id name serialNumber tags online lastHeardAt product { id name fields { id identifier type unit } }
  latest { timestamp value field { identifier type unit } }
} } } }`;
const HISTORY = `query ($d: [ID!]) { history(deviceIds: $d, from: "2026-01-01T00:00:00Z", to: "2026-01-03T00:00:00Z", maxPoints: 1000) {
  series { timestamps values } } }`;
const TEST = `mutation ($p: ID!, $source: String) { testDecoder(productId: $p, source: $source, request: { body: "{}" }) { ok console } }`;
const REPLAY = `mutation ($p: ID!) { replayCalls(productId: $p) { calls stored results { call { status } run { durationMs output } } } }`;
const SAVE = `mutation ($p: ID!, $s: String!) { saveDecoder(productId: $p, source: $s) { version } }`;
const RENAME = `mutation ($d: ID!, $n: String) { updateDevice(id: $d, input: { name: $n }) { id } }`;
const DELETE = `mutation ($d: ID!) { deleteMeasurements(deviceId: $d, from: "2020-01-01T00:00:00Z", to: "2021-01-01T00:00:00Z") { measurements } }`;

/** A token with everything but ADMIN, 300 devices with ten fields, 100,000 values, 200 calls. */
export async function prepareGround(server: TestServer): Promise<AttackGround> {
  const product = await createProduct(server, {
    fields: Object.fromEntries(FIELDS.map((field) => [field, 'FLOAT'])),
    serialNumbers: Array.from({ length: DEVICES }, (_, at) => `serial-${at}`),
    input: { decoder: 'function Decoder(r) { return [{ device: "serial-9", field: "field_1", value: 1 }] }' },
  });
  await requireValid(server);
  const { workspaces } = await server.gql('{ workspaces { id } }');
  const { secret } = await createToken(server, ADMIN_TOKEN, workspaces[0].id, ['READ', 'RECORD', 'CONFIGURE']);
  const values = FIELDS.map((field, at) => ({ field, value: at, timestamp: START }));
  await Promise.all(product.deviceIds.map((id) => server.record(id, values)));
  const ground = { server, secret, productId: product.id, ...product };
  for (let at = 0; at < POINT_DEVICES; at += 1) await importFile(ground, csv(`serial-${at}`, START, POINTS));
  for (let at = 0; at < CALLS; at += 1)
    await fetch(`${server.url}/integrations/api/${product.webhookId}/`, { method: 'POST', body: `${at}` });
  return ground;
}

/** Throws when a document of an attack is refused before it runs: it would be no attack. */
async function requireValid(server: TestServer): Promise<void> {
  for (const document of [DEAR, HISTORY, TEST, REPLAY, SAVE, RENAME, DELETE]) {
    const answer = await (await send(server, ADMIN_TOKEN, document, {})).text();
    if (answer.includes('GRAPHQL_VALIDATION_FAILED')) throw new Error(`${document}: ${answer}`);
  }
}

/** Whatever one token can do to others, as much of it as it is let do at a time. */
export const ATTACKS = {
  'dear queries': inLoops(async (ground, number) =>
    // Each with a text of its own, so that nothing is remembered.
    ask(ground, DEAR.replace('query ', `query Q${number} `), { p: ground.productId }),
  ),
  'dear subscriptions': dearSubscriptions,
  'histories of many points': inLoops((ground) =>
    ask(ground, HISTORY, { d: ground.deviceIds.slice(0, POINT_DEVICES) }),
  ),
  'searches among many devices': searches,
  'documents that are refused': inLoops((ground) => ask(ground, '{ nothing }', {})),
  'exports read slowly': slowExports,
  'exports in loops': inLoops(({ server, secret, productId }) =>
    fetch(`${server.url}/v1/export.csv?product=${productId}&from=2026-01-01&to=2026-02-01`, {
      headers: { Authorization: `Token ${secret}` },
    }),
  ),
  imports: inLoops((ground, number) =>
    importFile(ground, csv(`serial-${20 + (number % 50)}`, START + number * 60_000, 200)),
  ),
  'imports of devices that nobody has': inLoops((ground, number) => importFile(ground, strangers(number))),
  'imports of nothing, packed': inLoops(({ server, secret }) =>
    fetch(`${server.url}/v1/import`, {
      method: 'POST',
      headers: { Authorization: `Token ${secret}`, 'Content-Type': 'text/csv', 'Content-Encoding': 'gzip' },
      body: NOTHING,
    }),
  ),
  'decoders tried': inLoops((ground) =>
    ask(ground, TEST, {
      p: ground.productId,
      source: 'function Decoder() { for (;;) console.log(new Array(1000).join()) }',
    }),
  ),
  'decoders saved': inLoops((ground, number) =>
    ask(ground, SAVE, {
      p: ground.productId,
      s: `function Decoder() { return [] } // ${number} ${'x'.repeat(100_000)}`,
    }),
  ),
  'devices renamed': inLoops((ground, number) =>
    ask(ground, RENAME, { d: ground.deviceIds[number % DEVICES], n: `renamed ${number}` }),
  ),
  replays: inLoops((ground) => ask(ground, REPLAY, { p: ground.productId })),
  'deletions of many values': inLoops(async (ground, number) => {
    const at = 100 + (number % PARALLEL);
    await importFile(ground, csv(`serial-${at}`, 1_590_000_000, 1_000));
    return ask(ground, DELETE, { d: ground.deviceIds[at] });
  }),
  'passwords guessed': inLoops(({ server }, number) => {
    const query = 'mutation ($e: String!) { signIn(email: $e, password: "12345678") { secret } }';
    return send(server, null, query, { e: `nobody${number}@example.org` });
  }, 20),
} satisfies Record<string, Attack>;

/** So many loops that ask again as soon as they are answered; what comes back is read to its end. */
function inLoops(once: (ground: AttackGround, number: number) => Promise<Response>, loops = PARALLEL): Attack {
  return async (ground) => {
    let answered = 0;
    let number = 0;
    const state = { isOver: false };
    const loop = async (): Promise<void> => {
      while (!state.isOver) {
        const answer = await once(ground, (number += 1));
        await answer.arrayBuffer();
        answered += 1;
        // Who is refused comes again, but does not spin.
        if (answer.status >= 429) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const running = Array.from({ length: loops }, loop);
    return async () => {
      state.isOver = true;
      await Promise.all(running);
      return answered;
    };
  };
}

const SEARCHED_DEVICES = 30_000;
const DEVICES_A_CALL = 2_000;
const withMany = new WeakSet<AttackGround>();

/** Of texts that nothing has: all devices are looked through. */
async function searches(ground: AttackGround): Promise<() => Promise<number>> {
  if (!withMany.has(ground)) {
    const { id } = await createProduct(ground.server, { serialNumbers: [] });
    for (let done = 0; done < SEARCHED_DEVICES; done += DEVICES_A_CALL)
      await ground.server.gql(
        'mutation ($p: ID!, $d: [DeviceInput!]!) { createDevices(productId: $p, devices: $d, plan: "unlimited") { id } }',
        { p: id, d: Array.from({ length: DEVICES_A_CALL }, (_, at) => ({ name: `one of many, ${done + at}` })) },
      );
    withMany.add(ground);
  }
  const search = (_: AttackGround, number: number): Promise<Response> =>
    ask(ground, `{ devices(first: 1, search: "no such name ${number}") { edges { node { id } } } }`, {});
  return inLoops(search)(ground);
}

/** Twenty on one socket, to a device that is written all the time. */
async function dearSubscriptions({ server, secret, deviceIds }: AttackGround): Promise<() => Promise<number>> {
  const client = createClient({
    url: `${server.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: secret },
    retryAttempts: 0,
  });
  let answered = 0;
  // As many names as an operation may have, three of each list of fields.
  const lists = Array.from({ length: 30 }, (_, at) => {
    const fields = JSON.stringify([...FIELDS.slice(at % 10), ...FIELDS.slice(0, at % 10)]);
    return `a${at}: latest(fields: ${fields}) { timestamp value field { identifier unit } }`;
  });
  const query = `subscription ($d: [ID!]) { measurementsRecorded(deviceIds: $d) { cursor device { ${lists.join(' ')} } } }`;
  for (let at = 0; at < 20; at += 1)
    client.subscribe(
      { query, variables: { d: deviceIds.slice(0, 1) } },
      { next: () => (answered += 1), error: () => {}, complete: () => {} },
    );
  await new Promise((resolve) => setTimeout(resolve, 300));
  return async () => {
    await client.dispose();
    return answered;
  };
}

/** Forty connections that take a kilobyte a tenth of a second. */
async function slowExports({ server, secret, productId }: AttackGround): Promise<() => Promise<number>> {
  let answered = 0;
  const head = `GET /v1/export.ndjson?product=${productId}&from=2026-01-01&to=2026-02-01 HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${secret}\r\n\r\n`;
  const sockets: Socket[] = Array.from({ length: 40 }, () => {
    const socket = connect({ port: server.process.port, host: '127.0.0.1', onread: undefined });
    socket.on('error', () => {});
    socket.once('data', () => (answered += 1));
    socket.on('data', () => {
      socket.pause();
      setTimeout(() => socket.resume(), 100);
    });
    socket.write(head);
    return socket;
  });
  return async () => {
    for (const socket of sockets) socket.destroy();
    return answered;
  };
}

function csv(serial: string, from: number, points: number): string {
  const rows = ['device,field,timestamp,value'];
  for (let at = 0; at < points; at += 1)
    for (const field of FIELDS) rows.push(`${serial},${field},${from + at * 60},${at}`);
  return rows.join('\n');
}

/** Every line names another device. */
function strangers(number: number): string {
  const rows = Array.from({ length: 1_000 }, (_, at) => `stranger-${number}-${at},field_1,${START},1`);
  return ['device,field,timestamp,value', ...rows].join('\n');
}

function importFile({ server, secret }: AttackGround, body: string): Promise<Response> {
  const headers = { Authorization: `Token ${secret}`, 'Content-Type': 'text/csv' };
  return fetch(`${server.url}/v1/import`, { method: 'POST', headers, body });
}

function ask({ server, secret }: AttackGround, query: string, variables: unknown): Promise<Response> {
  return send(server, secret, query, variables);
}

function send(server: TestServer, secret: string | null, query: string, variables: unknown): Promise<Response> {
  const headers = {
    'Content-Type': 'application/json',
    ...(secret === null ? {} : { Authorization: `Token ${secret}` }),
  };
  return fetch(`${server.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
}
