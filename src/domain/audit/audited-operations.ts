/**
 * Every mutation: where the audit log tells of it. `workspace`: in the workspaces that it changed something of;
 * `installation`: to operators, as it is about users or workspaces themselves. null: it changes nothing of how things
 * are set up. What has no row is told in the workspace; a test finds it missing here.
 */
export const AUDITED: Readonly<Record<string, 'workspace' | 'installation' | null>> = {
  createWorkspace: 'installation',
  deleteWorkspace: 'installation',
  createUser: 'installation',
  updateUser: 'installation',
  deleteUser: 'installation',
  changePassword: 'installation',
  // The token it makes is in `viewer.tokens`; one entry for each sign-in would push out the others.
  signIn: null,
  renameWorkspace: 'workspace',
  setMember: 'workspace',
  removeMember: 'workspace',
  // A PERSONAL one is of no workspace, and so told to operators.
  createToken: 'workspace',
  updateToken: 'workspace',
  revokeToken: 'workspace',
  createProduct: 'workspace',
  updateProduct: 'workspace',
  deleteProduct: 'workspace',
  cloneProduct: 'workspace',
  rotateWebhook: 'workspace',
  ignoreSuggestedField: 'workspace',
  addField: 'workspace',
  updateField: 'workspace',
  removeField: 'workspace',
  addConfigurationField: 'workspace',
  updateConfigurationField: 'workspace',
  removeConfigurationField: 'workspace',
  createDevices: 'workspace',
  updateDevice: 'workspace',
  deleteDevices: 'workspace',
  replaceDevice: 'workspace',
  setConfiguration: 'workspace',
  adoptUnknownDevice: 'workspace',
  adoptUnknownDevices: 'workspace',
  setWriteRate: 'workspace',
  saveDecoder: 'workspace',
  activateDecoder: 'workspace',
  addDecoderExample: 'workspace',
  removeDecoderExample: 'workspace',
  replayCalls: 'workspace',
  deleteMeasurements: 'workspace',
  // Measurements, not administration; and a trial that stores nothing.
  recordMeasurements: null,
  testDecoder: null,
};

/** Arguments that are told as they are, under this name wherever they stand. */
export const TOLD: ReadonlySet<string> = new Set(
  (
    'id ids productId deviceId workspaceId userId productIds deviceIds callIds absorb input devices fields from to ' +
    'dryRun status force ignore version name email operator role kind scopes expiresAt identifier type meaning ' +
    'overflowAt unit description serialNumber plan tags location deviceType offlineAfterSeconds perSecond reset note ' +
    'confirm answer200 ignoreZeroPlaces timeZone'
  ).split(' '),
);

/** Arguments of which the size is told: long, or of others' making, and perhaps with a secret inside. */
export const SIZED: ReadonlySet<string> = new Set([
  'source',
  'decoder',
  'dashboard',
  'metadata',
  'values',
  'default',
  'request',
  'expected',
  'webhookAnswer',
]);

/** Arguments of which it is told only that they were there; so is every one that stands in no list. */
export const HIDDEN: ReadonlySet<string> = new Set(['password', 'currentPassword', 'newPassword']);
