import { randomBytes } from 'node:crypto';
import { createToken, createWorkspace, PASSWORD } from '../../support/tenant.ts';
import { ADMIN_TOKEN } from '../../support/server-process.ts';
import { createProduct, type TestServer } from '../../support/server.ts';
import { makeDashboard } from './dashboard-ways.ts';
import { NOWHERE } from './endpoint-ways.ts';
import { ALARMING } from './rule-ways.ts';

/** How much of everything is filled in. */
export interface Size {
  fields: number;
  devices: number;
  /** Of one field of one device, in thousands. */
  thousandValues: number;
  calls: number;
  products: number;
  tokens: number;
  /** Users who are members, unknown devices. */
  others: number;
  auditEntries: number;
  /** Saved versions, examples, suggestions, configuration fields: what a product has of each. */
  parts: number;
  /** Of one list in a mutation. */
  many: number;
  /** Of the longest texts: what is shorter by its rules is cut. */
  text: number;
}

/** Everything at about its bounds. */
export const LARGE: Size = {
  fields: 500,
  devices: 10_000,
  thousandValues: 200,
  calls: 300,
  products: 2_000,
  tokens: 1_900,
  others: 1_000,
  auditEntries: 20_000,
  parts: 100,
  many: 3_000,
  text: 60_000,
};

/** A little of everything, in two seconds. */
export const SMALL: Size = {
  fields: 12,
  devices: 30,
  thousandValues: 1,
  calls: 3,
  products: 4,
  tokens: 6,
  others: 40,
  auditEntries: 20,
  parts: 6,
  many: 30,
  text: 300,
};

/** Ids of what was filled in: the first of a list has the most of its kind. */
export interface World {
  size: Size;
  workspaceId: string;
  /** Has fields, versions, examples, calls: whatever a product can have. */
  productId: string;
  webhookId: string;
  /** What mutations change, so that the first stays as it is. */
  spareProductId: string;
  /** The first has the longest history and a value of each field, the second long texts, the third many long texts. */
  deviceIds: readonly string[];
  callIds: readonly string[];
  productIds: readonly string[];
  tokenIds: readonly string[];
  userIds: readonly string[];
  unknownIds: readonly string[];
  fieldId: string;
  configurationFieldId: string;
  endpointId: string;
  dashboardId: string;
  /** What was sent to it, in vain. */
  deliveryId: string;
  /** By the list that each goes on with. */
  cursors: Readonly<
    Record<'devices' | 'products' | 'users' | 'auditLog' | 'measurements' | 'calls' | 'searchCalls', string>
  >;
  /** Tokens of the operator: the work of one is slowed down by what it did before. */
  secrets: readonly string[];
  /** Somebody who has signed in with `PASSWORD`. */
  person: { email: string; secret: string };
  /** Another number with each call. */
  next: () => number;
}

/** What tables of ways are looked at with where no server is: nothing in it is real. */
export function unrealWorld(): World {
  const ids = ['id'];
  let last = 0;
  return {
    size: SMALL,
    workspaceId: 'id',
    productId: 'id',
    webhookId: 'id',
    spareProductId: 'id',
    deviceIds: ids,
    callIds: ids,
    productIds: ids,
    tokenIds: ids,
    userIds: ids,
    unknownIds: ids,
    fieldId: 'id',
    configurationFieldId: 'id',
    endpointId: 'id',
    dashboardId: 'id',
    deliveryId: 'id',
    cursors: {
      devices: 'c',
      products: 'c',
      users: 'c',
      auditLog: 'c',
      measurements: 'c',
      calls: 'c',
      searchCalls: 'c',
    },
    secrets: ids,
    person: { email: 'e', secret: 's' },
    next: () => (last += 1),
  };
}

/** A text that nothing else is called. */
export function unique(world: Pick<World, 'next'>): string {
  return `x${world.next()}-${randomBytes(4).toString('hex')}`;
}

/** Makes what a mutation then takes away; each resolves with an id. */
export class Maker {
  readonly #server: TestServer;
  readonly #world: World;

  constructor(server: TestServer, world: World) {
    this.#server = server;
    this.#world = world;
  }

