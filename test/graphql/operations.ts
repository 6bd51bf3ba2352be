import { createHash } from 'node:crypto';
import { noteOf, type Tenant } from '../support/tenant.ts';

type Scope = 'READ' | 'RECORD' | 'CONFIGURE' | 'ADMIN';

/** One way to reach for something by its id. */
export interface Reach {
  query: string;
  /** `target` owns what is reached for; `self` is who asks. */
  variables: (target: Tenant, self: Tenant) => Record<string, unknown>;
  /** What the operation needs. */
  scope: Scope;
  /** What the ids name: decides what a limited token answers. */
  level: 'workspace' | 'product' | 'device';
}

/** An operation that takes no id of a tenant: it must never show what another tenant owns. `refused`: only operators may. */
export interface Open {
  query: string;
  variables?: (self: Tenant) => Record<string, unknown>;
  scope: Scope | null;
  refused?: true;
  /** For whoever has a secret, which is none here; no token is needed. */
  secret?: true;
  /** For people: refused to INDIVIDUAL tokens. */
  person?: true;
}

const PRODUCT = 'id name deviceType dashboard webhookId webhookUrl fields { id identifier } createdAt';
const DEVICE = 'id name serialNumber deviceType plan { slug } tags metadata location createdAt product { id name }';
/** What a rule watches for, as an input has it; it never fires. */
const LEVELS = 'levels: [{ severity: INFO, all: [{ absentSeconds: 2678400 }] }]';
const ENDPOINT = 'id name key url events deliveries { edges { node { body } } }';
const FAR = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };

function reach(
  level: Reach['level'],
  scope: Scope,
  query: string,
  variables: Reach['variables'] = (target) => ({ id: idOf(level, target) }),
): Reach {
  return { level, scope, query, variables };
}

function itsNote({ noteId }: Tenant): Record<string, unknown> {
  return { id: noteId };
}

function idOf(level: Reach['level'], tenant: Tenant): string {
  return level === 'workspace' ? tenant.workspaceId : level === 'product' ? tenant.productId : tenant.deviceId;
}

/** The hash of a plan of a document that names nothing. */
function hashOfNothing(workspaceId: string): string {
  const how = JSON.stringify({ workspaceId, set: '', prune: false, deleteData: false });
  return createHash('sha256').update(`${how}\n0\n0\n[]\n`).digest('base64url');
}

