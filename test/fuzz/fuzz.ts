import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, type TestProduct, type TestServer } from '../support/server.ts';
import { Chance } from './chance.ts';
import { GrownOperations } from './grown-operation.ts';
import { KeepAlive } from './keep-alive.ts';
import { lyingDecoder } from './lying-decoders.ts';

/** No answer within this time is a freeze. */
const FREEZE_MS = 5_000;
const AT_ONCE = 24;
const MAX_FINDINGS = 20;

export interface FuzzOptions {
  seed: number;
  inputs: number;
  /** Ends earlier when this has passed. */
  withinMs?: number;
  onProgress?: (done: number) => void;
}

export interface FuzzResult {
  inputs: number;
  byKind: Record<string, number>;
  /** What went wrong, with the input that did it. */
  findings: string[];
}

/** Everything that anyone may send, and nothing that comes back may be a 500, a crash, a freeze or an error in the log. */
export async function fuzz(
  server: TestServer,
  { seed, inputs, withinMs, onProgress }: FuzzOptions,
): Promise<FuzzResult> {
  const fuzzer = new Fuzzer(server, await GrownOperations.of((query) => server.gql(query)));
  await fuzzer.prepare();
  const started = performance.now();
  const byKind: Record<string, number> = {};
  let done = 0;
  let begun = 0;
  // Decoders that lie wait for each other, as slow ones do: one of those who send has only them.
  const worker = async (kinds: readonly Kind[]): Promise<void> => {
    while (done < inputs && fuzzer.findings.length < MAX_FINDINGS) {
      if (withinMs !== undefined && performance.now() - started > withinMs) return;
      const index = begun;
      begun += 1;
      // Each of them has a seed of its own: it can be made again alone.
      const { kind, inputs: sent } = await fuzzer.one(seed * 1_000_003 + index, index, kinds);
      byKind[kind] = (byKind[kind] ?? 0) + sent;
      done += sent;
      if (index % 5000 === 4999) onProgress?.(done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => worker(at === 0 ? ['decoder'] : KINDS)));
  await fuzzer.end();
  return { inputs: done, byKind, findings: fuzzer.findings };
}

type Kind = 'record' | 'webhook' | 'network' | 'raw' | 'graphql' | 'socket' | 'decoder' | 'file';
const KINDS: readonly Kind[] = [
  'record', 'record', 'record', 'webhook', 'webhook', 'network', 'network', 'raw', 'raw', 'graphql', 'graphql', 'graphql', 'socket', 'file',
]; // prettier-ignore

/** What the server says of its own mistakes. */
const BAD = /"INTERNAL_SERVER_ERROR"|^HTTP\/1\.1 500/;
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'];
const NETWORKS = [
  'lorawan/tti',
  'lorawan/chirpstack',
  'lorawan/helium',
  'particle',
  'lorawan/actility',
  'lorawan/nothing',
];

class Fuzzer {
  readonly findings: string[] = [];
  readonly #server: TestServer;
  readonly #operations: GrownOperations;
  readonly #http: KeepAlive;
  #limitMs = FREEZE_MS;
  #product: TestProduct = { id: '', webhookId: '', deviceIds: [] };
  /** Has the lying decoders: what holds it up must not hold up the others. */
  #liars: TestProduct = { id: '', webhookId: '', deviceIds: [] };
  #ids: string[] = [];

  constructor(server: TestServer, operations: GrownOperations) {
    this.#server = server;
    this.#operations = operations;
    this.#http = new KeepAlive(server.url, AT_ONCE);
  }

  /** Mutations of the fuzzer may delete the product: a new one is made when it is gone. */
  async prepare(): Promise<void> {
    // What the fuzzer sent may have made more of them.
    const { workspaces } = await this.#server.gql('{ workspaces { id } }');
    const workspaceId =
      workspaces[0]?.id ??
      (await this.#server.gql('mutation { createWorkspace(name: "w") { id } }'))['createWorkspace'].id;
    const fields = { temperature: 'FLOAT', note: 'STRING', place: 'GEOLOCATION' };
    this.#product = await createProduct(this.#server, {
      workspaceId,
      fields,
      serialNumbers: ['serial-1', `70B3D5${String(Math.random()).slice(2, 12)}`],
      input: { decoder: 'function Decoder(r) { return JSON.parse(r.body) }' },
    });
    this.#liars = await createProduct(this.#server, { workspaceId, fields });
    const { product } = await this.#server.gql('query ($id: ID!) { product(id: $id) { fields { id } } }', {
      id: this.#product.id,
    });
    // Not the user whose token is used: the fuzzer would take its own rights away.
    const { createUser } = await this.#server.gql(
      'mutation ($email: String!) { createUser(input: { email: $email }) { id } }',
      { email: `${String(Math.random()).slice(2)}@example.org` },
    );
    this.#ids = [
      this.#product.id,
      ...this.#product.deviceIds,
      createUser.id,
      workspaceId,
      ...product.fields.map((field: { id: string }) => field.id),
    ];
  }

  /** Sends one case, which is so many inputs. */
  async one(seed: number, index: number, kinds: readonly Kind[]): Promise<{ kind: Kind; inputs: number }> {
    const chance = new Chance(seed);
    const kind = chance.pick(kinds);
    const started = performance.now();
    let input = '';
    let inputs = 1;
    try {
      const answer = await this.#send(kind, chance, (text, count = 1) => {
        input = text;
        inputs = count;
      });
      if (BAD.test(answer)) this.#found(index, kind, 'answered 500', input, answer);
    } catch (error) {
      // A decoder that loops holds up the calls of its own product, and nobody else.
      if (kind === 'webhook' || kind === 'decoder' || kind === 'network') await this.#checkHealth(index);
      else if (performance.now() - started >= FREEZE_MS && (await this.#freezes(kind, seed, kinds)))
        this.#found(index, kind, 'no answer', input, String(error));
    }
    if (this.#server.process.child.exitCode !== null || this.#server.process.child.signalCode !== null)
      this.#found(index, kind, 'the server is gone', input, '');
    if (index % 500 === 499) await this.#check(index);
    return { kind, inputs };
  }

  async end(): Promise<void> {
    await this.#check(-1);
    this.#http.end();
  }

  async #check(index: number): Promise<void> {
    await this.#checkHealth(index);
    const { lines } = this.#server.process;
    for (const line of lines)
      if (line['level'] === 'error' || 'line' in line) this.#found(index, 'log', JSON.stringify(line), '', '');
    lines.length = 0;
    const ids = { id: this.#product.id, liars: this.#liars.id };
    const alive = await this.#server.query(
      'query ($id: ID!, $liars: ID!) { product(id: $id) { id } liars: product(id: $liars) { id } }',
      ids,
    );
    for (let tries = 1; alive.data === null; tries += 1) {
      // The workspace that it would use may be just being deleted.
      const failure = await this.prepare().catch(String);
      if (failure === undefined || tries === 20) return;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  async #checkHealth(index: number): Promise<void> {
    const before = this.#server.process.processorMs();
    for (let tries = 1; ; tries += 1) {
      const signal = AbortSignal.timeout(FREEZE_MS);
      const health = await fetch(`${this.#server.url}/healthz`, { signal }).catch(String);
      if (typeof health !== 'string') return;
      // On a busy machine it may not have had its turn; what it computes meanwhile is its own.
      if (tries === 10 || this.#server.process.processorMs() - before >= FREEZE_MS) {
        this.#found(index, 'healthz', health, '', '');
        return;
      }
    }
  }

  /**
   * What had no answer in time is sent once more, with all the time that a busy machine may need: what takes long for
   * its own sake does so again, in the server's own processor time, or never ends.
   */
  async #freezes(kind: Kind, seed: number, kinds: readonly Kind[]): Promise<boolean> {
    const chance = new Chance(seed);
    chance.pick(kinds);
    const before = this.#server.process.processorMs();
    this.#limitMs = 60_000;
    try {
      await this.#send(kind, chance, () => {});
      return this.#server.process.processorMs() - before >= FREEZE_MS;
    } catch {
      return true;
    } finally {
      this.#limitMs = FREEZE_MS;
    }
  }

  #found(index: number, kind: string, what: string, input: string, answer: string): void {
    this.findings.push(
      `#${index} ${kind}: ${what.slice(0, 1500)}\n  input: ${input.slice(0, 800)}\n  answer: ${answer.slice(0, 300)}`,
    );
  }

  #send(kind: Kind, chance: Chance, note: (input: string, count?: number) => void): Promise<string> {
    switch (kind) {
      case 'record': {
        const entry = (): unknown =>
          chance.of(0.7)
            ? {
                field: chance.of(0.7) ? chance.pick(['temperature', 'note', 'place']) : chance.text(),
                value: chance.json(1),
                ...(chance.of(0.5) ? { timestamp: chance.of(0.5) ? chance.number() : chance.json(1) } : {}),
              }
            : chance.json();
        const body = chance.jsonText(chance.of(0.8) ? Array.from({ length: chance.int(6) }, entry) : entry());
        const name = chance.of(0.8)
          ? chance.pick(this.#product.deviceIds)
          : encodeURIComponent(chance.text().toWellFormed());
        return this.#request(
          chance,
          `/v1/devices/${name}/record/${chance.of(0.3) ? `?${chance.text()}` : ''}`,
          body,
          note,
        );
      }
      case 'webhook': {
        const id = chance.of(0.9) ? this.#product.webhookId : chance.text();
        return this.#request(
          chance,
          `/integrations/api/${id}/${chance.text()}?${chance.text()}`,
          chance.jsonText(),
          note,
        );
      }
      case 'network':
        return this.#request(
          chance,
          `/integrations/${chance.pick(NETWORKS)}/?event=up`,
          chance.jsonText(uplink(chance)),
          note,
        );
      case 'file': {
        const [path, type] = chance.pick([
          [`/v1/devices/${chance.pick(this.#product.deviceIds)}/history.csv`, ''],
          ['/v1/export.ndjson', ''],
          [`/v1/devices/${chance.pick(this.#product.deviceIds)}/import`, 'text/csv'],
          ['/v1/import', 'application/x-ndjson'],
        ] as const);
        const query = chance.of(0.5)
          ? `?${chance.pick(['fields', 'from', 'to', 'layout', 'tag', 'product', 'resolution'])}=${chance.text()}`
          : '';
        const lines = Array.from({ length: chance.int(5) }, () =>
          chance.of(0.5) ? `serial-1,temperature,${chance.number()},${chance.number()}` : chance.text(),
        );
        const body =
          type === 'text/csv'
            ? ['device,field,timestamp,value', ...lines].join('\n')
            : lines.map(() => chance.jsonText()).join('\n');
        return this.#request(chance, path + query, type === '' ? null : body, note, type);
      }
      case 'graphql': {
        const kindOf = chance.pick(['Query', 'Query', 'Mutation'] as const);
        const query = this.#operations.grow(chance, this.#ids, kindOf);
        const body = {
          query: chance.of(0.1) ? chance.mutated(query) : query,
          ...(chance.of(0.1) ? { variables: chance.json() } : {}),
        };
        return this.#request(
          chance,
          '/graphql',
          chance.of(0.05) ? chance.jsonText(body) : JSON.stringify(body),
          note,
          'application/json',
        );
      }
      case 'decoder': {
        const source = lyingDecoder(chance);
        note(source, 3);
        return this.#decode(chance, source);
      }
      case 'socket':
        return this.#socket(chance, note);
      case 'raw':
        return this.#raw(chance, note);
    }
  }

  async #request(
    chance: Chance,
    path: string,
    body: string | null,
    note: (input: string) => void,
    type = 'application/json',
  ): Promise<string> {
    const method = body === null ? 'GET' : chance.of(0.95) ? 'POST' : chance.pick(METHODS);
    const safe = path.toWellFormed().replaceAll('\0', '%00').replaceAll('#', '%23');
    note(`${method} ${safe}\n${body}`);
    const sent = method === 'GET' || method === 'HEAD' ? null : body;
    return this.#http.send(
      method,
      safe.startsWith('/') ? safe : `/${safe}`,
      {
        Authorization: `Token ${chance.of(0.97) ? ADMIN_TOKEN : encodeURIComponent(chance.text().toWellFormed()).slice(0, 500)}`,
        'Content-Type': chance.of(0.95)
          ? type || 'text/plain'
          : chance.pick(['', 'application/x-www-form-urlencoded', 'text/plain; charset=utf-99']),
        ...(chance.of(0.02) ? { 'Content-Encoding': chance.pick(['gzip', 'br', 'deflate', 'zstd', 'identity']) } : {}),
      },
      sent,
      this.#limitMs,
    );
  }

  /** Asks as the API's clients do. */
  #ask(query: string, variables: Record<string, unknown>): Promise<string> {
    const headers = { Authorization: `Token ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' };
    return this.#http.send('POST', '/graphql', headers, JSON.stringify({ query, variables }), this.#limitMs);
  }

  /** The source, what it is tried on, and what it is called with. */
  async #decode(chance: Chance, source: string): Promise<string> {
    const { id, webhookId } = this.#liars;
    const saved = await this.#ask(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source, force: true) { version } }',
      { id, source },
    );
    const tried = await this.#ask(
      'mutation ($id: ID!, $source: String, $body: String) { testDecoder(productId: $id, source: $source, request: { body: $body }) { ok output console error { kind message line column } entries { index device field value timestamp code message } } }',
      { id, source: chance.of(0.5) ? source : null, body: chance.jsonText() },
    );
    const called = await this.#request(chance, `/integrations/api/${webhookId}/`, chance.jsonText(), () => {});
    const read = await this.#ask(
      'query ($id: ID!) { product(id: $id) { calls(first: 3) { edges { node { status headers query body run { output console error { kind message line column } entries { value } } } } } } }',
      { id },
    );
    return [saved, tried, called, read].find((text) => BAD.test(text)) ?? '';
  }

  #socket(chance: Chance, note: (input: string, count: number) => void): Promise<string> {
    const frames = Array.from({ length: 1 + chance.int(20) }, (): string => {
      const kind = chance.int(6);
      if (kind === 0) return chance.jsonText();
      if (kind === 1) return JSON.stringify({ type: chance.text(), id: chance.text(), payload: chance.json() });
      const type = chance.pick(['subscribe', 'subscribe', 'complete', 'ping', 'pong', 'connection_init', 'next']);
      const query = this.#operations.grow(
        chance,
        this.#ids,
        chance.pick(['Query', 'Subscription', 'Subscription', 'Mutation']),
      );
      return JSON.stringify({
        type,
        id: chance.pick(['1', '1', '2', chance.text(), 'x'.repeat(300)]),
        payload: { query },
      });
    });
    note(frames.join('\n'), frames.length);
    return new Promise((resolve) => {
      const socket = new WebSocket(
        `${this.#server.url.replace('http', 'ws')}/graphql`,
        chance.of(0.95) ? 'graphql-transport-ws' : 'x',
      );
      let text = '';
      const timer = setTimeout(() => socket.close(), 150);
      socket.on('open', () => {
        if (chance.of(0.95)) socket.send(JSON.stringify({ type: 'connection_init', payload: { token: ADMIN_TOKEN } }));
        for (const frame of frames)
          socket.send(chance.of(0.95) ? frame : Buffer.from(frame.slice(0, chance.int(frame.length))));
        if (chance.of(0.1)) socket.terminate();
        else socket.send(JSON.stringify({ type: 'ping', payload: { last: true } }));
      });
      socket.on('message', (data) => {
        const message = String(data as Buffer);
        text += message;
        // It has read all of them; what they began may go on for a moment.
        if (message.includes('"last":true')) setTimeout(() => socket.close(), 10);
      });
      socket.on('error', () => {});
      socket.on('close', (code) => {
        clearTimeout(timer);
        // 1011, 4500: the server blames itself.
        resolve(code === 1011 || code === 4500 ? `"INTERNAL_SERVER_ERROR" ${code}` : text);
      });
    });
  }

  #raw(chance: Chance, note: (input: string) => void): Promise<string> {
    const target = chance.of(0.5)
      ? chance.pick([
          '/',
          '/healthz',
          `/v1/devices/${this.#product.deviceIds[0]}/record/`,
          '/graphql',
          'http://[::1',
          '*',
          '//',
          'http://x/healthz',
        ])
      : chance.text().replaceAll(/[\r\n ]/g, '');
    const head = [
      `${chance.of(0.9) ? chance.pick(METHODS) : chance.text()} ${target} HTTP/1.${chance.pick([0, 1, 1, 9])}`,
      'Host: x',
      `Authorization: Token ${ADMIN_TOKEN}`,
      ...Array.from({ length: chance.int(4) }, () =>
        chance.of(0.5)
          ? chance.pick([
              'Transfer-Encoding: chunked',
              'Content-Length: 10',
              'Content-Length: -1',
              'Upgrade: h2c',
              'Connection: Upgrade',
              'Expect: 100-continue',
              'Expect: x',
              'Upgrade: websocket',
              'Content-Encoding: gzip',
            ])
          : `${chance.text()}: ${chance.text()}`,
      ),
    ].join('\r\n');
    const whole = `${head}\r\n\r\n${chance.jsonText()}`;
    const text = chance.of(0.4) ? chance.mutated(whole) : whole;
    note(text);
    return new Promise((resolve) => {
      const socket = connect(this.#server.process.port, '127.0.0.1', () => {
        if (chance.of(0.8)) socket.end(text);
        else socket.write(text);
      });
      let answer = '';
      // What was sent may be only a beginning, for which the server rightly waits.
      const timer = setTimeout(() => socket.destroy(), 50);
      socket.on('data', (data) => (answer += data.toString('latin1')));
      socket.on('error', () => {});
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
  }
}

