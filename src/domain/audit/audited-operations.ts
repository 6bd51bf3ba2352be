/**
 * Every mutation and its audit log. `workspace`: those of the workspaces it changed; `installation`: the operators',
 * for users and workspaces themselves. null: no entry, as it changes no setup. A mutation without a row is told in the
 * workspace; a test reports it.
 */
export const AUDITED: Readonly<Record<string, 'workspace' | 'installation' | null>> = {
  createWorkspace: 'installation',
  deleteWorkspace: 'installation',
  createUser: 'installation',
  updateUser: 'installation',
  deleteUser: 'installation',
  changePassword: 'installation',
  // The token it makes is in `viewer.tokens`; an entry per sign-in would push out the others.
  signIn: null,
  // Without a token: who made the link is told.
  acceptInvitation: null,
  resetPassword: null,
  createPasswordReset: 'installation',
  renameWorkspace: 'workspace',
  createInvitation: 'workspace',
  revokeInvitation: 'workspace',
  setMember: 'workspace',
  removeMember: 'workspace',
  // A PERSONAL token belongs to no workspace: its entry goes to operators.
  createToken: 'workspace',
  updateToken: 'workspace',
  renewToken: 'workspace',
  revokeToken: 'workspace',
  applyConfiguration: 'workspace',
  createProduct: 'workspace',
  updateProduct: 'workspace',
  deleteProduct: 'workspace',
  cloneProduct: 'workspace',
  rotateWebhook: 'workspace',
  ignoreSuggestedField: 'workspace',
  addField: 'workspace',
  updateField: 'workspace',
  renameField: 'workspace',
  removeFieldAlias: 'workspace',
  removeField: 'workspace',
  addConfigurationField: 'workspace',
  updateConfigurationField: 'workspace',
  removeConfigurationField: 'workspace',
  createRule: 'workspace',
  updateRule: 'workspace',
  deleteRule: 'workspace',
  acknowledgeAlert: 'workspace',
  snoozeAlert: 'workspace',
  createDevices: 'workspace',
  importDevices: 'workspace',
  updateDevices: 'workspace',
  updateDevice: 'workspace',
  deleteDevices: 'workspace',
  saveDeviceView: 'workspace',
  deleteDeviceView: 'workspace',
  replaceDevice: 'workspace',
  setConfiguration: 'workspace',
  addNote: 'workspace',
  updateNote: 'workspace',
  removeNote: 'workspace',
  adoptUnknownDevice: 'workspace',
  adoptUnknownDevices: 'workspace',
  setWriteRate: 'workspace',
  saveDecoder: 'workspace',
  activateDecoder: 'workspace',
  addDecoderExample: 'workspace',
  removeDecoderExample: 'workspace',
  createEndpoint: 'workspace',
  updateEndpoint: 'workspace',
  rotateEndpointSecret: 'workspace',
  deleteEndpoint: 'workspace',
  testEndpoint: 'workspace',
  retryDeliveries: 'workspace',
  saveDashboard: 'workspace',
  deleteDashboard: 'workspace',
  replayCalls: 'workspace',
  deleteMeasurements: 'workspace',
  // Measurements, not administration; and a trial that stores nothing.
  recordMeasurements: null,
  testDecoder: null,
  testRule: null,
  planConfiguration: null,
};

/** Arguments that are logged as they are, under this name at any depth. */
export const TOLD: ReadonlySet<string> = new Set(
  (
    'id ids at productId deviceId workspaceId exceptWorkspaceId userId productIds deviceIds callIds absorb input devices fields from to ' +
    'dryRun status force ignore version name email operator role kind scopes expiresAt identifier type meaning ' +
    'overflowAt display unit description serialNumber plan tags location deviceType offlineAfterSeconds perSecond reset note ' +
    'until confirm enabled levels forSeconds clearForSeconds latched schedule severity all any field operator value otherField ' +
    'configurationField clear window absentSeconds circle polygon aggregation seconds center meters days hours ' +
    'endpointId deliveryIds events notify endpointIds endpointKeys groupBy remindEverySeconds maxReminders ' +
    'confirm answer200 ignoreZeroPlaces timeZone key onExisting serialNumbers lowBattery query shared addTags removeTags anyTags search online lastHeardBefore lastHeardAfter hash set prune deleteData'
  ).split(' '),
);

/** Arguments that are logged by size alone: long or foreign content, perhaps with a secret inside. */
export const SIZED: ReadonlySet<string> = new Set([
  'source',
  'text',
  'decoder',
  'dashboard',
  'widgets',
  'metadata',
  'values',
  'default',
  'request',
  'expected',
  'webhookAnswer',
  'document',
]);

/**
 * Arguments that are logged by presence alone, as are all without a list: secrets, what may hold one (a URL), and
 * addresses of people.
 */
export const HIDDEN: ReadonlySet<string> = new Set(['password', 'currentPassword', 'newPassword', 'url', 'addresses']);

const MAX_ITEMS = 20;
const MAX_TEXT = 100;
/** Maximum values in all lists and objects together. */
const MAX_LEAVES = 60;

/** The arguments of a mutation as the audit log keeps them: JSON text of a few kilobytes at most, without secrets. */
export function toldArguments(args: Readonly<Record<string, unknown>>): string {
  let leaves = 0;

  function tell(value: unknown): unknown {
    if (Array.isArray(value)) {
      const told = value.slice(0, MAX_ITEMS).map(tell);
      return value.length > MAX_ITEMS ? [...told, `(and ${value.length - MAX_ITEMS} more)`] : told;
    }
    if (typeof value === 'object' && value !== null) return tellAll(value);
    leaves += 1;
    if (leaves > MAX_LEAVES) return '(left out)';
    return typeof value === 'string' && value.length > MAX_TEXT
      ? `${value.slice(0, MAX_TEXT)}… (${value.length} characters)`
      : value;
  }

  function tellAll(values: object): Record<string, unknown> {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    return Object.fromEntries(given.map(([name, value]) => [name, tellOne(name, value)]));
  }

  function tellOne(name: string, value: unknown): unknown {
    if (value === null) return null;
    if (TOLD.has(name)) return tell(value);
    if (!SIZED.has(name)) return '(hidden)';
    return `(${(typeof value === 'string' ? value : JSON.stringify(value)).length} characters)`;
  }

  return JSON.stringify(tellAll(args));
}
