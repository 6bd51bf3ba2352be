import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createPostgresDatabase } from './postgres.ts';
import { HostedServer } from './hosted-server.ts';
import { ADMIN_TOKEN, QUICK_PASSWORDS, ServerProcess } from './server-process.ts';

export const DATABASES = ['sqlite', 'postgres'] as const;
export type DatabaseName = (typeof DATABASES)[number];
/**
 * For what does not depend on the database, as its SQL is tried on both in the tests of the domain and of the store: one,
 * and both in the nightly run.
 */
export const EITHER_DATABASE: readonly DatabaseName[] =
  process.env['INLET_TESTS'] === 'nightly' ? DATABASES : ['sqlite'];

export interface GqlAnswer<T = Record<string, any>> {
  data: T | null;
  errors?: { message: string; path?: (string | number)[]; extensions: { code: string } & Record<string, unknown> }[];
}

export interface RestAnswer {
  status: number;
  headers: Headers;
  body: any;
}

/** A fresh database that outlives the servers started on it. */
export interface TestDatabase {
  url: string;
  drop: () => Promise<void>;
}

/** `migrated`: whether it may have its tables already, which is quicker; a file never does. */
export async function createDatabase(name: DatabaseName, { migrated = true } = {}): Promise<TestDatabase> {
  if (name === 'postgres')
    return createPostgresDatabase(inject('postgresUrl'), migrated ? inject('migratedTemplate') : undefined);
  const folder = mkdtempSync(join(tmpdir(), 'inlet-test-'));
  return {
    url: `sqlite:${join(folder, 'inlet.db')}`,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A real server with the operator's token, and the two doors as functions. */
export class TestServer {
  readonly process: ServerProcess | HostedServer;
  readonly url: string;
  readonly adminToken = ADMIN_TOKEN;
  readonly #dispose: () => Promise<void>;

  constructor(process: ServerProcess | HostedServer, dispose: () => Promise<void>) {
    this.process = process;
    this.url = process.url;
    this.#dispose = dispose;
  }

  /** A GraphQL call over HTTP as the token's owner; the answer as it is, errors included. */
  async query<T = Record<string, any>>(
    query: string,
    variables: unknown = {},
    token: string | null = ADMIN_TOKEN,
  ): Promise<GqlAnswer<T>> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token === null ? {} : { Authorization: `Token ${token}` }) },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as GqlAnswer<T>;
  }

  /** The same where no error is expected: its data; throws with the errors. */
  async gql<T = Record<string, any>>(
    query: string,
    variables: unknown = {},
    token: string | null = ADMIN_TOKEN,
  ): Promise<T> {
    const answer = await this.query<T>(query, variables, token);
    if (answer.errors !== undefined || answer.data === null) {
      // What is behind an internal error stands in the log alone.
      const logged = this.process.lines.filter((line) => line['level'] === 'error');
      throw new Error(JSON.stringify(answer.errors) + JSON.stringify(logged.slice(-3)));
    }
    return answer.data;
  }

  /** POSTs a body to the record endpoint; a string goes as it is. */
  async record(
    device: string,
    body: unknown,
    options: { token?: string | null; headers?: Record<string, string>; query?: string } = {},
  ): Promise<RestAnswer> {
    const { token = ADMIN_TOKEN, headers = {}, query = '?batch=true' } = options;
    const response = await fetch(`${this.url}/v1/devices/${encodeURIComponent(device)}/record/${query}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(token === null ? {} : { Authorization: `Token ${token}` }),
        ...headers,
      },
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    });
    return readAnswer(response);
  }

  async stop(): Promise<void> {
    await this.process.stop();
    await this.#dispose();
  }
}

export async function readAnswer(response: Response): Promise<RestAnswer> {
  const text = await response.text();
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Not every answer is JSON; the text is what there is.
  }
  return { status: response.status, headers: response.headers, body };
}

/**
 * A server of its own on a fresh database (or a given one, which then outlives it), in a process that runs one server
 * after another unless the test needs its own. Write limit off unless asked for, and passwords cost next to nothing.
 */
export async function startServer(options: {
  database: DatabaseName | TestDatabase;
  env?: Record<string, string>;
  /** In a process of its own: for tests of signals, memory, processor time and ends. */
  alone?: boolean;
  /** In a process group of its own, as under a service manager. */
  ownGroup?: boolean;
  /** Passwords take as long as they do: for tests of that. */
  slowPasswords?: boolean;
  /** Tells in which pieces its event loop computes (`pieces.ts`). */
  watched?: boolean;
  /**
   * Runs each query as graphql-js does, too, and the answers must be the same; on SQLite alone, as that does not depend on
   * the database.
   */
  compared?: boolean;
}): Promise<TestServer> {
  const given = typeof options.database !== 'string';
  const database = typeof options.database === 'string' ? await createDatabase(options.database) : options.database;
  const isCompared = options.compared === true && database.url.startsWith('sqlite:');
  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    WRITE_RATE_PER_FIELD: '0',
    ...(isCompared ? { COMPARED: 'yes' } : {}),
    ...options.env,
  };
  const isAlone = [options.alone, options.ownGroup, options.slowPasswords, options.watched].includes(true);
  const started =
    (isAlone || 'NODE_OPTIONS' in env ? null : await startHosted(env)) ?? (await startProcess(env, options));
  return new TestServer(started, async () => {
    if (!given) await database.drop();
  });
}

async function startHosted(env: Record<string, string>): Promise<HostedServer | null> {
  const worker = Number(process.env['VITEST_POOL_ID']);
  // Benches and fuzzers run outside the runner.
  const hosts = worker > 0 ? inject('serverHosts') : [];
  return hosts.length === 0 ? null : HostedServer.start(hosts[(worker - 1) % hosts.length]!, env);
}

function startProcess(
  env: Record<string, string>,
  options: { slowPasswords?: boolean; ownGroup?: boolean; watched?: boolean },
): Promise<ServerProcess> {
  const preload = options.slowPasswords === true ? '' : QUICK_PASSWORDS;
  return ServerProcess.start({ ...env, NODE_OPTIONS: `${env['NODE_OPTIONS'] ?? ''} ${preload}` }, options);
}

export interface TestProduct {
  id: string;
  webhookId: string;
  deviceIds: string[];
}

/** A product with fields (identifier → type) and devices with the serial numbers given. */
export async function createProduct(
  server: TestServer,
  options: {
    fields?: Record<string, string>;
    serialNumbers?: string[];
    token?: string;
    workspaceId?: string;
    input?: Record<string, unknown>;
  } = {},
): Promise<TestProduct> {
  const { fields = { temperature: 'FLOAT' }, serialNumbers = ['serial-1'], token = ADMIN_TOKEN } = options;
  const { createProduct: product } = await server.gql<{ createProduct: { id: string; webhookId: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id webhookId } }',
    {
      input: {
        name: 'product',
        fields: Object.entries(fields).map(([identifier, type]) => ({ identifier, type })),
        ...(options.workspaceId === undefined ? {} : { workspaceId: options.workspaceId }),
        ...options.input,
      },
    },
    token,
  );
  const devices = serialNumbers.map((serialNumber) => ({ name: `device ${serialNumber}`, serialNumber }));
  const created =
    devices.length === 0
      ? { createDevices: [] }
      : await server.gql<{ createDevices: { id: string }[] }>(
          `mutation ($id: ID!, $devices: [DeviceInput!]!) {
             createDevices(productId: $id, devices: $devices, plan: "unlimited") { id }
           }`,
          { id: product.id, devices },
          token,
        );
  return { ...product, deviceIds: created.createDevices.map((device) => device.id) };
}