/** Something like a network's message. */
function uplink(chance: Chance): unknown {
  const odd = (value: unknown): unknown => (chance.of(0.15) ? chance.json(2) : value);
  const bytes = chance.pick(['AQID', '', '****', 'AA==']);
  const eui = odd(chance.pick(['70B3D57ED0000001', '70-b3-d5', 'serial-1', '']));
  const time = odd(chance.pick(['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456789Z', 'never']));
  return chance.pick([
    { end_device_ids: odd({ dev_eui: eui }), received_at: time, uplink_message: odd({ f_port: odd(1), frm_payload: odd(bytes), decoded_payload: odd({ temperature: odd(1) }), rx_metadata: odd([{ rssi: odd(-1), snr: odd(1) }]), settings: odd({ frequency: odd('868100000') }) }) },
    { deviceInfo: odd({ devEui: eui }), data: odd(bytes), fPort: odd(1), time, object: odd({ temperature: odd(2) }), rxInfo: odd([{}]), txInfo: odd({}) },
    { dev_eui: eui, payload: odd(bytes), port: odd(1), reported_at: odd(1767225600000), decoded: odd({ payload: odd({ temperature: 3 }) }), hotspots: odd([{}]) },
    { coreid: eui, data: odd(chance.pick(['1', '{"temperature":1}', 'x'])), event: odd('e'), published_at: time },
    { DevEUI_uplink: odd({ DevEUI: eui, payload_hex: odd('0102'), FPort: odd('1'), Time: time }) },
    chance.json(),
  ]); // prettier-ignore
}
