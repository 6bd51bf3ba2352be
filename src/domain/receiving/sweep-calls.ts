import type { MeasurementStore } from '../ports/store.ts';
import type { UnknownDevices } from './unknown-devices.ts';

const DAY_MS = 86_400_000;

interface SweepCallsDeps {
  store: { removeCalls: (...asked: Parameters<MeasurementStore['removeCalls']>) => Promise<unknown> };
  unknownDevices: Pick<UnknownDevices, 'forgetBefore'>;
  products: { finishDeletions: (isStopping: () => boolean) => Promise<void> };
  /** CALL_LOG_DAYS */
  days: number;
  now: () => number;
}

/**
 * Deletes logged calls and unknown devices that are too old (CONTRACT 2), and the rest of products whose deletion was
 * interrupted; in small chunks.
 */
export async function sweepCalls(
  { store, unknownDevices, products, days, now }: SweepCallsDeps,
  isStopping: () => boolean,
): Promise<void> {
  const before = now() - days * DAY_MS;
  await products.finishDeletions(isStopping);
  if (isStopping()) return;
  await store.removeCalls(before, undefined, isStopping);
  if (isStopping()) return;
  await unknownDevices.forgetBefore(before);
}
