import type { TokenScope } from '../entities/token.ts';

/**
 * Who may ask for an operation at all. `everybody`: no token needed. `token`: any token. `person`: a PERSONAL token.
 * `operator`: an operator's. Else every scope named, in the workspace that the operation is about.
 */
export interface OperationRight {
  needs: 'everybody' | 'token' | 'person' | 'operator' | readonly TokenScope[];
  /** About the workspace as a whole: not for a token limited to some products or devices. */
  whole?: true;
}

/**
 * Who may read a field: one of the scopes will do (`any`: whoever got hold of the object). `product`: the token must
 * cover the product as a whole, a device of it is not enough; `device`: it must cover the device.
 */
export interface FieldRight {
  anyOf: 'any' | readonly TokenScope[];
  on: 'parent' | 'product' | 'device';
}

const READ: OperationRight = { needs: ['READ'] };
const RECORD: OperationRight = { needs: ['RECORD'] };
const CONFIGURE: OperationRight = { needs: ['CONFIGURE'] };
const ADMIN: OperationRight = { needs: ['ADMIN'], whole: true };

/**
 * Every operation of the GraphQL API (CONTRACT 7). Which workspace, product or device it is about is checked by its
 * service, with the same scope, through `Access`. What has no row needs every scope over the whole workspace.
 */
export const OPERATIONS: Readonly<Record<string, OperationRight>> = {
  'Query.viewer': { needs: 'token' },
  'Query.plans': { needs: 'token' },
  'Query.user': ADMIN,
  'Query.workspaces': READ,
  'Query.workspace': READ,
  'Query.products': READ,
  'Query.product': READ,
  'Query.devices': READ,
  'Query.device': READ,
  'Query.deviceBySerialNumber': READ,
  'Query.history': READ,
  'Query.unknownDevices': { needs: ['READ'], whole: true },
  // Without a workspace it is about the installation, for operators: the argument decides.
  'Query.auditLog': ADMIN,

  'Mutation.signIn': { needs: 'everybody' },
  'Mutation.createWorkspace': { needs: 'operator' },
  'Mutation.createUser': { needs: 'operator' },
  'Mutation.updateUser': { needs: 'operator' },
  'Mutation.deleteUser': { needs: 'operator' },
  'Mutation.changePassword': { needs: 'person' },
  'Mutation.renameWorkspace': ADMIN,
  'Mutation.deleteWorkspace': { needs: ['ADMIN', 'CONFIGURE'], whole: true },
  'Mutation.setMember': ADMIN,
  'Mutation.removeMember': ADMIN,
  // INDIVIDUAL needs ADMIN, PERSONAL a person: the kind decides.
  'Mutation.createToken': { needs: 'token' },
  'Mutation.updateToken': { needs: 'token' },
  'Mutation.revokeToken': { needs: 'token' },
  'Mutation.createProduct': { needs: ['CONFIGURE'], whole: true },
  'Mutation.updateProduct': CONFIGURE,
  'Mutation.deleteProduct': CONFIGURE,
  'Mutation.cloneProduct': { needs: ['READ', 'CONFIGURE'], whole: true },
  'Mutation.rotateWebhook': CONFIGURE,
  'Mutation.ignoreSuggestedField': CONFIGURE,
  'Mutation.addField': CONFIGURE,
  'Mutation.updateField': CONFIGURE,
  'Mutation.removeField': CONFIGURE,
  'Mutation.addConfigurationField': CONFIGURE,
  'Mutation.updateConfigurationField': CONFIGURE,
  'Mutation.removeConfigurationField': CONFIGURE,
  'Mutation.createDevices': CONFIGURE,
  // Another serial number needs the product as a whole: whether it is free tells of devices that a limit hides.
  'Mutation.updateDevice': CONFIGURE,
  'Mutation.deleteDevices': CONFIGURE,
  'Mutation.setConfiguration': CONFIGURE,
  // The same, unless it is that of the device to absorb, which the token sees.
  'Mutation.replaceDevice': CONFIGURE,
  'Mutation.adoptUnknownDevice': { needs: ['CONFIGURE'], whole: true },
  // Of a workspace it needs ADMIN: the id decides.
  'Mutation.setWriteRate': CONFIGURE,
  'Mutation.saveDecoder': CONFIGURE,
  'Mutation.activateDecoder': CONFIGURE,
  'Mutation.addDecoderExample': CONFIGURE,
  'Mutation.removeDecoderExample': CONFIGURE,
  // What a decoder prints is whatever it was shown: stored values, and the bodies of calls.
  'Mutation.testDecoder': { needs: ['CONFIGURE', 'READ'] },
  'Mutation.replayCalls': CONFIGURE,
  'Mutation.recordMeasurements': RECORD,
  'Mutation.deleteMeasurements': CONFIGURE,

  'Subscription.measurementsRecorded': READ,
  'Subscription.webhookCalled': READ,
  'Subscription.deviceStatusChanged': READ,
};

