import { useEffect, useState } from 'preact/hooks';
import { forEachOf } from '../api/for-each-of.ts';
import { request } from '../api/request.ts';
import { useAction } from '../api/use-action.ts';
import { CountValues } from './deleting.graphql.ts';

const EVER = { from: '1970-01-01T00:00:00Z', to: '9999-12-31T00:00:00Z' };

/** Number of values to delete in the devices counted so far, and the error that ended the counting. */
interface ValueCount {
  values: number;
  /** Devices counted so far. */
  counted: number;
  error: string | null;
}

/** Counts the values of devices one by one once they are known, while mounted; null: not known yet. */
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
