import type { TokenScope } from '../entities/token.ts';

/**
 * The requirement of an operation. `everybody`: no token needed. `token`: any token. `person`: a PERSONAL token.
 * `operator`: an operator's. Otherwise every scope named, in the workspace of the operation's subject.
 */
export interface OperationRight {
  needs: 'everybody' | 'token' | 'person' | 'operator' | readonly TokenScope[];
  /** True when it concerns the workspace as a whole: not for tokens limited to some products or devices. */
  whole?: true;
}

/**
 * The requirement of a field: any one of the scopes (`any`: none beyond getting the object). `product`: the token must
 * cover the product as a whole, not just a device of it; `device`: it must cover the device.
 */
export interface FieldRight {
  anyOf: 'any' | readonly TokenScope[];
  on: 'parent' | 'product' | 'device';
}

const READ: OperationRight = { needs: ['READ'] };
const RECORD: OperationRight = { needs: ['RECORD'] };
const CONFIGURE: OperationRight = { needs: ['CONFIGURE'] };
const ADMIN: OperationRight = { needs: ['ADMIN'], whole: true };
/** An endpoint sends values of any device to whoever has its URL. */
const ENDPOINTS: OperationRight = { needs: ['READ', 'CONFIGURE'], whole: true };

/**
 * Every operation of the GraphQL API (CONTRACT 7). Its service checks the same scope through `Access` for the
 * workspace, product or device concerned. An operation of the schema without a row stops the start.
 */