/** Every operation of the schema, and every field of a type that takes an id, by its name. */
export const REACHES: Record<string, Reach[]> = {
  'Query.workspace': [
    reach('workspace', 'READ', 'query ($id: ID!) { workspace(id: $id) { id name members { user { email } } } }'),
  ],
  'Query.products': [
    reach('workspace', 'READ', `query ($id: ID) { products(workspaceId: $id) { edges { node { ${PRODUCT} } } } }`),
  ],
  'Query.product': [
    reach('product', 'READ', `query ($id: ID!) { product(id: $id) { ${PRODUCT} decoder { source } } }`),
    reach('product', 'READ', 'query ($id: ID!) { product(id: $id) { devices { edges { node { name } } } } }'),
    reach('product', 'READ', 'query ($id: ID!) { product(id: $id) { suggestedFields { identifier } } }'),
    reach(
      'product',
      'READ',
      'query ($id: ID!) { product(key: "of-tenant", workspaceId: $id) { id name key } }',
      (target) => ({ id: target.workspaceId }),
    ),
  ],
  'Query.exportConfiguration': [
    reach('workspace', 'ADMIN', 'query ($id: ID) { exportConfiguration(workspaceId: $id) }'),
  ],
  'Query.planChange': [
    reach('device', 'READ', 'query ($id: ID!) { planChange(deviceId: $id, plan: "free") { plan measurements } }'),
  ],
  'Query.productChange': [
    reach(
      'device',
      'CONFIGURE',
      'query ($id: ID!, $p: ID!) { productChange(deviceId: $id, productId: $p) { measurements } }',
      (target, self) => ({ id: target.deviceId, p: self.otherProductId }),
    ),
  ],
  'Query.devices': [
    reach('workspace', 'READ', `query ($id: ID) { devices(workspaceId: $id) { edges { node { ${DEVICE} } } } }`),
    reach('product', 'READ', `query ($id: ID) { devices(productId: $id) { edges { node { ${DEVICE} } } } }`),
  ],
  'Query.deviceBySerialNumber': [
    reach(
      'workspace',
      'READ',
      `query ($id: ID) { deviceBySerialNumber(serialNumber: "x", workspaceId: $id) { ${DEVICE} } }`,
    ),
    reach(
      'product',
      'READ',
      `query ($id: ID) { deviceBySerialNumber(serialNumber: "x", productId: $id) { ${DEVICE} } }`,
    ),
  ],
  'Query.auditLog': [
    reach(
      'workspace',
      'ADMIN',
      'query ($id: ID) { auditLog(workspaceId: $id) { edges { node { id userEmail subjects arguments } } } }',
    ),
  ],
  'Query.dashboard': [
    reach('device', 'READ', 'query ($id: ID!) { dashboard(id: $id) { id name widgets } }', (target) => ({
      id: target.dashboardId,
    })),
  ],
  'Query.unknownDevices': [
    reach('workspace', 'READ', 'query ($id: ID) { unknownDevices(workspaceId: $id) { id identifier network seen } }'),
  ],
  'Mutation.adoptUnknownDevice': [
    reach(
      'workspace',
      'CONFIGURE',
      `mutation ($id: ID!, $product: ID!) {
         adoptUnknownDevice(id: $id, productId: $product, plan: "unlimited") { ${DEVICE} }
       }`,
      (target, self) => ({ id: target.unknownDeviceId, product: self.productId }),
    ),
  ],
  'Mutation.adoptUnknownDevices': [
    reach(
      'workspace',
      'CONFIGURE',
      `mutation ($id: ID!, $product: ID!) {
         adoptUnknownDevices(ids: [$id], productId: $product, plan: "unlimited") { ${DEVICE} }
       }`,
      (target, self) => ({ id: target.otherUnknownDeviceId, product: self.productId }),
    ),
  ],
  'Mutation.addConfigurationField': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { addConfigurationField(productId: $id, input: { identifier: "X", type: NUMBER }) { id } }',
    ),
  ],
  'Mutation.updateConfigurationField': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { updateConfigurationField(id: $id, input: { description: "x" }) { id name } }',
      (target) => ({ id: target.configurationFieldId }),
    ),
  ],
  'Mutation.removeConfigurationField': [
    reach('product', 'CONFIGURE', 'mutation ($id: ID!) { removeConfigurationField(id: $id) }', (target) => ({
      id: target.configurationFieldId,
    })),
  ],
  'Query.alerts': (['workspaceId', 'productId', 'deviceId'] as const).map((name) =>
    reach(
      name === 'workspaceId' ? 'workspace' : name === 'productId' ? 'product' : 'device',
      'READ',
      `query ($id: ID) { alerts(${name}: $id) { edges { node { id rule { name } device { name } } } } }`,
    ),
  ),
  'Mutation.acknowledgeAlert': [
    reach(
      'device',
      'CONFIGURE',
      'mutation ($id: ID!) { acknowledgeAlert(id: $id) { id device { name } } }',
      (target) => ({ id: target.alertId }),
    ),
  ],
  'Mutation.snoozeAlert': [
    reach(
      'device',
      'CONFIGURE',
      'mutation ($id: ID!) { snoozeAlert(id: $id, until: "2100-01-01T00:00:00Z") { id device { name } } }',
      (target) => ({ id: target.alertId }),
    ),
  ],
  'Mutation.createRule': [
    reach(
      'product',
      'CONFIGURE',
      `mutation ($id: ID!) { createRule(productId: $id, input: { name: "x", ${LEVELS} }) { id product { name } } }`,
    ),
  ],
  'Mutation.updateRule': [
    reach(
      'product',
      'CONFIGURE',
      `mutation ($id: ID!) { updateRule(id: $id, input: { name: "x", ${LEVELS} }) { id product { name } } }`,
      (target) => ({ id: target.ruleId }),
    ),
  ],
  'Mutation.testRule': [
    reach(
      'product',
      'READ',
      `mutation ($id: ID!, $from: DateTime!, $to: DateTime!) {
         testRule(ruleId: $id, from: $from, to: $to) { device { name } values }
       }`,
      (target) => ({ id: target.ruleId, ...FAR }),
    ),
    reach(
      'product',
      'READ',
      `mutation ($id: ID!, $from: DateTime!, $to: DateTime!) {
         testRule(productId: $id, input: { name: "x", ${LEVELS} }, from: $from, to: $to) { device { name } values }
       }`,
      (target) => ({ id: target.productId, ...FAR }),
    ),
  ],
  'Mutation.deleteRule': [
    reach('product', 'CONFIGURE', 'mutation ($id: ID!) { deleteRule(id: $id) }', (target) => ({ id: target.ruleId })),
  ],
  'Mutation.setConfiguration': [
    reach('device', 'CONFIGURE', `mutation ($id: ID!) { setConfiguration(deviceId: $id, values: {}) { ${DEVICE} } }`),
  ],
  'Mutation.addNote': [
    reach('device', 'CONFIGURE', 'mutation ($id: ID!) { addNote(deviceId: $id, text: "x") { id text author } }'),
  ],
  'Mutation.updateNote': [
    reach(
      'device',
      'CONFIGURE',
      'mutation ($id: ID!) { updateNote(id: $id, at: "2020-01-01T00:00:00Z") { text } }',
      itsNote,
    ),
  ],
  'Mutation.removeNote': [reach('device', 'CONFIGURE', 'mutation ($id: ID!) { removeNote(id: $id) }', itsNote)],
  'Query.device': [
    reach(
      'device',
      'READ',
      `query ($id: ID!) { device(id: $id) { ${DEVICE} latest { value } lastHeardAt notes { text author } } }`,
    ),
    reach(
      'device',
      'READ',
      `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
         device(id: $id) {
           history(from: $from, to: $to) { values }
           statistics(from: $from, to: $to) { count first { value } }
           measurements(field: "NOTE") { edges { node { value } } }
         }
       }`,
      (target) => ({ id: target.deviceId, ...FAR }),
    ),
  ],
  'Query.history': [
    ...(['deviceIds: [$id]', 'productId: $id'] as const).map((choice) =>
      reach(
        choice.startsWith('device') ? 'device' : 'product',
        'READ',
        `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
           history(${choice}, from: $from, to: $to) { device { ${DEVICE} } series { values before { value } } }
         }`,
        (target) => ({ id: choice.startsWith('device') ? target.deviceId : target.productId, ...FAR }),
      ),
    ),
    reach(
      'device',
      'READ',
      `query ($id: ID!, $own: ID!, $from: DateTime!, $to: DateTime!) {
         history(deviceIds: [$own, $id], from: $from, to: $to) { device { id name } series { values } }
       }`,
      (target, self) => ({ id: target.deviceId, own: self.deviceId, ...FAR }),
    ),
  ],
  'Product.call': [
    reach(
      'product',
      'READ',
      'query ($id: ID!, $call: ID!) { product(id: $id) { call(id: $call) { body path } } }',
      (target, self) => ({ id: self.productId, call: target.callId }),
    ),
  ],
  'Mutation.setMember': [
    reach(
      'workspace',
      'ADMIN',
      'mutation ($id: ID!, $user: ID!) { setMember(workspaceId: $id, userId: $user, role: ADMIN) { id name } }',
      (target, self) => ({ id: target.workspaceId, user: self.userId }),
    ),
    reach(
      'workspace',
      'ADMIN',
      'mutation ($id: ID!, $user: ID!) { setMember(workspaceId: $id, userId: $user, role: ADMIN) { members { user { email } } } }',
      (target, self) => ({ id: self.workspaceId, user: target.userId }),
    ),
  ],
  'Mutation.createInvitation': [
    reach(
      'workspace',
      'ADMIN',
      'mutation ($id: ID!) { createInvitation(workspaceId: $id, email: "new@example.org", role: VIEWER) { url } }',
    ),
  ],
  'Mutation.revokeInvitation': [
    reach(
      'workspace',
      'ADMIN',
      'mutation ($id: ID!) { revokeInvitation(workspaceId: $id, email: "old@example.org") { id name } }',
    ),
  ],
  'Mutation.createPasswordReset': [
    reach('workspace', 'ADMIN', 'mutation ($user: ID!) { createPasswordReset(userId: $user) { url } }', (target) => ({
      user: target.userId,
    })),
  ],
  'Mutation.removeMember': [
    reach(
      'workspace',
      'ADMIN',
      'mutation ($id: ID!, $user: ID!) { removeMember(workspaceId: $id, userId: $user) { id name } }',
      (target) => ({ id: target.workspaceId, user: target.userId }),
    ),
    reach(
      'workspace',
      'ADMIN',
      'mutation ($id: ID!, $user: ID!) { removeMember(workspaceId: $id, userId: $user) { id name } }',
      (target, self) => ({ id: self.workspaceId, user: target.userId }),
    ),
  ],
  'Mutation.createToken': [
    reach(
      'workspace',
      'ADMIN',
      'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }',
      (target) => ({
        input: { name: 'x', kind: 'INDIVIDUAL', workspaceId: target.workspaceId, scopes: ['READ'] },
      }),
    ),
    ...(['productIds', 'deviceIds'] as const).map((limit) =>
      reach(
        'workspace',
        'ADMIN',
        'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { products { name } devices { name } } } }',
        (target, self) => ({
          input: {
            name: 'x',
            kind: 'INDIVIDUAL',
            workspaceId: self.workspaceId,
            scopes: ['READ'],
            [limit]: [limit === 'productIds' ? target.productId : target.deviceId],
          },
        }),
      ),
    ),
  ],
  'Mutation.updateToken': [
    reach(
      'workspace',
      'ADMIN',
      'mutation ($id: ID!) { updateToken(id: $id, input: { name: "x" }) { name } }',
      (target) => ({
        id: target.individualId,
      }),
    ),
  ],
  'Mutation.saveDeviceView': [
    reach(
      'workspace',
      'CONFIGURE',
      'mutation ($id: ID!) { saveDeviceView(workspaceId: $id, name: "x", query: "?online=no", shared: true) { id } }',
    ),
  ],
  'Mutation.deleteDeviceView': [
    reach(
      'workspace',
      'CONFIGURE',
      'mutation ($id: ID!) { deleteDeviceView(workspaceId: $id, name: "x", shared: true) { id } }',
    ),
  ],
  'Mutation.renameWorkspace': [
    reach('workspace', 'ADMIN', 'mutation ($id: ID!) { renameWorkspace(id: $id, name: "x") { name } }'),
  ],
  'Mutation.deleteWorkspace': [reach('workspace', 'ADMIN', 'mutation ($id: ID!) { deleteWorkspace(id: $id) }')],
  'Mutation.planConfiguration': [
    reach('workspace', 'ADMIN', 'mutation ($id: ID) { planConfiguration(workspaceId: $id, document: "{}") { hash } }'),
  ],
  'Mutation.applyConfiguration': [
    reach(
      'workspace',
      'ADMIN',
      'mutation ($id: ID, $hash: String!) { applyConfiguration(workspaceId: $id, document: "{}", hash: $hash) { hash } }',
      (target) => ({ id: target.workspaceId, hash: hashOfNothing(target.workspaceId) }),
    ),
  ],
  'Mutation.renewToken': [
    reach('workspace', 'ADMIN', 'mutation ($id: ID!) { renewToken(id: $id) { secret } }', (target) => ({
      id: target.individualId,
    })),
  ],
  'Mutation.revokeToken': [
    reach('workspace', 'ADMIN', 'mutation ($id: ID!) { revokeToken(id: $id) }', (target) => ({
      id: target.individualId,
    })),
  ],
  'Mutation.createProduct': [
    reach(
      'workspace',
      'CONFIGURE',
      'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }',
      (target) => ({ input: { name: 'x', workspaceId: target.workspaceId } }),
    ),
  ],
  'Mutation.updateProduct': [
    reach(
      'product',
      'CONFIGURE',
      `mutation ($id: ID!) { updateProduct(id: $id, input: { name: "x" }) { ${PRODUCT} } }`,
    ),
  ],
  'Mutation.cloneProduct': [
    reach(
      'workspace',
      'CONFIGURE',
      `mutation ($id: ID!) { cloneProduct(id: $id, name: "x") { ${PRODUCT} } }`,
      (target) => ({ id: target.productId }),
    ),
  ],
  'Mutation.deleteProduct': [reach('product', 'CONFIGURE', 'mutation ($id: ID!) { deleteProduct(id: $id) }')],
  'Mutation.rotateWebhook': [
    reach('product', 'CONFIGURE', `mutation ($id: ID!) { rotateWebhook(productId: $id) { ${PRODUCT} } }`),
  ],
  'Mutation.addField': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { addField(productId: $id, input: { identifier: "X", type: FLOAT }) { id } }',
    ),
  ],
  'Mutation.updateField': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { updateField(id: $id, input: { unit: "x" }) { id name } }',
      (target) => ({ id: target.fieldId }),
    ),
  ],
  'Mutation.ignoreSuggestedField': [
    reach(
      'product',
      'CONFIGURE',
      `mutation ($id: ID!) { ignoreSuggestedField(productId: $id, identifier: "SEEN") { ${PRODUCT} } }`,
    ),
  ],
  'Mutation.renameField': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { renameField(id: $id, identifier: "NOTE") { id aliases } }',
      (target) => ({ id: target.fieldId }),
    ),
  ],
  'Mutation.removeFieldAlias': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { removeFieldAlias(id: $id, identifier: "EARLIER") { id } }',
      (target) => ({ id: target.fieldId }),
    ),
  ],
  'Mutation.removeField': [
    reach('product', 'CONFIGURE', 'mutation ($id: ID!) { removeField(id: $id) }', (target) => ({ id: target.fieldId })),
  ],
  'Mutation.createDevices': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { createDevices(productId: $id, devices: [{ name: "x" }], plan: "unlimited") { id } }',
    ),
  ],
  'Mutation.updateDevices': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { updateDevices(productId: $id, search: "nothing like it", input: { addTags: ["x"] }) { matched } }',
    ),
  ],
  'Mutation.importDevices': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { importDevices(productId: $id, text: "serialNumber\\nimported", onExisting: KEEP, plan: "unlimited") { created } }',
    ),
  ],
  'Mutation.updateDevice': [
    reach('device', 'CONFIGURE', `mutation ($id: ID!) { updateDevice(id: $id, input: { name: "x" }) { ${DEVICE} } }`),
  ],
  'Mutation.replaceDevice': [
    reach(
      'device',
      'CONFIGURE',
      `mutation ($id: ID!) { replaceDevice(id: $id, serialNumber: "replaced") { ${DEVICE} } }`,
    ),
  ],
  'Mutation.deleteDevices': [
    reach('device', 'CONFIGURE', 'mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', (target, self) => ({
      ids: [self.deviceId, target.deviceId],
    })),
  ],
  'Mutation.setWriteRate': [
    reach('workspace', 'ADMIN', 'mutation ($id: ID) { setWriteRate(workspaceId: $id, perSecond: 1) }'),
    reach('product', 'CONFIGURE', 'mutation ($id: ID) { setWriteRate(productId: $id, perSecond: 1) }'),
    reach('device', 'CONFIGURE', 'mutation ($id: ID) { setWriteRate(deviceId: $id, reset: true) }'),
  ],
  'Mutation.saveDecoder': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { saveDecoder(productId: $id, source: "function Decoder() {}") { version } }',
    ),
  ],
  'Mutation.activateDecoder': [
    reach('product', 'CONFIGURE', 'mutation ($id: ID!) { activateDecoder(productId: $id, version: 1) { source } }'),
  ],
  'Mutation.addDecoderExample': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { addDecoderExample(productId: $id, name: "x", request: {}, expected: []) { id } }',
    ),
  ],
  'Mutation.removeDecoderExample': [
    reach('product', 'CONFIGURE', 'mutation ($id: ID!) { removeDecoderExample(id: $id) }', (target) => ({
      id: target.exampleId,
    })),
  ],
  'Mutation.testDecoder': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!) { testDecoder(productId: $id, request: { body: "" }) { output console } }',
    ),
    reach(
      'product',
      'CONFIGURE',
      `mutation ($id: ID!, $call: ID!) {
         testDecoder(productId: $id, callId: $call, source: "function Decoder(r) { console.log(r.body) }") { console }
       }`,
      (target, self) => ({ id: self.productId, call: target.callId }),
    ),
  ],
  'Mutation.replayCalls': [
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!, $calls: [ID!]) { replayCalls(productId: $id, callIds: $calls) { results { call { body } } } }',
      (target) => ({ id: target.productId, calls: [target.callId] }),
    ),
    reach(
      'product',
      'CONFIGURE',
      'mutation ($id: ID!, $calls: [ID!]) { replayCalls(productId: $id, callIds: $calls) { results { call { body } } } }',
      (target, self) => ({ id: self.productId, calls: [target.callId] }),
    ),
  ],
  'Mutation.createEndpoint': [
    reach(
      'workspace',
      'CONFIGURE',
      'mutation ($id: ID) { createEndpoint(workspaceId: $id, input: { key: "again", name: "x", kind: WEBHOOK, url: "http://127.0.0.1:9/", events: [] }) { secret } }',
    ),
  ],
  'Mutation.saveDashboard': [
    reach(
      'workspace',
      'CONFIGURE',
      'mutation ($id: ID, $w: JSON!) { saveDashboard(workspaceId: $id, name: "x", widgets: $w) { id name widgets } }',
      (target, self) => ({ id: target.workspaceId, w: [noteOf(self.deviceId, 'x')] }),
    ),
    reach(
      'workspace',
      'CONFIGURE',
      'mutation ($id: ID, $w: JSON!) { saveDashboard(id: $id, name: "x", widgets: $w) { id name widgets } }',
      (target, self) => ({ id: target.dashboardId, w: [noteOf(self.deviceId, 'x')] }),
    ),
  ],
  'Mutation.deleteDashboard': [
    reach('workspace', 'CONFIGURE', 'mutation ($id: ID!) { deleteDashboard(id: $id) }', (target) => ({
      id: target.dashboardId,
    })),
  ],
  'Mutation.updateEndpoint': [
    reach(
      'workspace',
      'CONFIGURE',
      `mutation ($id: ID!) { updateEndpoint(id: $id, input: { name: "x", kind: WEBHOOK, events: [] }) { ${ENDPOINT} } }`,
      (target) => ({ id: target.endpointId }),
    ),
  ],
  'Mutation.rotateEndpointSecret': [
    reach('workspace', 'CONFIGURE', 'mutation ($id: ID!) { rotateEndpointSecret(id: $id) { secret } }', (target) => ({
      id: target.endpointId,
    })),
  ],
  'Mutation.deleteEndpoint': [
    reach('workspace', 'CONFIGURE', 'mutation ($id: ID!) { deleteEndpoint(id: $id) }', (target) => ({
      id: target.endpointId,
    })),
  ],
  'Mutation.testEndpoint': [
    reach('workspace', 'CONFIGURE', 'mutation ($id: ID!) { testEndpoint(id: $id) { body } }', (target) => ({
      id: target.endpointId,
    })),
  ],
  'Mutation.retryDeliveries': [
    reach('workspace', 'CONFIGURE', 'mutation ($id: ID!) { retryDeliveries(endpointId: $id) }', (target) => ({
      id: target.endpointId,
    })),
  ],
  'Mutation.recordMeasurements': [
    reach(
      'device',
      'RECORD',
      'mutation ($id: ID!) { recordMeasurements(deviceId: $id, entries: [{ field: "NOTE", value: "x" }]) { stored } }',
    ),
  ],
  'Mutation.deleteMeasurements': [
    reach(
      'device',
      'CONFIGURE',
      'mutation ($id: ID!, $from: DateTime!, $to: DateTime!) { deleteMeasurements(deviceId: $id, from: $from, to: $to) { measurements } }',
      (target) => ({ id: target.deviceId, ...FAR }),
    ),
  ],
  'Subscription.measurementsRecorded': [
    reach(
      'workspace',
      'READ',
      'subscription ($id: ID) { measurementsRecorded(workspaceId: $id) { device { name } measurements { value } } }',
    ),
    reach(
      'product',
      'READ',
      'subscription ($id: ID) { measurementsRecorded(productId: $id) { device { name } measurements { value } } }',
    ),
    reach(
      'device',
      'READ',
      'subscription ($id: ID!) { measurementsRecorded(deviceIds: [$id]) { device { name } measurements { value } } }',
    ),
  ],
  'Subscription.deviceStatusChanged': (['workspaceId: $id', 'productId: $id', 'deviceIds: [$id]'] as const).map(
    (choice) =>
      reach(
        choice.startsWith('workspace') ? 'workspace' : choice.startsWith('product') ? 'product' : 'device',
        'READ',
        `subscription ($id: ID!) { deviceStatusChanged(${choice}) { device { name } online } }`,
      ),
  ),
  'Subscription.alertChanged': (['workspaceId: $id', 'productId: $id', 'deviceIds: [$id]'] as const).map((choice) =>
    reach(
      choice.startsWith('workspace') ? 'workspace' : choice.startsWith('product') ? 'product' : 'device',
      'READ',
      `subscription ($id: ID!) { alertChanged(${choice}) { cursor alert { rule { name } device { name } } } }`,
    ),
  ),
  'Subscription.deliveryChanged': [
    reach('workspace', 'READ', 'subscription ($id: ID!) { deliveryChanged(endpointId: $id) { body } }', (target) => ({
      id: target.endpointId,
    })),
  ],
  'Subscription.webhookCalled': [
    reach('product', 'READ', 'subscription ($id: ID!) { webhookCalled(productId: $id) { body } }'),
  ],
};

