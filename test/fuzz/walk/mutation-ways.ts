import { PASSWORD } from '../../support/tenant.ts';
import { DASHBOARDS } from './dashboard-ways.ts';
import { ENDPOINTS } from './endpoint-ways.ts';
import { NOTES } from './note-ways.ts';
import { RULES } from './rule-ways.ts';
import type { Args, MutationWay } from './ways.ts';
import { unique, type World } from './world.ts';

const ALWAYS = { from: '2001-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
const LATER = '2100-01-01T00:00:00Z';
/** What calls, and what tries out decoders, may have. */
const REQUEST = { method: 'POST', path: 'a?b=c', headers: { 'x-a': 'b' } };
const MANY_ENTRIES = 10_000;
const FIELDS_PER_PRODUCT = 500;

/** What a product may answer, and how it reads places and times. */
const ANSWERS = {
  answer200: true,
  ignoreZeroPlaces: true,
  timeZone: 'Europe/Berlin',
  webhookAnswer: { status: 200, contentType: 'application/json', body: '[]' },
};

/** Prints and returns as much as is kept of a run. */
const DEAR_DECODER = `function Decoder() {
  for (let at = 0; at < 30000; at++) console.log('');
  return Array.from({ length: 10000 }, (_, at) => ({ device: 'd0', field: 'f' + (at % 500), value: 'y' }));
}`;

/** Ahead of the server's clock, which it tells. */
const soon = (): string => new Date(Date.now() + 3_600_000).toISOString();
const text = (w: World, length: number): string => 'm'.repeat(Math.min(length, w.size.text));
const some = <Item>(list: readonly Item[], w: World): Item => list[w.next() % list.length]!;
const list = <Item>(length: number, item: (at: number) => Item): Item[] => Array.from({ length }, (_, at) => item(at));

function devices(w: World): Args[] {
  const name = unique(w);
  return list(w.size.many, (at) => ({
    name: text(w, 200),
    serialNumber: `${name}-${at}`,
    tags: ['a', 'b'],
    location: 'somewhere',
    metadata: [{ at }],
  }));
}

/** As many devices in a file, and a line that says nothing of one. */
function devicesFile(w: World): string {
  const name = unique(w);
  const lines = list(w.size.many, (at) => `${name}-${at},${text(w, 200)},a;b,somewhere,${at}`);
  return ['serialNumber,name,tags,location,metadata.at', ...lines, ',,,,', `${name}-0,again,,,`].join('\n');
}

const fieldsOf = (w: World): string[] => list(Math.min(w.size.fields, 500), (at) => `f${at}`);

function entries(w: World, field: string): Args[] {
  const many = Math.min(MANY_ENTRIES, w.size.many * 10);
  const old = list(many - 1, (at) => ({ field, value: at, timestamp: new Date(1.1e12 + at * 1000).toISOString() }));
  return [...old, { field: 'f2', value: 1, timestamp: soon() }];
}

const OVERFLOWING = { meaning: 'COUNTER', overflowAt: 65_536, display: { decimals: 0, low: 1 } };

const fieldInput = (w: World): Args => ({
  identifier: unique(w),
  type: 'STRING',
  name: text(w, 200),
  description: text(w, 2000),
  unit: text(w, 50),
});

/** What belongs to the operator: people, workspaces, tokens. */
const ADMINISTRATION: Record<string, MutationWay> = {
  changePassword: { byPerson: true, args: () => [{ currentPassword: PASSWORD, newPassword: PASSWORD }] },
  createToken: {
    args: (w) => [
      {
        input: {
          name: text(w, 200),
          kind: 'INDIVIDUAL',
          workspaceId: w.workspaceId,
          scopes: ['READ'],
          deviceIds: w.deviceIds.slice(0, 1000),
          productIds: w.productIds.slice(0, 1000),
          expiresAt: LATER,
        },
      },
      { input: { name: unique(w), kind: 'PERSONAL' } },
      { input: { name: unique(w), kind: 'INDIVIDUAL', scopes: ['READ'], fields: fieldsOf(w) } },
    ],
  },
  acceptInvitation: {
    make: (maker) => maker.invitation(),
    args: (w, secret) => [{ secret, password: PASSWORD, name: text(w, 200) }],
  },
  createInvitation: { args: (w) => [{ workspaceId: w.workspaceId, email: 'invited@example.org', role: 'VIEWER' }] },
  createPasswordReset: { args: (w) => [{ userId: some(w.userIds, w) }] },
  resetPassword: { make: (maker) => maker.passwordReset(), args: (_, secret) => [{ secret, password: PASSWORD }] },
  revokeInvitation: { args: (w) => [{ workspaceId: w.workspaceId, email: 'invited@example.org' }] },
  createUser: {
    args: (w) => [
      { input: { email: `${unique(w)}@example.org`, name: text(w, 200), operator: false, password: PASSWORD } },
    ],
  },
  createWorkspace: { args: (w) => [{ name: text(w, 200) }] },
  deleteUser: { make: (maker) => maker.user(), args: (_, id) => [{ id }] },
  deleteWorkspace: { make: (maker) => maker.workspace(), args: (_, id) => [{ id }] },
  removeMember: { make: (maker) => maker.member(), args: (w, userId) => [{ workspaceId: w.workspaceId, userId }] },
  renameWorkspace: { args: (w) => [{ id: w.workspaceId, name: text(w, 200) }] },
  planConfiguration: {
    args: (w) => [
      { workspaceId: w.workspaceId, document: `{"tokens": [{"name": ${JSON.stringify('n'.repeat(w.size.text))}}]}` },
      { workspaceId: w.workspaceId, document: 'products: []', set: 'walk', prune: true, deleteData: true },
    ],
  },
  applyConfiguration: {
    make: (maker) => maker.drifted(),
    args: (w, made) => [
      { workspaceId: w.workspaceId, document: made?.document, hash: made?.hash, set: 'walk' },
      { workspaceId: w.workspaceId, document: '{}', hash: made?.hash, prune: true, deleteData: true },
    ],
  },
  renewToken: { make: (maker) => maker.token(), args: (_, id) => [{ id }] },
  revokeToken: { make: (maker) => maker.token(), args: (_, id) => [{ id }] },
  setMember: { args: (w) => [{ workspaceId: w.workspaceId, userId: some(w.userIds, w), role: 'EDITOR' }] },
  setWriteRate: {
    args: (w) => [
      { deviceId: w.deviceIds[0], perSecond: 1000 },
      { productId: w.productId, reset: true },
      { workspaceId: w.workspaceId, reset: true },
    ],
  },
  signIn: { args: (w) => [{ email: w.person.email, password: PASSWORD }] },
  updateToken: {
    args: (w) => [
      {
        id: w.tokenIds[0],
        input: {
          name: unique(w),
          deviceIds: w.deviceIds.slice(0, 1000),
          productIds: w.productIds.slice(0, 1000),
          expiresAt: LATER,
        },
      },
      { id: w.tokenIds[0], input: { fields: fieldsOf(w) } },
    ],
  },
  updateUser: {
    make: (maker) => maker.user(),
    args: (w, id) => [
      { id, input: { email: `${unique(w)}@example.org`, name: text(w, 200), operator: false, password: PASSWORD } },
    ],
  },
};

const PRODUCTS: Record<string, MutationWay> = {
  activateDecoder: {
    args: (w) => [{ productId: w.spareProductId, version: 2 + (w.next() % Math.min(w.size.parts, 50)) }],
  },
  addConfigurationField: {
    args: (w) => [
      {
        productId: w.spareProductId,
        input: {
          identifier: unique(w),
          type: 'STRING',
          name: text(w, 200),
          description: text(w, 2000),
          default: text(w, 4096),
        },
      },
    ],
  },
  addDecoderExample: {
    args: (w) => [
      {
        productId: w.spareProductId,
        name: unique(w),
        request: { ...REQUEST, body: text(w, 40_000) },
        expected: list(w.size.parts * 7, () => ({ device: 'd', field: 'f', value: 1 })),
      },
    ],
  },
  addField: {
    args: (w) => [
      { productId: w.spareProductId, input: fieldInput(w) },
      { productId: w.spareProductId, input: { ...fieldInput(w), type: 'FLOAT', role: 'BATTERY', meaning: 'GAUGE' } },
      { productId: w.spareProductId, input: { ...fieldInput(w), type: 'FLOAT', ...OVERFLOWING } },
    ],
  },
  cloneProduct: { args: (w) => [{ id: w.productId, name: text(w, 200) }] },
  createProduct: {
    args: (w) => [
      {
        input: {
          name: text(w, 200),
          key: unique(w),
          workspaceId: w.workspaceId,
          deviceType: 'API',
          offlineAfterSeconds: 60,
          decoder: `function Decoder() {} /*${text(w, 50_000)}*/`,
          dashboard: { widgets: [] },
          ...ANSWERS,
          fields: [
            { ...fieldInput(w), role: 'BATTERY' },
            { ...fieldInput(w), type: 'FLOAT', ...OVERFLOWING },
            ...list(Math.min(FIELDS_PER_PRODUCT, w.size.many) - 2, (at) => ({ identifier: `g${at}`, type: 'FLOAT' })),
          ],
        },
      },
    ],
  },
  deleteProduct: { make: (maker) => maker.product(), args: (_, id) => [{ id }] },
  ignoreSuggestedField: { args: (w) => [{ productId: w.productId, identifier: 's1', ignore: w.next() % 2 === 0 }] },
  removeConfigurationField: { make: (maker) => maker.part('addConfigurationField'), args: (_, id) => [{ id }] },
  removeDecoderExample: { make: (maker) => maker.part('addDecoderExample'), args: (_, id) => [{ id }] },
  removeField: { make: (maker) => maker.part('addField'), args: (_, id) => [{ id }] },
  removeFieldAlias: {
    make: (maker) => maker.renamedField(),
    args: (_, made) => [{ id: made?.id, identifier: made?.identifier }],
  },
  renameField: { make: (maker) => maker.part('addField'), args: (w, id) => [{ id, identifier: unique(w) }] },
  rotateWebhook: { args: (w) => [{ productId: w.spareProductId }] },
  saveDecoder: {
    args: (w) => [
      {
        productId: w.spareProductId,
        force: true,
        note: text(w, 10_000),
        source: `${DEAR_DECODER}/*${text(w, 50_000).repeat(4)}${w.next()}*/`,
      },
    ],
  },
  updateConfigurationField: {
    args: (w) => [
      { id: w.configurationFieldId, input: { name: unique(w), description: text(w, 2000), default: text(w, 4096) } },
    ],
  },
  updateField: {
    args: (w) => [
      {
        id: w.fieldId,
        input: { name: unique(w), description: text(w, 2000), unit: 'm', role: 'PRIMARY', type: 'FLOAT' },
      },
      { id: w.fieldId, dryRun: true, input: OVERFLOWING },
    ],
  },
  updateProduct: {
    args: (w) => [
      { id: w.productId, input: { name: unique(w), offlineAfterSeconds: 3600, webhookAnswer: ANSWERS.webhookAnswer } },
      { id: w.spareProductId, input: { dashboard: { widgets: [] }, key: unique(w) } },
      { id: w.spareProductId, input: ANSWERS },
    ],
  },
  testDecoder: {
    args: (w) => [
      { productId: w.productId, source: DEAR_DECODER, request: { ...REQUEST, body: 'x' } },
      { productId: w.productId, callId: w.callIds[0] },
      {
        productId: w.productId,
        source: 'function decodeUplink(input) { return { data: input } }',
        uplink: {
          bytes: 'ab'.repeat(2000),
          deviceId: w.deviceIds[0],
          port: 2,
          recvTime: ALWAYS.from,
          variables: { a: 'b' },
        },
      },
    ],
  },
  replayCalls: {
    args: (w) => [
      { productId: w.productId, dryRun: true, callIds: w.callIds.slice(0, 50) },
      { productId: w.productId, dryRun: true, ...ALWAYS, status: ['STORED', 'PARTLY_STORED', 'NOTHING_STORED'] },
    ],
  },
};

const DEVICES: Record<string, MutationWay> = {
  adoptUnknownDevice: {
    args: (w) => [{ id: some(w.unknownIds, w), productId: w.productId, plan: 'unlimited', name: unique(w) }],
  },
  adoptUnknownDevices: {
    args: (w) => [{ ids: [some(w.unknownIds, w)], productId: w.productId, plan: 'unlimited' }],
  },
  createDevices: {
    args: (w) => [
      { productId: w.spareProductId, plan: 'unlimited', devices: devices(w) },
      { productId: w.spareProductId, plan: 'unlimited', devices: devices(w), onExisting: 'UPDATE' },
    ],
  },
  saveDeviceView: {
    args: (w) => [{ workspaceId: w.workspaceId, name: text(w, 100), query: text(w, 2000), shared: true }],
  },
  deleteDeviceView: { args: (w) => [{ workspaceId: w.workspaceId, name: text(w, 100), shared: true }] },
  deleteDevices: { make: (maker) => maker.devices(100), args: (_, ids) => [{ ids }] },
  deleteMeasurements: {
    make: (maker) => maker.values(),
    args: (_, deviceId) => [
      { deviceId, ...ALWAYS, fields: ['f0'], dryRun: true },
      { deviceId, ...ALWAYS },
    ],
  },
  updateDevices: {
    args: (w) => [
      {
        productId: w.productId,
        workspaceId: w.workspaceId,
        input: { tags: ['a', 'b'], addTags: [unique(w)], removeTags: ['b'], location: text(w, 500), plan: 'unlimited' },
        confirm: true,
      },
      {
        ids: w.deviceIds.slice(0, 1000),
        exceptWorkspaceId: w.productId,
        search: 'd',
        tags: ['a'],
        anyTags: ['a', 'b'],
        online: false,
        lastHeardBefore: LATER,
        lastHeardAfter: '2001-01-01T00:00:00Z',
        input: { offlineAfterSeconds: 60 },
        dryRun: true,
      },
      {
        serialNumbers: ['d1', 'd2'],
        lowBattery: false,
        values: [
          { field: 'f1', operator: 'GT', value: 0 },
          { role: 'PRIMARY', operator: 'LT', value: 1e9 },
        ],
        input: { addTags: ['a'] },
        dryRun: true,
      },
    ],
  },
  importDevices: {
    args: (w) => [
      { productId: w.spareProductId, plan: 'unlimited', text: devicesFile(w) },
      { productId: w.spareProductId, text: devicesFile(w), onExisting: 'KEEP', dryRun: true },
    ],
  },
  recordMeasurements: {
    args: (w) => [
      { deviceId: w.deviceIds[5], entries: entries(w, 'nope') },
      { deviceId: w.deviceIds[5], entries: entries(w, 'f2') },
    ],
  },
  replaceDevice: {
    make: (maker) => maker.pair(),
    args: (w, made) => [
      { id: w.deviceIds[7], serialNumber: unique(w) },
      { id: made?.into, serialNumber: made?.serialNumber, absorb: made?.absorb },
    ],
  },
  setConfiguration: {
    args: (w) => [
      {
        deviceId: w.deviceIds[0],
        values: Object.fromEntries(list(w.size.parts * 2, (at) => [`c${at}`, text(w, 300)])),
      },
    ],
  },
  updateDevice: {
    make: (maker) => maker.devices(1),
    args: (w, made) => [
      {
        id: w.deviceIds[0],
        confirm: true,
        input: {
          name: unique(w),
          serialNumber: 'd0',
          plan: 'unlimited',
          location: text(w, 500),
          offlineAfterSeconds: 3600,
          tags: list(Math.min(50, w.size.parts), (at) => `tag${at}`.padEnd(Math.min(100, w.size.text), 't')),
          metadata: list(w.size.parts * 200, () => []),
        },
      },
      { id: made?.[0], confirm: true, input: { productId: w.productId, fields: [{ from: 'temperature', to: null }] } },
    ],
  },
};

/** Every mutation: a new one, a new argument or a new field of an input object is missed by `missingWays`. */
export const MUTATION_WAYS: Record<string, MutationWay> = {
  ...DEVICES,
  ...PRODUCTS,
  ...RULES,
  ...NOTES,
  ...ENDPOINTS,
  ...DASHBOARDS,
  ...ADMINISTRATION,
};
