import { randomBytes } from 'node:crypto';
import type { TestServer } from './server.ts';

/** One tenant with something of everything; every name in it holds `marker`. */
export interface Tenant {
  marker: string;
  workspaceId: string;
  userId: string;
  email: string;
  /** The PERSONAL token of the tenant's ADMIN, who is no operator. */
  personal: string;
  /** An INDIVIDUAL token with all scopes. */
  individual: string;
  individualId: string;
  productId: string;
  webhookId: string;
  fieldId: string;
  deviceId: string;
  callId: string;
  exampleId: string;
  configurationFieldId: string;
  ruleId: string;
  /** A note of the device. */
  noteId: string;
  /** An alert that fires, of a rule of its own. */
  alertId: string;
  unknownDeviceId: string;
  otherUnknownDeviceId: string;
  /** A second product with one device. */
  otherProductId: string;
  otherDeviceId: string;
  endpointId: string;
  /** Shows the device. */
  dashboardId: string;
}

export const PASSWORD = 'correct horse battery';

/** A user who has signed in. */
interface Person {
  userId: string;
  email: string;
  token: string;
}

/** A user of its own workspace with that role, signed in. */
export async function createMember(
  server: TestServer,
  workspaceId: string,
  role: 'VIEWER' | 'EDITOR' | 'ADMIN',
  email = `${randomBytes(6).toString('hex')}@example.org`,
): Promise<Person> {
  const { createUser } = await server.gql('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
    input: { email, name: email, password: PASSWORD },
  });
  await setMember(server, workspaceId, createUser.id, role);
  return { userId: createUser.id, email, token: await signIn(server, email) };
}

/** Gives the user the role, on behalf of the operator unless of somebody else. */
export async function setMember(
  server: TestServer,
  workspaceId: string,
  userId: string,
  role: 'VIEWER' | 'EDITOR' | 'ADMIN',
  by = server.adminToken,
): Promise<void> {
  const query = 'mutation ($w: ID!, $u: ID!, $r: Role!) { setMember(workspaceId: $w, userId: $u, role: $r) { id } }';
  await server.gql(query, { w: workspaceId, u: userId, r: role }, by);
}

export async function signIn(server: TestServer, email: string, password = PASSWORD): Promise<string> {
  const data = await server.gql(
    'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { secret } }',
    { email, password },
    null,
  );
  return data['signIn'].secret;
}

export async function createWorkspace(server: TestServer, name: string): Promise<string> {
  return (await server.gql('mutation ($name: String!) { createWorkspace(name: $name) { id } }', { name }))[
    'createWorkspace'
  ].id;
}

/** An INDIVIDUAL token; `more` may limit it. */
export async function createToken(
  server: TestServer,
  by: string,
  workspaceId: string,
  scopes: readonly string[],
  more: Record<string, unknown> = {},
): Promise<{ id: string; secret: string }> {
  const { createToken: created } = await server.gql(
    'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }',
    { input: { name: 'token', kind: 'INDIVIDUAL', workspaceId, scopes, ...more } },
    by,
  );
  return { id: created.token.id, secret: created.secret };
}

