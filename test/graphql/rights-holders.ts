import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { TestServer } from '../support/server.ts';
import {
  createMember,
  createTenant,
  createToken,
  makeAlert,
  noteOf,
  setMember,
  type Tenant,
} from '../support/tenant.ts';
import { UPLINK } from './rights-calls.ts';

const ALL = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'] as const;
const SCOPES = [['READ'], ['RECORD'], ['CONFIGURE'], ['ADMIN'], ALL];
const LIMITS = ['productIds', 'deviceIds'] as const;
/** In milliseconds: the token is made within it, and has ended when all the others are. */
const EXPIRES = 3_000;

/** Whoever asks, by what stands above the columns of the matrix. */
const titlesOf = (limit: string): string[] =>
  SCOPES.map((scopes) => `${limit}: ${scopes.length > 1 ? 'all scopes' : scopes[0]}`);

/** Every holder, in the order of the columns. */
export const HOLDERS = [
  ...['unlimited', ...LIMITS].flatMap(titlesOf),
  'VIEWER',
  'EDITOR',
  'ADMIN',
  'operator',
  'expired',
  'revoked',
  'nobody',
];

/** One tenant with something of everything, and a token for every holder (null: none), limited to what it is asked about. */
export class Holders {
  /** `userId`: a member of whom nothing else depends. */
  tenant!: Tenant;
  /** A PERSONAL token of the ADMIN, for the console's cookie: one got by signing in would end with the session. */
  cookie = '';
  readonly tokens = new Map<string, string | null>();
  readonly #server: TestServer;
  #admin!: { userId: string; email: string; token: string };
  readonly #others: { userId: string; role: 'VIEWER' | 'EDITOR' }[] = [];

  private constructor(server: TestServer) {
    this.#server = server;
  }

