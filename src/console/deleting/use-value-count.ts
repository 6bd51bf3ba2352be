import { useEffect, useState } from 'preact/hooks';
import { forEachOf } from '../api/for-each-of.ts';
import { request } from '../api/request.ts';
import { useAction } from '../api/use-action.ts';
import { CountValues } from './deleting.graphql.ts';

const EVER = { from: '1970-01-01T00:00:00Z', to: '9999-12-31T00:00:00Z' };

/** How many values would go: so many in the devices counted so far, and why the counting stopped. */
interface ValueCount {
  values: number;
  /** Devices whose values are in the sum. */
  counted: number;
  error: string | null;
}

/** Counts the values of devices, device by device, as soon as they are known, for as long as it is drawn; null: not yet. */
export function useValueCount(devices: readonly { id: string }[] | null): ValueCount {
  const [{ values, counted }, setCount] = useState({ values: 0, counted: 0 });
  const counting = useAction((given: readonly { id: string }[], signal: AbortSignal) => {
    const count = async ({ id }: { id: string }): Promise<void> => {
      const { deleteMeasurements } = await request(CountValues, { deviceId: id, ...EVER }, signal);
      setCount((sum) => ({ values: sum.values + deleteMeasurements.measurements, counted: sum.counted + 1 }));
    };
    return forEachOf(given, count, signal);
  });
  useEffect(() => {
    if (devices === null) return;
    const stop = new AbortController();
    void counting.run(devices, stop.signal);
    return () => stop.abort();
  }, [devices === null]);
  return { values, counted, error: counting.error };
}
