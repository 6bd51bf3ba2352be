import { gzipSync } from 'node:zlib';
import type { TestServer } from '../support/server.ts';
import { sendBytes, sendFrames } from './bare-sockets.ts';
import type { Chance } from './chance.ts';
import { Cursors } from './cursors.ts';
import { fileQuery, fileText } from './file-texts.ts';
import type { GrownOperations } from './grown-operation.ts';
import { KeepAlive } from './keep-alive.ts';
import { lyingDecoder } from './lying-decoders.ts';
import { mass } from './mass.ts';
import { packets } from './packets.ts';
import { resume } from './resume.ts';
import type { Targets } from './targets.ts';
import { uplink } from './uplink.ts';

// oxfmt-ignore
export type Kind =
  'record' | 'webhook' | 'network' | 'raw' | 'graphql' | 'socket' | 'decoder' | 'file' | 'page' | 'cursor' | 'mass' | 'mqtt';

/** One case: what it is, for people; how many inputs; and the way to send it, which gives what came back, '' for nothing. */
export interface Case {
  text: string;
  count?: number;
  send: (limit: AbortSignal) => Promise<string>;
}

interface ActiveTenantsDeps {
  targets: Targets;
  operations: GrownOperations;
  connections: number;
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'];
const NETWORKS = [
  'lorawan/tti',
  'lorawan/chirpstack',
  'lorawan/helium',
  'particle',
  'lorawan/actility',
  'lorawan/nothing',
];
const PATHS = [
  '/', '/console', '/console/', '/console/../../package.json', '/console/..%2f..%2fpackage.json', '/console/assets/', '/console/assets/%00',
  '/console/graphql', '/console/session', '/metrics', '/v1/openapi.json', '/readyz', '/v1/', '/v1/devices//record', '/v1/devices/%2e%2e/record',
]; // oxfmt-ignore
const TARGETS = [
  '/',
  '/healthz',
  '/graphql',
  'http://[::1',
  '*',
  '//',
  'http://x/healthz',
  '/v1/import',
  '/v1/devices/serial-1/record/',
];
const ODD_HEADERS = [
  'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: xchunked', 'Content-Length: 10', 'Content-Length: -1',
  'Content-Length: 99999999999', 'Upgrade: h2c', 'Connection: Upgrade', 'Expect: 100-continue', 'Expect: x', 'Upgrade: websocket', 'Content-Encoding: gzip',
  'Cookie: inlet_session=%zz', 'Origin: http://[', 'X-Forwarded-For: x, 1.1.1.1', `X-Long: ${'x'.repeat(20_000)}`, 'Content-Type: text/csv',
]; // oxfmt-ignore
/** Makes cases by chance: the same chances make the same case, as long as the same targets are there. */
export class ActiveTenants {
  readonly #server: TestServer;
  readonly #targets: Targets;
  readonly #operations: GrownOperations;
  readonly #http: KeepAlive;
  readonly #mqttPort: number;
  readonly #cursors = new Cursors();

  constructor(server: TestServer, { targets, operations, connections }: ActiveTenantsDeps) {
    this.#server = server;
    this.#targets = targets;
    this.#operations = operations;
    this.#http = new KeepAlive(server.url, connections);
    this.#mqttPort = Number(server.process.lines.find(({ msg }) => msg === 'MQTT: listening')?.['port']);
  }

  end(): void {
    this.#http.end();
  }

  make(kind: Kind, chance: Chance): Case {
    switch (kind) {
      case 'record':
        return this.#record(chance);
      case 'webhook':
        return this.#webhook(chance);
      case 'network':
        return this.#request(
          chance,
          `/integrations/${chance.pick(NETWORKS)}/?event=up`,
          chance.jsonText(uplink(chance)),
        );
      case 'file':
        return this.#file(chance);
      case 'page':
        return this.#page(chance);
      case 'graphql':
        return this.#graphql(chance);
      case 'decoder':
        return this.#decoder(chance);
      case 'socket':
        return this.#socket(chance);
      case 'raw':
        return this.#raw(chance);
      case 'cursor':
        return this.#cursor(chance);
      case 'mass':
        return this.#mass(chance);
      case 'mqtt':
        return this.#mqtt(chance);
    }
  }

  #device(chance: Chance): string {
    return chance.pick(this.#product(chance).deviceIds);
  }

