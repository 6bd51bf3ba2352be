import { WebSocket } from 'ws';
import { ADMIN_TOKEN, type ServerProcess } from '../support/server-process.ts';
import type { Counts, Unit } from './cost-model.ts';
import { type NextRequest, postRequest } from './generator.ts';
import { END, FIELDS, MINUTE, YEAR_MINUTES } from './history-data.ts';

/** Devices that send calls and may be watched. */
const DEVICES = 100;
const SOCKETS = 10;
const VALUES_A_CHUNK = 1_000;
const JSON_TYPE = 'Content-Type: application/json';
const HEADERS = [JSON_TYPE, `Authorization: Token ${ADMIN_TOKEN}`];
const DECODER = `function Decoder(request) {
  var body = JSON.parse(request.body);
  return body.values.map(function (value, at) {
    return { device: body.serial, field: 'field_' + at, value: value, timestamp: body.time / 1000 };
  });
}`;
const OF_DEVICE =
  'subscription ($d: ID!) { measurementsRecorded(deviceIds: [$d]) { cursor measurements { value timestamp field { identifier } } } }';

/** A request, and what it consists of. */
export interface Operation {
  counts: Counts;
  next: NextRequest;
}

/** What the operations are about. */
export interface Place {
  webhookId: string;
  productId: string;
  /** Of the product of the webhook. */
  devices: string[];
  /** Has a year of minutes. */
  year: string;
}

let clock = 1_700_000_000_000;

/** A second product, with a decoder, ten fields and devices that have a value of each. */
export async function fillPlace(server: ServerProcess, year: string): Promise<Place> {
  const fields = Array.from({ length: FIELDS }, (_, at) => ({ identifier: `field_${at}`, type: 'FLOAT', unit: '°C' }));
  const { createProduct: product } = await server.gql<{ createProduct: { id: string; webhookId: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id webhookId } }',
    { input: { name: 'costs', fields, decoder: DECODER } },
  );
  const { createDevices: created } = await server.gql<{ createDevices: { id: string }[] }>(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    {
      id: product.id,
      devices: Array.from({ length: DEVICES }, (_, at) => ({ name: `cost ${at}`, serialNumber: `serial-${at}` })),
    },
  );
  const devices = created.map(({ id }) => id);
  for (const id of devices)
    await fetch(`${server.url}/v1/devices/${id}/record/`, {
      method: 'POST',
      headers: { Authorization: `Token ${ADMIN_TOKEN}` },
      body: entries(FIELDS),
    });
  return { webhookId: product.webhookId, productId: product.id, devices, year };
}

/** Records so many values: ten at each moment, each moment once. `subscribers` of each device, if there are any. */
export function record(devices: readonly string[], values: number, subscribers?: number): Operation {
  const moments = Math.ceil(values / FIELDS);
  const watched: Counts =
    subscribers === undefined
      ? {}
      : { look: moments, watched: subscribers > 0 ? moments : 0, event: moments * subscribers };
  return {
    counts: { record: 1, recordValue: values, ...watched },
    next: (connection, sequence) =>
      postRequest(`/v1/devices/${devices[(connection * 7 + sequence) % devices.length]}/record/?batch=true`, HEADERS, entries(values)), // oxfmt-ignore
  };
}

/** A call whose decoder yields so many values. */
export function call({ webhookId }: Place, values: number): Operation {
  const numbers = Array.from({ length: values }, (_, at) => 20.25 + at);
  return {
    counts: { call: 1, callValue: values },
    next: (connection, sequence) =>
      postRequest(
        `/integrations/api/${webhookId}/`,
        [JSON_TYPE],
        `{"serial":"serial-${(connection * 7 + sequence) % DEVICES}","time":${(clock += 1)},"values":${JSON.stringify(numbers)}}`,
      ),
  };
}

/** A chart of so many fields over so many days, in buckets of so many minutes; left out: each value. */
export function chart({ year }: Place, days: number, fields = 1, bucketMinutes?: number): Operation {
  const shown = Array.from({ length: fields }, (_, at) => `"field_${at}"`).join();
  const resolution = bucketMinutes === undefined ? '' : `, resolution: "${bucketMinutes}m"`;
  const query = `query ($id: ID!, $from: DateTime!, $to: DateTime!) { device(id: $id) {
    history(fields: [${shown}], from: $from, to: $to${resolution}) { timestamps values } } }`;
  const minutes = days * 1_440;
  const points = Math.ceil(minutes / (bucketMinutes ?? 1));
  return {
    counts: { query: 1, chart: fields, chunk: fields * Math.ceil(minutes / VALUES_A_CHUNK), point: fields * points },
    next: (connection, sequence) => {
      const to = END - (((connection * 31 + sequence) * 1_440) % (YEAR_MINUTES - minutes + 1)) * MINUTE;
      const iso = (at: number): string => new Date(at).toISOString();
      // Different, as equal questions that wait are answered together.
      const variables = { id: year, from: iso(to - minutes * MINUTE), to: iso(to), n: connection * 1e6 + sequence };
      return postRequest('/graphql', HEADERS, JSON.stringify({ query, variables }));
    },
  };
}

/** A page of so many devices with the latest values of ten fields. */
export function list({ productId }: Place, devices: number): Operation {
  const query = `query ($p: ID!) { devices(productId: $p, first: ${devices}) { edges { node {
    name online lastHeardAt latest { timestamp value field { identifier unit } } } } } }`;
  return {
    counts: { list: 1, listed: devices },
    next: (connection, sequence) =>
      postRequest('/graphql', HEADERS, JSON.stringify({ query, variables: { p: productId, n: connection * 1e6 + sequence } })), // oxfmt-ignore
  };
}

/** The operations in turn on each connection. `counts`: of all that were asked for. */
export function inTurn(operations: readonly Operation[]): Operation {
  const counts: Counts = {};
  return {
    counts,
    next: (connection, sequence) => {
      const operation = operations[(connection + sequence) % operations.length]!;
      addCounts(counts, operation.counts);
      return operation.next(connection, Math.floor(sequence / operations.length));
    },
  };
}

function addCounts(to: Counts, more: Counts): void {
  for (const [unit, count] of Object.entries(more) as [Unit, number][]) to[unit] = (to[unit] ?? 0) + count;
}

/** Subscribers, so many of each device, over ten sockets that read all they get; the function ends them. */
export async function subscribe(port: number, devices: readonly string[], each: number): Promise<() => void> {
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => connected(port)));
  for (let i = 0; i < devices.length * each; i++) {
    const payload = { query: OF_DEVICE, variables: { d: devices[i % devices.length] } };
    sockets[i % SOCKETS]!.send(JSON.stringify({ id: String(i), type: 'subscribe', payload }));
  }
  // Subscriptions are not acknowledged.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  return () => sockets.forEach((socket) => socket.terminate());
}

function connected(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { token: ADMIN_TOKEN } })));
    socket.on('message', (data: Buffer) => {
      const text = data.toString('latin1');
      if (text.includes('"connection_ack"')) resolve(socket);
      else if (text.includes('"type":"error"')) throw new Error(text);
    });
  });
}

function entries(values: number): string {
  const all: string[] = [];
  for (let at = 0; at < values; at++) {
    if (at % FIELDS === 0) clock += 1;
    all.push(`{"field":"field_${at % FIELDS}","value":${20 + at / 8},"timestamp":${clock / 1000}}`);
  }
  return `[${all.join()}]`;
}
