import type { PATHS } from './path-rights.ts';

/**
 * Everything that a token limited to fields may ask for: what is not here is FORBIDDEN to it, whatever its scopes. What
 * comes from fields is narrowed to those that it covers, and the others answer like fields that do not exist.
 */
const OPEN: Readonly<Record<string, string>> = {
  Query: 'viewer plans workspaces workspace products product devices device deviceBySerialNumber history dashboard',
  Mutation: 'signIn acceptInvitation resetPassword recordMeasurements',
  Subscription: 'measurementsRecorded deviceStatusChanged',

  // Not the setup: a decoder, its examples, calls and configuration tell of any field.
  Product: 'id key name deviceType createdAt offlineAfterSeconds writeRate timeZone fields field dashboard devices',
  // Not metadata, location and configuration: values that no field limits.
  Device:
    'id name serialNumber deviceType product createdAt plan tags offlineAfterSeconds writeRate online lastHeardAt ' +
    'latest measurements history statistics',
  Field: 'id identifier type name description unit role meaning overflowAt display',
  Dashboard: 'id key name createdAt widgets',
  Measurement: 'field timestamp value',
  Series: 'field timestamps values before resolution truncated',
  Statistics: 'field count sum average min minAt max maxAt first last difference falls',
  Falls: 'noise gaps overflows restarts',
  DeviceHistory: 'device series',
  RecordedBatch: 'device measurements receivedAt cursor',
  DeviceStatus: 'device online at',
  EntryOutcome: 'index device field value timestamp code message notice matchedDevice matchedField suggestedField',
  EntryField: 'identifier name type unit',
  RecordResult: 'stored rejected ahead',
  AheadOfClock: 'values seconds message',
  Viewer: 'user token tokens workspaces',
  Token: 'id kind name scopes products devices fields createdAt expiresAt lastUsedAt',
  CreatedToken: 'secret token',
  Workspace: 'id name scopes',
  Plan: 'slug name deviceAllowance retentionDays',
  WriteRate: 'perSecond source',
  PageInfo: 'endCursor hasNextPage',
  ProductConnection: 'edges pageInfo totalCount',
  ProductEdge: 'cursor node',
  DeviceConnection: 'edges pageInfo totalCount',
  DeviceEdge: 'cursor node',
  MeasurementConnection: 'edges pageInfo totalCount',
  MeasurementEdge: 'cursor node',
};

/** The paths that need a token and are open to one limited to fields: each narrows what it reads or records. */
export const PATHS_OPEN_TO_FIELD_LIMITS: ReadonlySet<string> = new Set([
  '/v1/devices/:device/record',
  '/v1/devices/:device/history.csv',
  '/v1/devices/:device/history.ndjson',
  '/v1/export.csv',
  '/v1/export.ndjson',
  '/console/tiles',
  '/write',
  '/api/v2/write',
  '/query',
] satisfies (keyof typeof PATHS)[]);

/** Every name in the table, such as `Query.device` and `Device.latest`. */
export const OPEN_TO_FIELD_LIMITS: ReadonlySet<string> = new Set(
  Object.entries(OPEN).flatMap(([type, names]) => names.split(' ').map((name) => `${type}.${name}`)),
);