  #product(chance: Chance): Targets['products'][number] {
    const { products, liars } = this.#targets;
    return products.length === 0 ? liars : chance.pick(products);
  }

  #record(chance: Chance): Case {
    const entry = (): unknown =>
      chance.of(0.7)
        ? {
            field: chance.of(0.7) ? chance.pick(['temperature', 'count', 'open', 'note', 'place']) : chance.text(),
            value: chance.json(1),
            ...(chance.of(0.5) ? { timestamp: chance.of(0.5) ? chance.number() : chance.json(1) } : {}),
          }
        : chance.json();
    const body = chance.jsonText(chance.of(0.8) ? Array.from({ length: chance.int(6) }, entry) : entry());
    const name = chance.of(0.8) ? this.#device(chance) : encodeURIComponent(chance.text().toWellFormed());
    const path = `/v1/devices/${name}/record/${chance.of(0.3) ? `?${chance.text()}` : ''}`;
    return this.#request(chance, path, body);
  }

  #webhook(chance: Chance): Case {
    const id = chance.of(0.9) ? this.#product(chance).webhookId : chance.text();
    return this.#request(chance, `/integrations/api/${id}/${chance.text()}?${chance.text()}`, chance.jsonText());
  }

  #file(chance: Chance): Case {
    const [path, type] = chance.pick([
      [`/v1/devices/${this.#device(chance)}/history.${chance.pick(['csv', 'ndjson'])}`, ''],
      ['/v1/export.ndjson', ''],
      [`/v1/devices/${this.#device(chance)}/import`, 'text/csv'],
      ['/v1/import', 'application/x-ndjson'],
      ['/v1/import', 'text/csv'],
      ['/write', 'text/plain'],
      ['/api/v2/write', 'text/plain'],
    ] as const);
    return this.#request(chance, `${path}?${fileQuery(chance)}`, type === '' ? null : fileText(chance, type), type);
  }

  #page(chance: Chance): Case {
    const path = chance.of(0.7) ? chance.pick(PATHS) : `/console/${chance.text()}`;
    const body = chance.of(0.5) ? chance.jsonText({ token: chance.text(), email: chance.json(1) }) : null;
    return this.#request(chance, path, body);
  }

  #graphql(chance: Chance): Case {
    const query = this.#operations.grow(chance, this.#targets.ids, chance.pick(['Query', 'Query', 'Mutation']));
    const body = {
      query: chance.of(0.1) ? chance.mutated(query) : query,
      ...(chance.of(0.1) ? { variables: chance.json() } : {}),
    };
    return this.#request(chance, '/graphql', chance.of(0.05) ? chance.jsonText(body) : JSON.stringify(body));
  }

  /** At any door, or as a header. */
  #mass(chance: Chance): Case {
    const { webhookId } = this.#product(chance);
    const webhook = `/integrations/api/${webhookId}/`;
    const device = `/v1/devices/${this.#device(chance)}`;
    const networks = NETWORKS.map((network) => `/integrations/${network}/`);
    const paths = [
      webhook,
      webhook,
      `${device}/record/`,
      `${device}/import`,
      '/v1/import',
      '/graphql',
      '/console/session',
    ];
    const path = chance.pick([...paths, ...networks]);
    const { body, type, text } = mass(chance);
    const headers = { Authorization: `Token ${this.#token(chance)}`, 'Content-Type': type };
    const isHeader = chance.of(0.1);
    const value = body.replaceAll(/[^\t -~\u00a0-\u00ff]/g, '').slice(0, 12_000);
    const sent: [Record<string, string>, string] = isHeader
      ? [{ ...headers, 'X-Token': `a${value}b` }, '{}']
      : [headers, body];
    return {
      text: `${path} ${isHeader ? 'as a header' : ''} ${text}`,
      send: (limit) => this.#http.send('POST', path, ...sent, limit).catch(() => ''),
    };
  }

  #mqtt(chance: Chance): Case {
    const [token, device, { webhookId }] = [this.#token(chance), this.#device(chance), this.#product(chance)];
    return packets(chance, { port: this.#mqttPort, token, device, webhookId });
  }

  #request(chance: Chance, path: string, body: string | null, type = 'application/json'): Case {
    const method = body === null ? 'GET' : chance.of(0.95) ? 'POST' : chance.pick(METHODS);
    // A client writes no blanks, controls and letters beyond ASCII into its first line; all else goes as it is.
    const safe = path.toWellFormed().replaceAll(/[^\x21-\x7e]|#/gu, encodeURIComponent);
    const headers = {
      Authorization: `Token ${this.#token(chance)}`,
      'Content-Type': chance.of(0.95)
        ? type || 'text/plain'
        : chance.pick(['', 'application/x-www-form-urlencoded', 'text/plain; charset=utf-99']),
      ...(chance.of(0.02)
        ? {
            'Sec-Fetch-Site': 'same-origin',
            Cookie: `inlet_session=${encodeURIComponent(chance.text().toWellFormed())}`,
          }
        : {}),
    };
    const zipped = chance.of(0.02);
    const encoding: Record<string, string> =
      zipped || chance.of(0.02)
        ? { 'Content-Encoding': zipped ? 'gzip' : chance.pick(['gzip', 'br', 'deflate', 'zstd', 'identity']) }
        : {};
    const sent = body === null || method === 'GET' || method === 'HEAD' ? null : zipped ? gzipSync(body) : body;
    return {
      text: `${method} ${safe}\n${body}`,
      send: (limit) => this.#http.send(method, safe, { ...headers, ...encoding }, sent, limit).catch(() => ''),
    };
  }

  #token(chance: Chance): string {
    if (chance.of(0.05)) return encodeURIComponent(chance.text().toWellFormed()).slice(0, 500);
    return chance.pick(chance.of(0.15) ? this.#targets.limited : this.#targets.callers);
  }

  /** The source, what it is tried on, and what it is called with. */
  #decoder(chance: Chance): Case {
    const source = lyingDecoder(chance);
    const isTriedUnsaved = chance.of(0.5);
    const body = chance.jsonText();
    const { id, webhookId } = this.#targets.liars;
    const called = this.#request(chance, `/integrations/api/${webhookId}/`, chance.jsonText());
    const token = chance.pick(this.#targets.callers);
    const ask = (query: string, variables: Record<string, unknown>, limit: AbortSignal): Promise<string> => {
      const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json' };
      return this.#http.send('POST', '/graphql', headers, JSON.stringify({ query, variables }), limit).catch(() => '');
    };
    const send = async (limit: AbortSignal): Promise<string> => {
      const answers = [
        await ask(
          'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source, force: true) { version } }',
          { id, source },
          limit,
        ),
        await ask(
          'mutation ($id: ID!, $source: String, $body: String) { testDecoder(productId: $id, source: $source, request: { body: $body }) { ok output console error { kind message line column } entries { index device field value timestamp code message } } }',
          { id, source: isTriedUnsaved ? source : null, body },
          limit,
        ),
        await called.send(limit),
        await ask(
          'query ($id: ID!) { product(id: $id) { calls(first: 3) { edges { node { status headers query body run { output console error { kind message line column } entries { value } } } } } } }',
          { id },
          limit,
        ),
      ];
      return answers.find((text) => /INTERNAL_SERVER_ERROR|^HTTP\/1\.1 500/.test(text)) ?? answers[2]!;
    };
    return { text: source, count: 3, send };
  }

  #socket(chance: Chance): Case {
    const frame = (): string => {
      const kind = chance.int(6);
      if (kind === 0) return chance.jsonText();
      if (kind === 1) return JSON.stringify({ type: chance.text(), id: chance.text(), payload: chance.json() });
      const type = chance.pick(['subscribe', 'subscribe', 'complete', 'ping', 'pong', 'connection_init', 'next']);
      const of = chance.pick(['Query', 'Subscription', 'Subscription', 'Mutation'] as const);
      const query = this.#operations.grow(chance, this.#targets.ids, of);
      return JSON.stringify({
        type,
        id: chance.pick(['1', '1', '2', chance.text(), 'x'.repeat(300)]),
        payload: { query },
      });
    };
    const frames = Array.from({ length: 1 + chance.int(20) }, frame).map((text) =>
      chance.of(0.95) ? text : Buffer.from(text.slice(0, chance.int(text.length))),
    );
    const protocol = chance.of(0.95) ? 'graphql-transport-ws' : 'x';
    const token = chance.of(0.95) ? this.#token(chance) : null;
    const isCut = chance.of(0.1);
    return {
      text: frames.join('\n'),
      count: frames.length,
      send: () => sendFrames(this.#server, frames, { protocol, token, isCut }),
    };
  }

  /** Resumes with a cursor while everybody records. */
  #cursor(chance: Chance): Case {
    const { readers, ids } = this.#targets;
    const reader = chance.pick(readers);
    const after = chance.of(0.1) ? null : this.#cursors.forged(chance, ids);
    const other = chance.pick(readers);
    const narrowed = chance.pick([{}, {}, {}, { d: [...reader.sees] }, { w: reader.workspaceId }, { d: [...other.sees] }, { w: other.workspaceId }]); // oxfmt-ignore
    const record = async (limit: AbortSignal): Promise<void> => {
      for (const { secret, sees } of readers)
        for (const id of sees) {
          const headers = { Authorization: `Token ${secret}`, 'Content-Type': 'application/json' };
          const body = '[{"field":"temperature","value":1}]';
          await this.#http.send('POST', `/v1/devices/${id}/record/`, headers, body, limit).catch(() => '');
        }
    };
    const onCursor = (cursor: string): void => this.#cursors.add(cursor);
    const send = (limit: AbortSignal): Promise<string> =>
      resume(this.#server, { reader, after, narrowed, record: () => record(limit), onCursor }, limit);
    return { text: JSON.stringify({ after, narrowed, sees: [...reader.sees] }), send };
  }

  #raw(chance: Chance): Case {
    const target = chance.of(0.5) ? chance.pick(TARGETS) : chance.text().replaceAll(/[\r\n ]/g, '');
    const head = [
      `${chance.of(0.9) ? chance.pick(METHODS) : chance.text()} ${target} HTTP/1.${chance.pick([0, 1, 1, 9])}`,
      'Host: x',
      `Authorization: Token ${chance.pick(this.#targets.callers)}`,
      ...Array.from({ length: chance.int(4) }, () =>
        chance.of(0.5) ? chance.pick(ODD_HEADERS) : `${chance.text()}: ${chance.text()}`,
      ),
    ].join('\r\n');
    const whole = `${head}\r\n\r\n${chance.jsonText()}`;
    const text = chance.of(0.4) ? chance.mutated(whole) : whole;
    const isEnded = chance.of(0.8);
    return { text, send: () => sendBytes(this.#server, text, isEnded) };
  }
}
