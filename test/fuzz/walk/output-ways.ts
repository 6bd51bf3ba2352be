import { OF_DASHBOARDS } from './dashboard-ways.ts';
import { OF_ENDPOINTS } from './endpoint-ways.ts';
import { FIRST, type OutputWays } from './ways.ts';
import type { World } from './world.ts';

const RANGE = { from: '2001-01-01T00:00:00Z', to: '2003-01-01T00:00:00Z' };
const ALWAYS = { from: '2001-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
/** What one page of history is asked of at once. */
const HISTORY_DEVICES = 200;

const STATUS = ['STORED', 'PARTLY_STORED', 'NOTHING_STORED', 'DECODER_FAILED', 'NO_DECODER'];

const historyOf = (world: World): Record<string, unknown>[] => [
  RANGE,
  { ...RANGE, fields: ['f0', 'f2'], maxPoints: (at: number) => 1000 + at },
  {
    ...RANGE,
    fields: ['f0'],
    resolution: (at: number) => `${1 + at}h`,
    aggregation: 'DIFFERENCE',
    fill: 'LINEAR',
    timeZone: 'Europe/Berlin',
  },
  { ...RANGE, fields: Array.from({ length: world.size.fields }, (_, at) => `f${at}`), resolution: '1d', fill: 'NULL' },
];

/** Every field of an output type that takes arguments: a new one, or a new argument, is missed by `missingWays`. */
export const OUTPUT_WAYS: OutputWays = {
  ...OF_DASHBOARDS,
  ...OF_ENDPOINTS,
  'Query.auditLog': (w) => [
    { workspaceId: w.workspaceId, first: FIRST },
    { workspaceId: w.workspaceId, first: FIRST, ...ALWAYS, operation: (at: number) => `update${at}` },
    { workspaceId: w.workspaceId, first: FIRST, userId: w.userIds[0], after: w.cursors.auditLog },
    { first: FIRST },
  ],
  'Query.device': (w) => [
    { id: w.deviceIds[0] },
    { id: w.deviceIds[1] },
    { id: (at: number) => w.deviceIds[at % w.deviceIds.length] },
  ],
  'Query.deviceBySerialNumber': (w) => [
    { serialNumber: 'd0', productId: w.productId },
    { serialNumber: (at: number) => `D${at}`, workspaceId: w.workspaceId },
  ],
  'Query.devices': (w) => [
    { first: FIRST, productId: w.productId },
    { first: FIRST, workspaceId: w.workspaceId, search: (at: number) => `zz${at}` },
    { first: FIRST, orderBy: 'NAME', descending: true },
    { first: FIRST, exceptWorkspaceId: w.productId },
    {
      first: FIRST,
      tags: ['tag0'.padEnd(Math.min(100, w.size.text), 't')],
      anyTags: (at: number) => [`tag${at}`, 'x'],
    },
    { first: FIRST, orderBy: 'LAST_HEARD', online: true, lastHeardAfter: ALWAYS.from, lastHeardBefore: ALWAYS.to },
    { first: FIRST, ids: w.deviceIds.slice(0, 1000) },
    { first: FIRST, serialNumbers: Array.from({ length: 1000 }, (_, at) => `d${at}`), lowBattery: false },
    { first: FIRST, productId: w.productId, orderByField: 'f0', values: [{ field: 'f1', operator: 'GT', value: 0 }] },
    { first: FIRST, orderByRole: 'PRIMARY', values: [{ role: 'PRIMARY', operator: 'LT', value: 1e9 }] },
    { first: FIRST, after: w.cursors.devices },
  ],
  'Query.exportConfiguration': (w) => [
    { workspaceId: w.workspaceId },
    { workspaceId: w.workspaceId, format: 'JSON', devices: true },
    { workspaceId: w.workspaceId, productKeys: [] },
  ],
  'Query.history': (w) => [
    { deviceIds: w.deviceIds.slice(0, HISTORY_DEVICES), ...RANGE },
    ...historyOf(w).map((more) => ({ deviceIds: w.deviceIds.slice(0, 2), ...more })),
    { productId: w.spareProductId, ...RANGE },
    { tags: ['none'], ...RANGE },
  ],
  'Query.alerts': (w) => [
    { first: FIRST },
    { first: FIRST, workspaceId: w.workspaceId, state: ['PENDING', 'FIRING', 'RECOVERING', 'RESOLVED'], after: null },
    { first: FIRST, productId: w.productId, deviceId: w.deviceIds[0], severity: ['CRITICAL'], ...ALWAYS },
  ],
  'Rule.alerts': () => [{ first: FIRST }, { first: FIRST, state: ['FIRING'], after: null }],
  'Query.planChange': (w) => [{ deviceId: w.deviceIds[0], plan: 'unlimited' }],
  'Query.productChange': (w) => [
    {
      deviceId: w.deviceIds[0],
      productId: w.spareProductId,
      fields: [
        { from: 'f1', to: null },
        { from: 'f0', to: 'temperature' },
      ],
    },
  ],
  'Query.product': (w) => [
    { id: w.productId },
    { key: 'walked', workspaceId: w.workspaceId },
    { id: (at: number) => w.productIds[at % w.productIds.length] },
  ],
  'Query.products': (w) => [
    { first: FIRST },
    { first: FIRST, workspaceId: w.workspaceId, search: (at: number) => `zz${at}` },
    { first: FIRST, after: w.cursors.products },
    { first: FIRST, exceptWorkspaceId: w.productId },
  ],
  'Query.unknownDevices': (w) => [{ workspaceId: w.workspaceId }, { first: FIRST }],
  'Workspace.places': () => [{}, { first: 10_000 }],
  'Query.user': (w) => [{ email: w.person.email }, { email: (at: number) => `u${at}@x.org` }],
  'Query.users': (w) => [
    { first: FIRST, after: w.cursors.users },
    { search: 'x.org', first: FIRST },
  ],
  'Query.workspace': (w) => [{ id: w.workspaceId }],
  'Device.history': historyOf,
  'Device.latest': () => [
    {},
    { fields: (at: number) => [`f${at}`, 'f1'] },
    { anyFields: ['f2', 'x'], roles: ['PRIMARY'] },
  ],
  'Device.measurements': (w) => [
    { field: 'f0', first: FIRST },
    { field: 'f1', first: FIRST },
    {
      field: 'f0',
      first: FIRST,
      newestFirst: true,
      from: RANGE.from,
      to: (at: number) => `2002-01-01T00:00:${10 + (at % 50)}Z`,
    },
    { field: 'f0', first: FIRST, after: w.cursors.measurements },
  ],
  'Device.notes': () => [{}, { ...ALWAYS, first: (at: number) => 1 + (at % 500) }],
  'Device.statistics': () => [
    RANGE,
    { from: RANGE.from, to: (at: number) => `2002-01-01T00:${10 + (at % 50)}:00Z`, fields: ['f0', 'f1', 'f2'] },
  ],
  'Product.call': (w) => [{ id: w.callIds[0] }, { id: (at: number) => w.callIds[at % w.callIds.length] }],
  'Product.calls': (w) => [
    { first: FIRST },
    { first: FIRST, status: STATUS, ...ALWAYS },
    { first: FIRST, after: w.cursors.calls },
  ],
  'Product.decoderVersions': () => [{ first: FIRST }, { first: FIRST, before: (at: number) => at + 2 }],
  'Product.devices': (w) => [{ first: FIRST }, { first: FIRST, after: w.cursors.devices }],
  'Product.field': () => [{ identifier: 'f1' }, { identifier: (at: number) => `f${at}` }],
  'Product.searchCalls': (w) => [
    { first: FIRST },
    { first: FIRST, text: (at: number) => `zz${at}` },
    { first: FIRST, device: (at: number) => `d${at}`, status: STATUS, ...ALWAYS },
    { first: FIRST, after: w.cursors.searchCalls },
  ],
};