export const OPERATIONS: Readonly<Record<string, OperationRight>> = {
  'Query.viewer': { needs: 'token' },
  'Query.plans': { needs: 'token' },
  'Query.planChange': READ,
  // Of both products as a whole, like the move that it is asked before.
  'Query.productChange': { needs: ['READ', 'CONFIGURE'] },
  'Query.user': ADMIN,
  'Query.users': ADMIN,
  'Query.workspaces': READ,
  'Query.workspace': READ,
  'Query.products': READ,
  'Query.product': READ,
  'Query.devices': READ,
  'Query.device': READ,
  'Query.deviceBySerialNumber': READ,
  'Query.history': READ,
  'Query.alerts': READ,
  // A limited token sees those whose every device it covers.
  'Query.dashboard': READ,
  'Query.unknownDevices': { needs: ['READ'], whole: true },
  'Query.exportConfiguration': { needs: ['ADMIN', 'READ'], whole: true },
  // Without a workspace it concerns the installation, for operators: the argument decides.
  'Query.auditLog': ADMIN,
  'Query.installation': { needs: 'operator' },

  'Mutation.signIn': { needs: 'everybody' },
  // Whoever has the link: the secret in it is the right.
  'Mutation.acceptInvitation': { needs: 'everybody' },
  'Mutation.resetPassword': { needs: 'everybody' },
  'Mutation.createWorkspace': { needs: 'operator' },
  'Mutation.createUser': { needs: 'operator' },
  'Mutation.updateUser': { needs: 'operator' },
  'Mutation.deleteUser': { needs: 'operator' },
  'Mutation.changePassword': { needs: 'person' },
  'Mutation.renameWorkspace': ADMIN,
  'Mutation.deleteWorkspace': { needs: ['ADMIN', 'CONFIGURE'], whole: true },
  'Mutation.createInvitation': ADMIN,
  'Mutation.revokeInvitation': ADMIN,
  'Mutation.createPasswordReset': ADMIN,
  'Mutation.setMember': ADMIN,
  'Mutation.removeMember': ADMIN,
  // INDIVIDUAL needs ADMIN, PERSONAL a person: the kind decides.
  'Mutation.createToken': { needs: 'token' },
  'Mutation.updateToken': { needs: 'token' },
  'Mutation.renewToken': ADMIN,
  'Mutation.revokeToken': { needs: 'token' },
  'Mutation.planConfiguration': { needs: ['ADMIN', 'READ'], whole: true },
  'Mutation.applyConfiguration': { needs: ['ADMIN', 'READ', 'CONFIGURE'], whole: true },
  'Mutation.createProduct': { needs: ['CONFIGURE'], whole: true },
  'Mutation.updateProduct': CONFIGURE,
  'Mutation.deleteProduct': CONFIGURE,
  'Mutation.cloneProduct': { needs: ['READ', 'CONFIGURE'], whole: true },
  'Mutation.rotateWebhook': CONFIGURE,
  'Mutation.ignoreSuggestedField': CONFIGURE,
  'Mutation.addField': CONFIGURE,
  'Mutation.updateField': CONFIGURE,
  'Mutation.renameField': CONFIGURE,
  'Mutation.removeFieldAlias': CONFIGURE,
  'Mutation.removeField': CONFIGURE,
  'Mutation.addConfigurationField': CONFIGURE,
  'Mutation.updateConfigurationField': CONFIGURE,
  'Mutation.removeConfigurationField': CONFIGURE,
  'Mutation.createRule': CONFIGURE,
  'Mutation.updateRule': CONFIGURE,
  'Mutation.deleteRule': CONFIGURE,
  'Mutation.testRule': READ,
  'Mutation.acknowledgeAlert': CONFIGURE,
  'Mutation.snoozeAlert': CONFIGURE,
  'Mutation.createDevices': CONFIGURE,
  'Mutation.importDevices': CONFIGURE,
  // What it counts tells of devices.
  'Mutation.updateDevices': { needs: ['READ', 'CONFIGURE'] },
  // Another serial number needs the whole product, and a move both: a free number tells of devices that a limit hides.
  'Mutation.updateDevice': CONFIGURE,
  'Mutation.deleteDevices': CONFIGURE,
  // CONFIGURE for a shared one, a person for their own: the argument decides.
  'Mutation.saveDeviceView': READ,
  'Mutation.deleteDeviceView': READ,
  'Mutation.setConfiguration': CONFIGURE,
  'Mutation.addNote': CONFIGURE,
  'Mutation.updateNote': CONFIGURE,
  'Mutation.removeNote': CONFIGURE,
  // The same, unless it is the number of the device to absorb, which the token sees.
  'Mutation.replaceDevice': CONFIGURE,
  'Mutation.adoptUnknownDevice': { needs: ['CONFIGURE'], whole: true },
  'Mutation.adoptUnknownDevices': { needs: ['CONFIGURE'], whole: true },
  // ADMIN for a workspace's rate: the id decides.
  'Mutation.setWriteRate': CONFIGURE,
  'Mutation.saveDecoder': CONFIGURE,
  'Mutation.activateDecoder': CONFIGURE,
  'Mutation.addDecoderExample': CONFIGURE,
  'Mutation.removeDecoderExample': CONFIGURE,
  // A decoder prints whatever it was shown: stored values, and the bodies of calls.
  'Mutation.testDecoder': { needs: ['CONFIGURE', 'READ'] },
  'Mutation.replayCalls': CONFIGURE,
  'Mutation.createEndpoint': ENDPOINTS,
  'Mutation.updateEndpoint': ENDPOINTS,
  'Mutation.rotateEndpointSecret': ENDPOINTS,
  'Mutation.deleteEndpoint': ENDPOINTS,
  'Mutation.testEndpoint': ENDPOINTS,
  'Mutation.retryDeliveries': ENDPOINTS,
  'Mutation.saveDashboard': { needs: ['CONFIGURE'], whole: true },
  'Mutation.deleteDashboard': { needs: ['CONFIGURE'], whole: true },
  'Mutation.recordMeasurements': RECORD,
  'Mutation.deleteMeasurements': CONFIGURE,

  'Subscription.measurementsRecorded': READ,
  'Subscription.webhookCalled': READ,
  'Subscription.deviceStatusChanged': READ,
  'Subscription.alertChanged': READ,
  'Subscription.deliveryChanged': { needs: ['READ'], whole: true },
};

const ANY: FieldRight = { anyOf: 'any', on: 'parent' };
/** The setup of something: for those who read it, and those who may change it. */
const SETUP: FieldRight = { anyOf: ['READ', 'CONFIGURE'], on: 'parent' };
/** Measured or sent data. */
const VALUES: FieldRight = { anyOf: ['READ'], on: 'parent' };

/** The setup of a product or device, with the place that the token must cover. */
const PRODUCT_SETUP: FieldRight = { anyOf: ['READ', 'CONFIGURE'], on: 'product' };
const DEVICE_SETUP: FieldRight = { anyOf: ['READ', 'CONFIGURE'], on: 'device' };