const ANY: FieldRight = { anyOf: 'any', on: 'parent' };
/** How something is set up: for who reads it, and for who may change it. */
const SETUP: FieldRight = { anyOf: ['READ', 'CONFIGURE'], on: 'parent' };
/** What was measured or sent. */
const VALUES: FieldRight = { anyOf: ['READ'], on: 'parent' };

/**
 * Every object type of the GraphQL API: `Type.*` for its fields, and those that differ by name. The objects themselves
 * are guarded by the operation or field that leads to them; what is here stops those who came another way, such as
 * `rejected { matchedDevice }` of a token that may only RECORD.
 */
export const FIELDS: Readonly<Record<string, FieldRight>> = {
  'Product.*': { anyOf: ['READ'], on: 'product' },
  'Product.id': ANY,
  'Product.name': ANY,
  'Product.deviceType': ANY,
  'Product.createdAt': ANY,
  'Product.offlineAfterSeconds': SETUP,
  'Product.fields': SETUP,
  'Product.field': SETUP,
  'Product.configurationFields': SETUP,
  'Product.writeRate': { anyOf: ['READ', 'CONFIGURE'], on: 'product' },
  'Product.dashboard': { anyOf: ['READ', 'CONFIGURE'], on: 'product' },
  'Product.decoder': { anyOf: ['READ', 'CONFIGURE'], on: 'product' },
  'Product.webhookId': { anyOf: ['CONFIGURE'], on: 'product' },
  'Product.webhookUrl': { anyOf: ['CONFIGURE'], on: 'product' },

  'Device.*': { anyOf: ['READ'], on: 'device' },
  'Device.id': ANY,
  'Device.name': ANY,
  'Device.serialNumber': ANY,
  'Device.deviceType': ANY,
  'Device.product': ANY,
  'Device.createdAt': ANY,
  'Device.plan': { anyOf: ['READ', 'CONFIGURE'], on: 'device' },
  'Device.tags': { anyOf: ['READ', 'CONFIGURE'], on: 'device' },
  'Device.metadata': { anyOf: ['READ', 'CONFIGURE'], on: 'device' },
  'Device.location': { anyOf: ['READ', 'CONFIGURE'], on: 'device' },
  'Device.offlineAfterSeconds': { anyOf: ['READ', 'CONFIGURE'], on: 'device' },
  'Device.writeRate': { anyOf: ['READ', 'CONFIGURE'], on: 'device' },
  'Device.configuration': { anyOf: ['READ', 'CONFIGURE'], on: 'device' },

  'Field.*': SETUP,
  'Field.id': ANY,
  'Field.identifier': ANY,
  'Field.type': ANY,
  'ConfigurationField.*': SETUP,
  'ConfigurationValue.*': SETUP,
  'SuggestedField.*': VALUES,
  'UnknownDevice.*': VALUES,

  'Measurement.*': VALUES,
  'Series.*': VALUES,
  'Statistics.*': VALUES,
  'DeviceHistory.*': VALUES,
  'RecordedBatch.*': VALUES,
  'DeviceStatus.*': VALUES,

  'DecoderVersion.*': SETUP,
  'DecoderVersion.source': { anyOf: ['CONFIGURE'], on: 'parent' },
  'DecoderVersion.author': { anyOf: ['CONFIGURE'], on: 'parent' },
  'DecoderExample.*': SETUP,
  'DecoderStatistics.*': VALUES,
  'DecoderRun.*': VALUES,
  'DecoderError.*': VALUES,
  'WebhookCall.*': VALUES,
  'CallSearch.*': VALUES,
  'ReplayedCall.*': VALUES,
  'ReplayProgress.*': SETUP,
  'ReplayResult.*': ANY,
  'ReplayResult.results': VALUES,
  // What was sent with the request itself, and what became of it.
  'EntryOutcome.*': ANY,
  'EntryField.*': ANY,
  'RecordResult.*': ANY,
  'DeleteResult.*': ANY,

  'AuditEntry.*': ANY,
  'AuditEntryConnection.*': ANY,
  'AuditEntryEdge.*': ANY,
  'Viewer.*': ANY,
  'User.*': ANY,
  'Member.*': ANY,
  'Plan.*': ANY,
  'WriteRate.*': SETUP,
  'CreatedToken.*': ANY,
  'Token.*': ANY,
  'Token.products': VALUES,
  'Token.devices': VALUES,
  'Workspace.*': SETUP,
  'Workspace.id': ANY,
  'Workspace.name': ANY,
  'Workspace.members': VALUES,
  'Workspace.tokens': { anyOf: ['ADMIN'], on: 'parent' },

  'PageInfo.*': ANY,
  'ProductConnection.*': ANY,
  'ProductEdge.*': ANY,
  'DeviceConnection.*': ANY,
  'DeviceEdge.*': ANY,
  'MeasurementConnection.*': VALUES,
  'MeasurementEdge.*': VALUES,
  'WebhookCallConnection.*': VALUES,
  'WebhookCallEdge.*': VALUES,
};