  /** Of the spare product, with values. */
  async devices(many: number): Promise<string[]> {
    const name = unique(this.#world);
    const devices = Array.from({ length: many }, (_, at) => ({ name, serialNumber: `${name}-${at}` }));
    const { createDevices } = await this.#server.gql(
      'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
      { id: this.#world.spareProductId, devices },
    );
    return createDevices.map(({ id }: { id: string }) => id);
  }

  /** Two devices, and what the one to absorb is called. */
  async pair(): Promise<{ into: string; absorb: string; serialNumber: string }> {
    const [into, absorb] = await this.devices(2);
    const { device } = await this.#server.gql('query ($id: ID!) { device(id: $id) { serialNumber } }', { id: absorb });
    return { into: into!, absorb: absorb!, serialNumber: device.serialNumber };
  }

  async product(workspaceId = this.#world.workspaceId): Promise<string> {
    const serialNumbers = Array.from({ length: Math.min(this.#world.size.many, 500) }, (_, at) => `d${at}`);
    const { id, deviceIds } = await createProduct(this.#server, { workspaceId, serialNumbers });
    await this.#server.record(deviceIds[0]!, [{ field: 'temperature', value: 1, timestamp: 1e9 }]);
    return id;
  }

  async workspace(): Promise<string> {
    const id = await createWorkspace(this.#server, unique(this.#world));
    await this.product(id);
    return id;
  }

  async user(): Promise<string> {
    const { createUser } = await this.#server.gql(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }',
      { input: { email: `${unique(this.#world)}@example.org`, password: PASSWORD } },
    );
    return createUser.id;
  }

  /** The secret of a link to join. */
  async invitation(): Promise<string> {
    const { createInvitation } = await this.#server.gql(
      'mutation ($w: ID!, $e: String!) { createInvitation(workspaceId: $w, email: $e, role: VIEWER) { url } }',
      { w: this.#world.workspaceId, e: `${unique(this.#world)}@example.org` },
    );
    return createInvitation.url.split('#')[1];
  }

  /** The secret of a link to another password. */
  async passwordReset(): Promise<string> {
    const { createPasswordReset } = await this.#server.gql(
      'mutation ($u: ID!) { createPasswordReset(userId: $u) { url } }',
      { u: await this.user() },
    );
    return createPasswordReset.url.split('#')[1];
  }

  async member(): Promise<string> {
    const id = await this.user();
    await this.#server.gql(
      'mutation ($w: ID!, $u: ID!) { setMember(workspaceId: $w, userId: $u, role: VIEWER) { id } }',
      { w: this.#world.workspaceId, u: id },
    );
    return id;
  }

  /** A document that was applied, and the hash of its plan since somebody has changed what it made. */
  async drifted(): Promise<{ document: string; hash: string }> {
    const key = unique(this.#world);
    const document = JSON.stringify({ products: [{ key, name: 'planned' }] });
    const about = 'workspaceId: $w, document: $d, set: "walk"';
    const plan = async (): Promise<string> => {
      const query = `mutation ($w: ID, $d: String!) { planConfiguration(${about}) { hash } }`;
      const answer = await this.#server.gql(query, { w: this.#world.workspaceId, d: document });
      return answer['planConfiguration'].hash;
    };
    await this.#server.gql(
      `mutation ($w: ID, $d: String!, $h: String!) { applyConfiguration(${about}, hash: $h) { hash } }`,
      {
        w: this.#world.workspaceId,
        d: document,
        h: await plan(),
      },
    );
    const { product } = await this.#server.gql(
      'query ($w: ID, $k: String) { product(workspaceId: $w, key: $k) { id } }',
      {
        w: this.#world.workspaceId,
        k: key,
      },
    );
    await this.#server.gql('mutation ($id: ID!) { updateProduct(id: $id, input: { name: "by hand" }) { id } }', {
      id: product.id,
    });
    return { document, hash: await plan() };
  }

  async token(): Promise<string> {
    return (await createToken(this.#server, ADMIN_TOKEN, this.#world.workspaceId, ['READ'])).id;
  }

  /** Whatever a mutation adds to the spare product. */
  async part(mutation: 'addField' | 'addConfigurationField' | 'addDecoderExample'): Promise<string> {
    const name = unique(this.#world);
    const input =
      mutation === 'addDecoderExample'
        ? `name: "${name}", request: { body: "" }, expected: []`
        : `input: { identifier: "${name}", type: STRING }`;
    const made = await this.#server.gql(
      `mutation { ${mutation}(productId: "${this.#world.spareProductId}", ${input}) { id } }`,
    );
    return made[mutation].id;
  }

  /** A rule of the product with that key. */
  async rule(input: Record<string, unknown>): Promise<string> {
    const create = 'mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) { id } }';
    return (await this.#server.gql(create, { p: this.#world.productId, i: input }))['createRule'].id;
  }

  /** The id of a dashboard of the workspace, of which there are few. */
  async dashboard(): Promise<string> {
    return makeDashboard(this.#server, this.#world);
  }

  async endpoint(): Promise<string> {
    const create =
      'mutation ($w: ID!, $i: EndpointInput!) { createEndpoint(workspaceId: $w, input: $i) { endpoint { id } } }';
    return (await this.#server.gql(create, { w: this.#world.workspaceId, i: NOWHERE }))['createEndpoint'].endpoint.id;
  }

  async note(): Promise<string> {
    const create = 'mutation ($d: ID!) { addNote(deviceId: $d, text: "x") { id } }';
    return (await this.#server.gql(create, { d: this.#world.deviceIds[0] }))['addNote'].id;
  }

  /** An alert that is on. */
  async alert(): Promise<string> {
    const id = this.#world.deviceIds.at(-2)!;
    await this.#server.record(id, [{ field: 'f0', value: ALARMING }]);
    for (;;) {
      const query = 'query ($d: ID!) { alerts(deviceId: $d, state: [FIRING]) { edges { node { id } } } }';
      const { alerts } = await this.#server.gql(query, { d: id });
      if (alerts.edges.length > 0) return alerts.edges[0].node.id;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** A field under another identifier than it was made with. */
  async renamedField(): Promise<{ id: string; identifier: string }> {
    const id = await this.part('addField');
    const rename = `mutation ($id: ID!, $to: String!) { renameField(id: $id, identifier: $to) { aliases } }`;
    const { renameField } = await this.#server.gql(rename, { id, to: unique(this.#world) });
    return { id, identifier: renameField.aliases[0] };
  }

  /** Values in a device, to be deleted; resolves with the device's id. */
  async values(): Promise<string> {
    const id = this.#world.deviceIds.at(-1)!;
    const entries = Array.from({ length: Math.min(this.#world.size.many, 3_000) }, (_, at) => ({
      field: 'f0',
      value: at,
      timestamp: 1e9 + at,
    }));
    await this.#server.record(id, entries);
    return id;
  }
}
