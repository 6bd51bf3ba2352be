import type { DeviceKeys } from '../domain/ports/store.ts';

/** A row of `shared_value`. */
export interface OthersRow {
  deviceKey: number;
  fieldKey: number;
  ts: number;
  others: number;
}

/** `others` of `KnownValues` for each device: 0 where there is no row. */
export function othersOf(keys: readonly DeviceKeys[], rows: readonly OthersRow[]): number[][] {
  const found = new Map(rows.map(({ deviceKey, fieldKey, ts, others }) => [`${deviceKey} ${fieldKey} ${ts}`, others]));
  return keys.map(({ deviceKey, fieldKeys, timestamps }) =>
    fieldKeys.map((fieldKey, at) => found.get(`${deviceKey} ${fieldKey} ${timestamps[at]}`) ?? 0),
  );
}