/** Every REST path: the methods it knows, and the scope that its token needs. */
export const PATHS: Readonly<Record<string, OperationRight & { methods: readonly string[] }>> = {
  '/v1/devices/:device/record': { methods: ['POST'], needs: ['RECORD'] },
  '/v1/devices/:device/history.csv': { methods: ['GET'], needs: ['READ'] },
  '/v1/devices/:device/history.ndjson': { methods: ['GET'], needs: ['READ'] },
  '/v1/export.csv': { methods: ['GET'], needs: ['READ'] },
  '/v1/export.ndjson': { methods: ['GET'], needs: ['READ'] },
  '/v1/devices/:device/import': { methods: ['POST'], needs: ['CONFIGURE'] },
  '/v1/import': { methods: ['POST'], needs: ['CONFIGURE'] },
  // The id in the path is the secret.
  '/integrations/api/:webhook': { methods: ['GET', 'POST'], needs: 'everybody' },
  '/integrations/lorawan/:network': { methods: ['POST'], needs: ['RECORD'] },
  '/integrations/particle': { methods: ['POST'], needs: ['RECORD'] },
  // Each operation for itself: see above.
  '/graphql': { methods: ['GET', 'POST'], needs: 'everybody' },
  '/console/session': { methods: ['POST', 'DELETE'], needs: 'everybody' },
  '/console': { methods: ['GET', 'HEAD'], needs: 'everybody' },
  '/': { methods: ['GET', 'HEAD'], needs: 'everybody' },
  // Numbers of the whole installation.
  '/metrics': { methods: ['GET'], needs: ['ADMIN'], whole: true },
  '/v1/openapi.json': { methods: ['GET', 'HEAD'], needs: 'everybody' },
  '/healthz': { methods: ['GET', 'HEAD'], needs: 'everybody' },
  '/readyz': { methods: ['GET', 'HEAD'], needs: 'everybody' },
};

const EVERYTHING: OperationRight = { needs: ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'], whole: true };

/** The row of a root field, such as `Query.viewer`. */
export function rightOfOperation(name: string): OperationRight {
  return OPERATIONS[name] ?? EVERYTHING;
}

/** The row of a field of an object type. */
export function rightOfField(type: string, field: string): FieldRight {
  return FIELDS[`${type}.${field}`] ?? FIELDS[`${type}.*`] ?? VALUES;
}
