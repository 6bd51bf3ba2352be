import { ALARMING } from './rule-ways.ts';
import { type Args, FIRST, type MutationWay, type OutputWays, type SubscriptionWay } from './ways.ts';
import type { World } from './world.ts';

const ALWAYS = { from: '2001-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };

/** Nothing is sent there: it is a private network. */
export const NOWHERE = {
  name: 'nowhere',
  kind: 'WEBHOOK',
  url: 'http://10.0.0.1/',
  events: ['alert.fired', 'alert.resolved'],
};

/** Endpoints with something of everything; those of people cannot be had where no mail is sent, which is told. */
const inputs = (w: World): Args[] => [
  { ...NOWHERE, key: `walked-${w.next()}`, enabled: true, productIds: [w.productId], tags: ['a'] },
  { name: 'people', kind: 'EMAIL', key: `walked-${w.next()}`, events: [], addresses: ['people@example.org'] },
];

/** Ways to the mutations of endpoints. */
export const ENDPOINTS: Record<string, MutationWay> = {
  createEndpoint: { args: (w) => inputs(w).map((input) => ({ workspaceId: w.workspaceId, input })) },
  updateEndpoint: {
    make: (maker) => maker.endpoint(),
    args: (w, id) => inputs(w).map((input) => ({ id, input })),
  },
  deleteEndpoint: { make: (maker) => maker.endpoint(), args: (_, id) => [{ id }] },
  rotateEndpointSecret: { make: (maker) => maker.endpoint(), args: (_, id) => [{ id }] },
  testEndpoint: { args: (w) => [{ id: w.endpointId }] },
  retryDeliveries: {
    args: ({ endpointId, deliveryId }) => [
      { endpointId, deliveryIds: [deliveryId] },
      { endpointId, ...ALWAYS, dryRun: true },
    ],
  },
};

/** Ways to what endpoints show. */
export const OF_ENDPOINTS: OutputWays = {
  'Workspace.endpoints': (w) => [{ ids: [w.endpointId] }, {}],
  'Endpoint.deliveries': () => [
    { first: FIRST },
    { first: FIRST, status: ['DEAD', 'DELIVERED', 'WAITING'], after: null },
  ],
};

/** Ways to follow endpoints. */
export const LIVE_ENDPOINTS: Record<string, SubscriptionWay> = {
  deliveryChanged: {
    args: (w) => [{ endpointId: w.endpointId }],
    happens: (w, record) => record(w.deviceIds.at(-1)!, [{ field: 'f0', value: w.next() % 2 === 0 ? ALARMING : 0 }]),
  },
};
