import { createToken, createWorkspace } from '../support/tenant.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, type TestProduct, type TestServer } from '../support/server.ts';

const PRODUCTS = 4;
/** Each is a caller of its own: the work of one is slowed down by what it did before. */
const CALLERS = 12;
const FIELDS = { temperature: 'FLOAT', count: 'INTEGER', open: 'BOOLEAN', note: 'STRING', place: 'GEOLOCATION' };
const DECODER = 'function Decoder(r) { return JSON.parse(r.body) }';
const SCOPES = [['RECORD'], ['READ'], ['CONFIGURE'], ['READ', 'RECORD', 'CONFIGURE', 'ADMIN']];

/** The workspace of somebody else. */
const NEIGHBOUR = 'neighbour';

/** Somebody who follows live values. */
export interface Reader {
  secret: string;
  workspaceId: string;
  /** Ids of the devices that the token may read. */
  sees: ReadonlySet<string>;
}

interface Target extends TestProduct {
  /** Of all that belongs to it. */
  ids: string[];
}

/** What the fuzzer aims at: things that are there, made anew when what it sent has deleted them. */
export class Targets {
  readonly #server: TestServer;
  readonly #callers: string[] = [ADMIN_TOKEN];
  #products: Target[] = [];
  #liars: Target | null = null;
  #limited: string[] = [];
  #readers: Reader[] = [];
  #commonIds: string[] = [];
  #serials = 0;

  constructor(server: TestServer) {
    this.#server = server;
  }

  get products(): readonly Target[] {
    return this.#products;
  }

  /** Has the lying decoders: what holds it up must not hold up the others. */
  get liars(): Target {
    return this.#liars!;
  }

  get ids(): string[] {
    return [...this.#commonIds, ...this.#products.flatMap(({ ids }) => ids)];
  }

  /** Secrets of tokens that may do everything. */
  get callers(): readonly string[] {
    return this.#callers;
  }

  /** Secrets of tokens that may do something. */
  get limited(): readonly string[] {
    return this.#limited;
  }

  /** Tokens of neighbours: nothing that the fuzzer sends names them, their workspaces or the devices of the first. */
  get readers(): readonly Reader[] {
    return this.#readers;
  }

  /** Looks what is still there, and makes the rest anew. */
  async keepUp(): Promise<void> {
    while (this.#callers.length < CALLERS) {
      const { createToken: made } = await this.#server.gql(
        'mutation { createToken(input: { name: "fuzz", kind: PERSONAL }) { secret } }',
      );
      this.#callers.push(made.secret);
    }
    const all = [...this.#products, ...(this.#liars === null ? [] : [this.#liars])];
    const { devices } = await this.#server.gql(
      'query ($ids: [ID!]) { devices(ids: $ids) { edges { node { product { id } } } } }',
      { ids: all.flatMap(({ deviceIds }) => deviceIds) },
    );
    const there = new Set<string>(devices.edges.map(({ node }: any) => node.product.id));
    this.#products = this.#products.filter(({ id }) => there.has(id));
    const areLiarsThere = this.#liars !== null && there.has(this.#liars.id);
    if (this.#products.length === PRODUCTS && areLiarsThere) return;
    const workspaceId = await this.#workspaceId();
    while (this.#products.length < PRODUCTS) this.#products.push(await this.#makeProduct(workspaceId, DECODER));
    if (!areLiarsThere) this.#liars = await this.#makeProduct(workspaceId);
    await this.#makeCommon(workspaceId);
  }

  async #workspaceId(): Promise<string> {
    // What the fuzzer sent may have made more of them.
    const { workspaces } = await this.#server.gql('{ workspaces { id name } }');
    const own = workspaces.find(({ name }: any) => name !== NEIGHBOUR);
    if (own !== undefined) return own.id;
    return (await this.#server.gql('mutation { createWorkspace(name: "w") { id } }'))['createWorkspace'].id;
  }

  async #makeProduct(workspaceId: string, decoder?: string): Promise<Target> {
    const made = await createProduct(this.#server, {
      workspaceId,
      fields: FIELDS,
      serialNumbers: ['serial-1', `70B3D5${this.#number()}`],
      input: decoder === undefined ? {} : { decoder },
    });
    const more = await this.#server.gql(
      `mutation ($id: ID!) {
         addConfigurationField(productId: $id, input: { identifier: "limit", type: NUMBER }) { id }
         addDecoderExample(productId: $id, name: "e", request: { body: "[]" }, expected: []) { id }
       }`,
      { id: made.id },
    );
    await fetch(`${this.#server.url}/integrations/api/${made.webhookId}/`, { method: 'POST', body: '[]' });
    const { product } = await this.#server.gql(
      'query ($id: ID!) { product(id: $id) { fields { id } calls { edges { node { id } } } } }',
      { id: made.id },
    );
    const parts = [...product.fields, ...product.calls.edges.map(({ node }: any) => node), ...Object.values(more)];
    return { ...made, ids: [made.id, made.id, ...made.deviceIds, ...parts.map(({ id }) => id)] };
  }

  async #makeCommon(workspaceId: string): Promise<void> {
    // Not the user whose tokens are used: the fuzzer would take its own rights away.
    const { createUser } = await this.#server.gql(
      'mutation ($email: String!) { createUser(input: { email: $email }) { id } }',
      { email: `${this.#number()}@example.org` },
    );
    const tokens = [];
    for (const scopes of SCOPES) {
      tokens.push(await createToken(this.#server, ADMIN_TOKEN, workspaceId, scopes));
      const deviceIds = this.#products[0]!.deviceIds.slice(0, 1);
      if (!scopes.includes('ADMIN'))
        tokens.push(await createToken(this.#server, ADMIN_TOKEN, workspaceId, scopes, { deviceIds }));
    }
    this.#limited = tokens.map(({ secret }) => secret);
    this.#readers = [await this.#makeNeighbour(), await this.#makeReader(workspaceId)];
    this.#commonIds = [workspaceId, createUser.id, tokens[0]!.id, tokens.at(-1)!.id];
  }

  async #makeNeighbour(): Promise<Reader> {
    const known = this.#readers[0];
    if (known !== undefined) return known;
    const workspaceId = await createWorkspace(this.#server, NEIGHBOUR);
    const { deviceIds } = await createProduct(this.#server, { workspaceId });
    const { secret } = await createToken(this.#server, ADMIN_TOKEN, workspaceId, ['READ', 'RECORD']);
    return { secret, workspaceId, sees: new Set(deviceIds) };
  }

  /** Of one device of the fuzzer's own workspace. */
  async #makeReader(workspaceId: string): Promise<Reader> {
    const deviceIds = this.#products[0]!.deviceIds.slice(0, 1);
    const { secret } = await createToken(this.#server, ADMIN_TOKEN, workspaceId, ['READ', 'RECORD'], { deviceIds });
    return { secret, workspaceId, sees: new Set(deviceIds) };
  }

  #number(): string {
    this.#serials += 1;
    return `${Date.now()}${this.#serials}`.slice(-12);
  }
}