/** Operations that name nothing of a tenant. */
export const OPENS: Record<string, Open> = {
  'Query.viewer': {
    scope: null,
    query:
      '{ viewer { user { id email } token { id name scopes products { id } devices { id } } workspaces { id name } } }',
  },
  'Query.workspaces': {
    scope: 'READ',
    query: '{ workspaces { id name members { user { id email } } tokens { id name } } }',
  },
  'Query.products': { scope: 'READ', query: `{ products { edges { node { ${PRODUCT} } } } }` },
  'Query.devices': { scope: 'READ', query: `{ devices { edges { node { ${DEVICE} } } } }` },
  'Query.plans': { scope: null, query: '{ plans { slug name deviceAllowance retentionDays } }' },
  'Query.installation': { scope: null, refused: true, query: '{ installation { nodes replicas { name } } }' },
  'Mutation.createWorkspace': { scope: null, refused: true, query: 'mutation { createWorkspace(name: "x") { id } }' },
  'Mutation.createUser': {
    scope: null,
    refused: true,
    query: 'mutation { createUser(input: { email: "x@example.org" }) { id } }',
  },
  'Query.user': {
    scope: 'ADMIN',
    query: 'query ($email: String!) { user(email: $email) { id email name } }',
    variables: (self) => ({ email: self.email }),
  },
  'Mutation.updateUser': {
    scope: null,
    refused: true,
    query: 'mutation ($id: ID!) { updateUser(id: $id, input: { name: "x" }) { id } }',
    variables: (self) => ({ id: self.userId }),
  },
  'Mutation.deleteUser': {
    scope: null,
    refused: true,
    query: 'mutation ($id: ID!) { deleteUser(id: $id) }',
    variables: (self) => ({ id: self.userId }),
  },
  'Mutation.changePassword': {
    scope: null,
    person: true,
    query:
      'mutation ($password: String!) { changePassword(currentPassword: $password, newPassword: $password) { id email } }',
    variables: () => ({ password: 'correct horse battery' }),
  },
  'Query.users': {
    scope: 'ADMIN',
    query: '{ users { edges { node { id email name } } } }',
  },
  'Mutation.acceptInvitation': {
    scope: null,
    secret: true,
    query: 'mutation { acceptInvitation(secret: "none", password: "correct horse battery") { token { name } } }',
  },
  'Mutation.resetPassword': {
    scope: null,
    secret: true,
    query: 'mutation { resetPassword(secret: "none", password: "correct horse battery") { token { name } } }',
  },
  'Mutation.signIn': {
    scope: null,
    query:
      'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { token { name } } }',
    variables: (self) => ({ email: self.email, password: 'correct horse battery' }),
  },
};

/** Those after which the others have nothing left to reach for, in the order in which they can be done. */
export const DESTRUCTIVE = [
  'Mutation.removeField',
  'Mutation.removeConfigurationField',
  'Mutation.adoptUnknownDevice',
  'Mutation.adoptUnknownDevices',
  'Mutation.deleteMeasurements',
  'Mutation.removeDecoderExample',
  'Mutation.deleteDevices',
  'Mutation.deleteProduct',
  'Mutation.deleteEndpoint',
  'Mutation.renewToken',
  'Mutation.revokeToken',
  'Mutation.removeMember',
  'Mutation.deleteWorkspace',
];