  static async create(server: TestServer): Promise<Holders> {
    const holders = new Holders(server);
    const admin = await createTenant(server);
    holders.#admin = { userId: admin.userId, email: admin.email, token: admin.personal };
    const { personal, workspaceId } = admin;
    const until = Date.now() + EXPIRES;
    const expired = await createToken(server, personal, workspaceId, ALL, { expiresAt: new Date(until).toISOString() });
    const revoked = await createToken(server, personal, workspaceId, ALL);
    await server.gql('{ viewer { token { id } } }', {}, revoked.secret);
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: revoked.id }, personal);
    for (const role of ['VIEWER', 'EDITOR'] as const) {
      const person = await createMember(server, workspaceId, role);
      holders.#others.push({ ...person, role });
      holders.tokens.set(role, person.token);
    }
    const { tokens } = holders;
    tokens.set('ADMIN', personal).set('operator', server.adminToken).set('nobody', null);
    tokens.set('expired', expired.secret).set('revoked', revoked.secret);
    const kept = 'mutation { createToken(input: { name: "cookie", kind: PERSONAL }) { secret } }';
    holders.cookie = (await server.gql(kept, {}, personal))['createToken'].secret;
    await holders.#open(admin);
    await wait(Math.max(0, until + 1 - Date.now()));
    return holders;
  }

  /** What networks call the device that the tokens are limited to. */
  async serialNumber(): Promise<string> {
    const query = 'query ($id: ID!) { device(id: $id) { serialNumber } }';
    const { device } = await this.#server.gql(query, { id: this.tenant.deviceId }, this.tenant.personal);
    return device.serialNumber;
  }

  /** What an operation took away is there again: by the operation's name. */
  readonly #restore: Record<string, () => Promise<void>> = {
    'Mutation.removeField': async () => {
      const query =
        'mutation ($id: ID!, $x: String!) { it: addField(productId: $id, input: { identifier: $x, type: FLOAT }) { id } }';
      this.tenant.fieldId = await this.#make(query);
    },
    'Mutation.removeConfigurationField': async () => {
      const query =
        'mutation ($id: ID!, $x: String!) { it: addConfigurationField(productId: $id, input: { identifier: $x, type: NUMBER }) { id } }';
      this.tenant.configurationFieldId = await this.#make(query);
    },
    'Mutation.deleteRule': async () => {
      const query =
        'mutation ($id: ID!, $x: String!) { it: createRule(productId: $id, input: { name: $x, levels: [{ severity: INFO, all: [{ absentSeconds: 2678400 }] }] }) { id } }';
      this.tenant.ruleId = await this.#make(query);
    },
    'Mutation.removeNote': async () => {
      const query = 'mutation ($d: ID!) { it: addNote(deviceId: $d, text: "again") { id } }';
      this.tenant.noteId = await this.#make(query);
    },
    'Mutation.removeDecoderExample': async () => {
      const query =
        'mutation ($id: ID!, $x: String!) { it: addDecoderExample(productId: $id, name: $x, request: {}, expected: []) { id } }';
      this.tenant.exampleId = await this.#make(query);
    },
    'Mutation.deleteDevices': async () => {
      await this.#makeDevice();
      await this.#makeTokens('deviceIds');
      await this.#makeAlert(false);
      await this.restore('Mutation.removeNote');
    },
    'Mutation.deleteProduct': async () => {
      const query =
        'mutation ($w: ID!, $x: String!) { it: createProduct(input: { workspaceId: $w, name: $x, decoder: "function Decoder() {}" }) { id } }';
      this.tenant.productId = await this.#make(query);
      await this.#makeDevice();
      for (const limit of LIMITS) await this.#makeTokens(limit);
      for (const name of [
        'removeField',
        'removeConfigurationField',
        'removeDecoderExample',
        'deleteRule',
        'removeNote',
        'rotateWebhook',
      ])
        await this.restore(`Mutation.${name}`);
      await this.#makeAlert(true);
      await this.#send();
    },
    'Mutation.rotateWebhook': async () => {
      const query = 'query ($id: ID!) { product(id: $id) { webhookId } }';
      const { product } = await this.#server.gql(query, { id: this.tenant.productId }, this.tenant.personal);
      this.tenant.webhookId = product.webhookId;
    },
    'Mutation.deleteEndpoint': async () => {
      const query = `mutation ($w: ID, $x: String!) {
        it: createEndpoint(workspaceId: $w, input: { name: $x, kind: WEBHOOK, url: "http://127.0.0.1:9/", events: [] }) { endpoint { id } }
      }`;
      const x = randomBytes(4).toString('hex');
      const { it } = await this.#server.gql(query, { w: this.tenant.workspaceId, x }, this.tenant.personal);
      this.tenant.endpointId = it.endpoint.id;
    },
    'Mutation.deleteDashboard': async () => {
      const query = 'mutation ($w: ID, $n: JSON!) { saveDashboard(workspaceId: $w, name: "x", widgets: $n) { id } }';
      const variables = { w: this.tenant.workspaceId, n: [noteOf(this.tenant.deviceId, 'x')] };
      this.tenant.dashboardId = (await this.#server.gql(query, variables, this.tenant.personal))['saveDashboard'].id;
    },
    'Mutation.adoptUnknownDevice': async () => void (this.tenant.unknownDeviceId = await this.#makeUnknown()),
    'Mutation.adoptUnknownDevices': async () => void (this.tenant.otherUnknownDeviceId = await this.#makeUnknown()),
    'Mutation.renewToken': () => Promise.resolve(),
    'Mutation.revokeToken': async () => {
      const { personal, workspaceId } = this.tenant;
      this.tenant.individualId = (await createToken(this.#server, personal, workspaceId, ['READ'])).id;
    },
    'Mutation.removeMember': () => this.#join(this.tenant.personal),
    'Mutation.deleteUser': () => this.#makeMember(this.tenant.personal),
    'Mutation.deleteWorkspace': async () => this.#open(await createTenant(this.#server, this.#admin)),
  };

  /** The id of the newest. */
  async #makeUnknown(): Promise<string> {
    const headers = { Authorization: `Token ${this.tenant.individual}` };
    const body = UPLINK(randomBytes(8).toString('hex'));
    await fetch(`${this.#server.url}/integrations/lorawan/tti/`, { method: 'POST', headers, body });
    const { unknownDevices } = await this.#server.gql('{ unknownDevices { id } }', {}, this.tenant.individual);
    return unknownDevices[0].id;
  }

  async restore(operation: string): Promise<void> {
    await this.#restore[operation]?.();
  }

  takesAway(operation: string): boolean {
    return operation in this.#restore;
  }

  /** The tenant is this one from now on: everybody is in it as before. */
  async #open(tenant: Tenant): Promise<void> {
    const server = this.#server;
    this.tenant = tenant;
    const { workspaceId, personal } = tenant;
    await this.#makeMember(server.adminToken);
    for (const { userId, role } of this.#others) await setMember(server, workspaceId, userId, role);
    for (const limit of ['unlimited', ...LIMITS] as const) await this.#makeTokens(limit);
    // Who made the workspace is its first ADMIN: an operator as such is nobody there.
    const { viewer } = await server.gql('{ viewer { user { id } } }');
    await server.gql(
      'mutation ($w: ID!, $u: ID!) { removeMember(workspaceId: $w, userId: $u) { id } }',
      { w: workspaceId, u: viewer.user.id },
      personal,
    );
  }

  async #makeTokens(limit: 'unlimited' | (typeof LIMITS)[number]): Promise<void> {
    const { personal, workspaceId, productId, deviceId } = this.tenant;
    const more = limit === 'unlimited' ? {} : { [limit]: [limit === 'productIds' ? productId : deviceId] };
    const made = await Promise.all(
      SCOPES.map((scopes) => createToken(this.#server, personal, workspaceId, scopes, more)),
    );
    for (const [at, title] of titlesOf(limit).entries()) this.tokens.set(title, made[at]!.secret);
  }

  async #makeAlert(withRule: boolean): Promise<void> {
    this.tenant.alertId = await makeAlert(this.#server, this.tenant.personal, this.tenant, { withRule });
  }

  async #makeDevice(): Promise<void> {
    const query =
      'mutation ($id: ID!, $x: String!) { it: createDevices(productId: $id, devices: [{ name: $x }], plan: "unlimited") { id } }';
    this.tenant.deviceId = await this.#make(query);
  }

  /** A field that the product does not know, and a call of its webhook. */
  async #send(): Promise<void> {
    const { deviceId, productId, webhookId, personal } = this.tenant;
    const record =
      'mutation ($id: ID!) { recordMeasurements(deviceId: $id, entries: [{ field: "SEEN", value: 1 }]) { stored } }';
    await this.#server.gql(record, { id: deviceId }, personal);
    await fetch(`${this.#server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: 'x' });
    const calls = 'query ($id: ID!) { product(id: $id) { calls { edges { node { id } } } } }';
    this.tenant.callId = (await this.#server.gql(calls, { id: productId }, personal))['product'].calls.edges[0].node.id;
  }

  async #makeMember(by: string): Promise<void> {
    const query = 'mutation ($email: String!) { createUser(input: { email: $email }) { id } }';
    const { createUser } = await this.#server.gql(query, { email: `${randomBytes(6).toString('hex')}@example.org` });
    this.tenant.userId = createUser.id;
    await this.#join(by);
  }

  #join(by: string): Promise<void> {
    return setMember(this.#server, this.tenant.workspaceId, this.tenant.userId, 'VIEWER', by);
  }

  /** The id of what the ADMIN makes under a new name. */
  async #make(query: string): Promise<string> {
    const variables = {
      id: this.tenant.productId,
      w: this.tenant.workspaceId,
      d: this.tenant.deviceId,
      x: `x${randomBytes(6).toString('hex')}`,
    };
    const { it } = await this.#server.gql(query, variables, this.tenant.personal);
    return [it].flat()[0].id;
  }
}
