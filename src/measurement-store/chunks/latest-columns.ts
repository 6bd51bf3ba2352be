import type { LatestRow, StoredValue } from '../../domain/ports/store.ts';
import { must } from '../../must.ts';

/** Newest values on their way between threads, where each object and each name in it would be copied one by one. */
export interface LatestColumns {
  deviceKeys: number[];
  fieldKeys: number[];
  timestamps: number[];
  values: StoredValue[];
}

/** Newest values as columns, which cross a thread cheaper than rows. */
export function latestColumns(rows: readonly LatestRow[]): LatestColumns {
  return {
    deviceKeys: rows.map((row) => row.deviceKey),
    fieldKeys: rows.map((row) => row.fieldKey),
    timestamps: rows.map((row) => row.timestamp),
    values: rows.map((row) => row.value),
  };
}

/** The rows again. */
export function latestRows({ deviceKeys, fieldKeys, timestamps, values }: LatestColumns): LatestRow[] {
  return deviceKeys.map((deviceKey, at) => {
    return { deviceKey, fieldKey: must(fieldKeys[at]), timestamp: must(timestamps[at]), value: must(values[at]) };
  });
}