/**
 * Every field of every object type of the GraphQL API, by type; fields with the same right share a row. A field of the
 * schema without a row stops the start. The operation or field that leads to an object guards it; these rows stop
 * access by other ways, such as `rejected { matchedDevice }` with a token that may only RECORD.
 */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, FieldRight>>>> = {
  Product: {
    'id name deviceType createdAt workspaceId': ANY,
    // The dashboard is that of each of its devices.
    'key offlineAfterSeconds ignoreZeroPlaces fields field dashboard configurationFields': SETUP,
    'rules writeRate decoder timeZone answer200 webhookAnswer': PRODUCT_SETUP,
    'devices suggestedFields decoderVersions decoderExamples decoderStatistics': { anyOf: ['READ'], on: 'product' },
    'call calls searchCalls replayProgress': { anyOf: ['READ'], on: 'product' },
    'webhookId webhookUrl': { anyOf: ['CONFIGURE'], on: 'product' },
  },
  Device: {
    'id name serialNumber deviceType product createdAt workspaceId': ANY,
    'plan tags metadata location offlineAfterSeconds writeRate configuration': DEVICE_SETUP,
    'online lastHeardAt latest measurements history statistics notes mqttClients': { anyOf: ['READ'], on: 'device' },
  },
  DeviceNote: { 'id at kind text author createdAt': SETUP },
  Field: {
    'id identifier type': ANY,
    'name description unit role meaning overflowAt display aliases': SETUP,
    misfits: VALUES,
  },
  Misfits: { 'misfits values devices ofDevices': VALUES },
  ConfigurationField: { 'id identifier type name description default': SETUP },
  Rule: {
    'id key product name enabled tags levels forSeconds clearForSeconds latched schedule notify': SETUP,
    alerts: VALUES,
  },
  Alert: {
    'id rule device state severity startedAt firedAt endedAt late acknowledgedBy acknowledgedAt snoozedUntil trace':
      VALUES,
  },
  AlertTrace: { 'at state severity values reason note': VALUES },
  AlertEvent: { 'cursor alert': VALUES },
  AlertConnection: { 'edges pageInfo totalCount': VALUES },
  AlertEdge: { 'cursor node': VALUES },
  Episode: { 'device severity startedAt firedAt endedAt values': VALUES },
  RuleLevel: { 'severity all any': SETUP },
  Condition: {
    'field operator value otherField configurationField clear window absentSeconds circle polygon from to': SETUP,
  },
  ConditionWindow: { 'aggregation seconds': SETUP },
  Circle: { 'center meters': SETUP },
  Schedule: { 'days hours timeZone': SETUP },
  RuleNotify: { 'endpoints groupBy remindEverySeconds maxReminders': SETUP },
  ConfigurationValue: { 'field value overridden': SETUP },
  SuggestedField: { 'identifier type name unit lastValue lastSeenAt seen': VALUES },
  UnknownDevice: { 'id identifier network firstSeenAt lastSeenAt seen productId ambiguous': VALUES },

  Measurement: { 'field timestamp value': VALUES },
  Series: { 'field timestamps values before resolution truncated': VALUES },
  Statistics: { 'field count sum average min minAt max maxAt first last difference falls': VALUES },
  Falls: { 'noise gaps overflows restarts': VALUES },
  DeviceHistory: { 'device series': VALUES },
  RecordedBatch: { 'device measurements receivedAt cursor': VALUES },
  DeviceView: { 'name query shared': VALUES },
  DeviceStatus: { 'device online at': VALUES },
  MqttClient: { 'clientId connected connectedAt lastTopic lastMessageAt': VALUES },

  DecoderVersion: {
    'version active createdAt note': SETUP,
    'source author': { anyOf: ['CONFIGURE'], on: 'parent' },
  },
  DecoderExample: { 'id name request expected createdAt': SETUP },
  DecoderStatistics: { 'runs failures p50Ms p99Ms': VALUES },
  DecoderRun: { 'ok output console durationMs error answer entries truncated': VALUES },
  DecoderError: { 'kind message line column': VALUES },
  WebhookCall: {
    'id receivedAt method path query headers body bodyTruncated status httpStatus decoderVersion run reason': VALUES,
  },
  CallSearch: { 'calls lookedThrough reachedAt next': VALUES },
  ReplayedCall: { 'call run': VALUES },
  ReplayProgress: {
    'dryRun startedAt calls stored rejected failed endedBecause': SETUP,
    'added changed unchanged removed kept unknown': SETUP,
  },
  ReplayResult: {
    'calls stored rejected failed added changed unchanged removed kept unknown': ANY,
    results: VALUES,
  },
  // Parts of the request itself, and their outcome.
  EntryOutcome: {
    'index device field value timestamp code message notice matchedDevice matchedField suggestedField': ANY,
  },
  EntryField: { 'identifier name type unit': ANY },
  RecordResult: { 'stored rejected ahead': ANY },
  AheadOfClock: { 'values seconds message': ANY },
  DeleteResult: { measurements: ANY },
  DeviceImport: { 'lines created updated kept refusedLines refused': ANY },
  DevicesUpdate: { 'matched changed': ANY },
  DeviceImportLine: { 'line serialNumber code message': ANY },
  ConfigurationPlan: { 'hash pending drift blocked': ANY },
  ConfigurationChange: { 'action path before after measurements': ANY },
  ConfigurationBlock: { 'path message': ANY },

  Installation: {
    'version database nodes workers workersUp redisConnected replicas': ANY,
    'valuesWaiting decoderCallsWaiting deliveriesWaiting lanes': ANY,
  },
  Replica: { 'name used lagBytes lagSeconds': ANY },
  LaneDepth: { 'name waiting refused': ANY },

  Endpoint: {
    'id name createdAt': ANY,
    'key kind events products tags enabled disabledReason failingSince': SETUP,
    // A URL may hold a secret, and addresses are of people.
    'url addresses': { anyOf: ['CONFIGURE'], on: 'parent' },
    deliveries: VALUES,
  },
  CreatedEndpoint: { 'endpoint secret': ANY },
  Delivery: { 'id endpoint type status createdAt nextAttemptAt body attempts': VALUES },
  DeliveryAttempt: { 'at httpStatus error durationMs answer': VALUES },
  DeliveryConnection: { 'edges pageInfo totalCount': VALUES },
  DeliveryEdge: { 'cursor node': VALUES },

  Dashboard: { 'id name createdAt': ANY, 'key widgets': SETUP },

  AuditEntry: {
    'id at operation subjects userId userEmail tokenId tokenName': ANY,
    arguments: VALUES,
  },
  AuditEntryConnection: { 'edges pageInfo totalCount': ANY },
  AuditEntryEdge: { 'cursor node': ANY },
  Viewer: { 'user token tokens workspaces': ANY },
  User: { 'id email name operator': ANY },
  Member: { 'user role': ANY },
  UserConnection: { 'edges pageInfo totalCount': ANY },
  UserEdge: { 'cursor node': ANY },
  Invitation: { 'id email role createdAt expiresAt': ANY },
  CreatedInvitation: { 'invitation url': ANY },
  PasswordReset: { 'url expiresAt': ANY },
  Plan: { 'slug name deviceAllowance retentionDays': ANY },
  WebhookAnswer: { 'status contentType body': ANY },
  PlanChange: { 'plan retentionDays measurements goesAt': ANY },
  ProductChange: { 'fields dropped measurements configuration': ANY },
  FieldMove: { 'from to': ANY },
  DroppedField: { 'field measurements': ANY },
  WriteRate: { 'perSecond source': SETUP },
  CreatedToken: { 'secret token': ANY },
  Token: {
    'id kind name scopes fields createdAt expiresAt lastUsedAt': ANY,
    'products devices': VALUES,
  },
  Workspace: {
    'id name scopes': ANY,
    // None for who may not READ all of it.
    deviceViews: ANY,
    'writeRate endpoints': SETUP,
    'members dashboards fleet places': VALUES,
    'tokens invitations': { anyOf: ['ADMIN'], on: 'parent' },
  },

  Fleet: { 'devices online lowBattery firing unknownDevices failingDecoders valuesADay': VALUES },
  FailingDecoder: { 'product lastFailedAt': VALUES },
  DayValues: { 'day values': VALUES },
  FleetPlace: { 'deviceId name online place at': VALUES },

  PageInfo: { 'endCursor hasNextPage': ANY },
  ProductConnection: { 'edges pageInfo totalCount': ANY },
  ProductEdge: { 'cursor node': ANY },
  DeviceConnection: { 'edges pageInfo totalCount': ANY },
  DeviceEdge: { 'cursor node': ANY },
  MeasurementConnection: { 'edges pageInfo totalCount': VALUES },
  MeasurementEdge: { 'cursor node': VALUES },
  WebhookCallConnection: { 'edges pageInfo totalCount': VALUES },
  WebhookCallEdge: { 'cursor node': VALUES },
};

/** The row of a root field, such as `Query.viewer`; undefined: it has none. */
export function rightOfOperation(name: string): OperationRight | undefined {
  return Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
}

/** The row of a field of an object type; undefined: it has none. */
export function rightOfField(type: string, field: string): FieldRight | undefined {
  const rows = Object.entries(FIELDS[type] ?? {});
  return rows.find(([fields]) => fields.split(' ').includes(field))?.[1];
}