/** `admin`: who is its ADMIN; left out: a new user. */
export async function createTenant(server: TestServer, admin?: Person): Promise<Tenant> {
  const marker = `marker-${randomBytes(8).toString('hex')}`;
  const workspaceId = await createWorkspace(server, marker);
  if (admin !== undefined) await setMember(server, workspaceId, admin.userId, 'ADMIN');
  const member = admin ?? (await createMember(server, workspaceId, 'ADMIN', `${marker}@example.org`));
  const all = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'];
  const individual = await createToken(server, member.token, workspaceId, all, { name: marker });
  const product = await tenantProduct(server, member.token, workspaceId, marker, 'of-tenant');
  const other = await tenantProduct(server, member.token, workspaceId, marker);
  const data = await server.gql(
    `mutation ($device: ID!, $product: ID!, $marker: String!, $value: MeasurementValue!) {
       recordMeasurements(deviceId: $device, entries: [{ field: "NOTE", value: $value }, { field: "SEEN", value: 1 }]) { stored }
       addConfigurationField(productId: $product, input: { identifier: "NOTE", type: STRING, name: $marker }) { id }
       createRule(productId: $product, input: { name: $marker, levels: [{ severity: INFO, all: [{ absentSeconds: 2678400 }] }] }) { id }
       addDecoderExample(productId: $product, name: $marker, request: { body: "{}" }, expected: []) { id }
       addNote(deviceId: $device, text: $marker) { id }
     }`,
    { device: product.deviceId, product: product.productId, marker, value: marker },
    member.token,
  );
  await fetch(`${server.url}/integrations/api/${product.webhookId}/${marker}`, { method: 'POST', body: marker });
  for (const dev_eui of [`${marker}-2`, marker])
    await fetch(`${server.url}/integrations/lorawan/tti/`, {
      method: 'POST',
      headers: { authorization: `Token ${individual.secret}` },
      body: JSON.stringify({ end_device_ids: { dev_eui }, uplink_message: { f_port: 1, frm_payload: 'AQ==' } }),
    });
  const { unknownDevices } = await server.gql('{ unknownDevices { id identifier } }', {}, individual.secret);
  const unknownId = (name: string): string =>
    unknownDevices.find(({ identifier }: { identifier: string }) => identifier === name).id;
  const { createEndpoint } = await server.gql(
    `mutation ($id: ID, $name: String!, $url: String) {
       createEndpoint(workspaceId: $id, input: { name: $name, kind: WEBHOOK, url: $url, events: [] }) { endpoint { id } }
     }`,
    { id: workspaceId, name: marker, url: `http://127.0.0.1:9/${marker}` },
    member.token,
  );
  const { saveDashboard } = await server.gql(
    'mutation ($id: ID, $name: String!, $widgets: JSON!) { saveDashboard(workspaceId: $id, name: $name, widgets: $widgets) { id } }',
    { id: workspaceId, name: marker, widgets: [noteOf(product.deviceId, marker)] },
    member.token,
  );
  const { product: called } = await server.gql(
    'query ($id: ID!) { product(id: $id) { calls { edges { node { id } } } } }',
    { id: product.productId },
    member.token,
  );
  return {
    marker,
    workspaceId,
    userId: member.userId,
    email: member.email,
    personal: member.token,
    individual: individual.secret,
    individualId: individual.id,
    ...product,
    callId: called.calls.edges[0].node.id,
    exampleId: data['addDecoderExample'].id,
    configurationFieldId: data['addConfigurationField'].id,
    ruleId: data['createRule'].id,
    noteId: data['addNote'].id,
    alertId: await makeAlert(server, member.token, product, { withRule: true }),
    unknownDeviceId: unknownId(marker),
    otherUnknownDeviceId: unknownId(`${marker}-2`),
    otherProductId: other.productId,
    otherDeviceId: other.deviceId,
    endpointId: createEndpoint.endpoint.id,
    dashboardId: saveDashboard.id,
  };
}

/** A widget with the note of the device, for a dashboard of its workspace. */
export function noteOf(deviceId: string, title: string): object {
  const place = { x: 0, y: 0, width: 3, height: 2 };
  return { kind: 'state', title, fields: ['NOTE'], place, source: { deviceIds: [deviceId] } };
}

/** The id of a new alert of the device, which fires; `withRule`: the product has no rule for it yet. */
export async function makeAlert(
  server: TestServer,
  token: string,
  { productId, deviceId }: Pick<Tenant, 'productId' | 'deviceId'>,
  { withRule }: { withRule: boolean },
): Promise<string> {
  if (withRule)
    await server.gql(
      `mutation ($p: ID!) {
         addField(productId: $p, input: { identifier: "LEVEL", type: FLOAT }) { id }
         createRule(productId: $p, input: { name: "level", levels: [{ severity: INFO, all: [{ field: "LEVEL", operator: GT, value: 0 }] }] }) { id }
       }`,
      { p: productId },
      token,
    );
  const record =
    'mutation ($d: ID!) { recordMeasurements(deviceId: $d, entries: [{ field: "LEVEL", value: 1 }]) { stored } }';
  await server.gql(record, { d: deviceId }, token);
  for (;;) {
    const query = 'query ($d: ID!) { alerts(deviceId: $d) { edges { node { id } } } }';
    const { alerts } = await server.gql(query, { d: deviceId }, token);
    if (alerts.edges.length > 0) return alerts.edges[0].node.id;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function tenantProduct(
  server: TestServer,
  token: string,
  workspaceId: string,
  marker: string,
  key?: string,
): Promise<Pick<Tenant, 'productId' | 'webhookId' | 'fieldId' | 'deviceId'>> {
  const { createProduct } = await server.gql(
    `mutation ($input: CreateProductInput!) {
       createProduct(input: $input) { id webhookId fields { id } }
     }`,
    {
      input: {
        name: marker,
        key,
        workspaceId,
        fields: [{ identifier: 'NOTE', type: 'STRING', name: marker }],
        decoder: `function Decoder() { return [] /* ${marker} */ }`,
      },
    },
    token,
  );
  const { createDevices } = await server.gql(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices) { id } }',
    { id: createProduct.id, devices: [{ name: marker, tags: [marker], metadata: { marker } }] },
    token,
  );
  return {
    productId: createProduct.id,
    webhookId: createProduct.webhookId,
    fieldId: createProduct.fields[0].id,
    deviceId: createDevices[0].id,
  };
}
