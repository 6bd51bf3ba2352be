import { LIVE_ENDPOINTS } from './endpoint-ways.ts';
import { ALARMING } from './rule-ways.ts';
import type { SubscriptionWay } from './ways.ts';

const MANY_VALUES = 10_000;

/** Every subscription: a new one, or a new argument, is missed by `missingWays`. */
export const SUBSCRIPTION_WAYS: Record<string, SubscriptionWay> = {
  ...LIVE_ENDPOINTS,
  measurementsRecorded: {
    args: (w) => [
      { deviceIds: [w.deviceIds[9]] },
      { productId: w.productId, fields: ['f0', 'f2'], after: null },
      { workspaceId: w.workspaceId },
    ],
    happens: async (w, record) => {
      const fields = Math.floor(w.size.fields / 2);
      const entries = Array.from({ length: Math.min(MANY_VALUES, w.size.many * 10) }, (_, at) => ({
        field: `f${(at % fields) * 2}`,
        value: at,
        timestamp: 1.1e9 + w.next() * 100 + Math.floor(at / fields),
      }));
      await record(w.deviceIds[9]!, entries);
    },
  },
  deviceStatusChanged: {
    args: (w) => [{ productId: w.productId }, { workspaceId: w.workspaceId }, { deviceIds: w.deviceIds.slice(-1000) }],
    // One that has never been heard.
    happens: (w, record) =>
      record(w.deviceIds.at(-(w.next() % Math.floor(w.deviceIds.length / 2)) - 1)!, [{ field: 'f0', value: 1 }]),
  },
  alertChanged: {
    args: (w) => [
      { productId: w.productId },
      { workspaceId: w.workspaceId, after: null },
      { deviceIds: w.deviceIds.slice(-1000) },
    ],
    happens: (w, record) => record(w.deviceIds.at(-1)!, [{ field: 'f0', value: w.next() % 2 === 0 ? ALARMING : 0 }]),
  },
  webhookCalled: {
    args: (w) => [
      { productId: w.productId, last: 500 },
      { productId: w.productId, status: ['STORED', 'PARTLY_STORED'] },
    ],
    happens: (_w, _record, call) => call(),
  },
};
