import type { EventType } from './event-types.ts';

const DEVICE = {
  id: '00000000-0000-7000-8000-000000000001',
  serialNumber: 'SAMPLE-1',
  name: 'Sample device',
  tags: [],
};
const PRODUCT = { id: '00000000-0000-7000-8000-000000000002', key: 'sample', name: 'Sample product' };
const RULE = { id: '00000000-0000-7000-8000-000000000003', key: 'sample', name: 'Sample rule' };

/** The data of a test message: what an event of the type looks like, with `test: true`. */
export function sampleData(type: EventType, at: Date): Record<string, unknown> {
  return { test: true, ...partsOf(type, at.toISOString()) };
}

function partsOf(type: EventType, at: string): Record<string, unknown> {
  const [device, product] = [DEVICE, PRODUCT];
  switch (type) {
    case 'device.offline':
    case 'device.online':
      return { device, product, lastHeardAt: at };
    case 'device.unknown':
      return { identifier: '70b3d57ed0000000', product: null, call: null };
    case 'call.failed':
      return { product, call: { id: DEVICE.id, receivedAt: at, error: 'THREW', message: 'Sample error' } };
    case 'measurements.recorded':
      return { entries: [{ device, product, field: 'TEMPERATURE', value: 21.5, timestamp: at }], from: at, to: at };
    default:
      return {
        alert: {
          id: '00000000-0000-7000-8000-000000000004',
          state: type === 'alert.resolved' ? 'RESOLVED' : 'FIRING',
          severity: 'WARNING',
          startedAt: at,
          firedAt: at,
          endedAt: type === 'alert.resolved' ? at : null,
          late: false,
        },
        rule: RULE,
        device,
        product,
        values: { TEMPERATURE: 21.5 },
        reason: 'This is a test.',
      };
  }
}
