import { createHash } from 'node:crypto';
import type { Batch, StoredValue } from '../ports/store.ts';
import { must } from '../../must.ts';

/** A value that a call stored; of a long text its fingerprint. Times in ms UTC. */
export interface StoredKey {
  deviceKey: number;
  fieldKey: number;
  timestamp: number;
  value: StoredValue | Fingerprint;
}

type Fingerprint = readonly [hash: string];

/** In characters: a fingerprint is 22. */
const LONG_TEXT = 40;

/**
 * Which values a call stored, for its row in the log: the JSON of a list for each moment of a device, [device, ms after
 * the call was received, field, value, field, value …], some ten bytes a value. A key that is there twice has its last value.
 */
export function storedText(batches: readonly Batch[], receivedAt: number, others: readonly StoredKey[] = []): string {
  const moments: unknown[][] = [];
  let [ofDevice, ofMoment] = [-1, 0];
  const add = (deviceKey: number, timestamp: number, fieldKey: number, value: StoredValue | Fingerprint): void => {
    if (deviceKey !== ofDevice || timestamp !== ofMoment) moments.push([deviceKey, timestamp - receivedAt]);
    [ofDevice, ofMoment] = [deviceKey, timestamp];
    must(moments.at(-1)).push(fieldKey, value);
  };
  for (const { deviceKey, fieldKeys, timestamps, values } of batches)
    for (let at = 0; at < fieldKeys.length; at += 1)
      add(deviceKey, must(timestamps[at]), must(fieldKeys[at]), shortened(must(values[at])));
  for (const { deviceKey, timestamp, fieldKey, value } of others) add(deviceKey, timestamp, fieldKey, value);
  return JSON.stringify(moments);
}

/** What `storedText` wrote, in its order. */
export function storedKeys(text: string, receivedAt: number): StoredKey[] {
  const keys: StoredKey[] = [];
  for (const [deviceKey, after, ...pairs] of JSON.parse(text) as [number, number, ...StoredKey['value'][]][])
    for (let at = 0; at < pairs.length; at += 2)
      keys.push({
        deviceKey,
        fieldKey: pairs[at] as number,
        timestamp: receivedAt + after,
        value: must(pairs[at + 1]),
      });
  return keys;
}

/** Whether it is what the call stored. */
export function isStoredValue(stored: StoredKey['value'], value: StoredValue): boolean {
  const own = shortened(value);
  return typeof stored === 'object' ? typeof own === 'object' && own[0] === stored[0] : own === stored;
}

function shortened(value: StoredValue): StoredKey['value'] {
  if (typeof value === 'number') return value;
  // As the store keeps it.
  const text = value.toWellFormed();
  return text.length <= LONG_TEXT ? text : [createHash('sha256').update(text).digest('base64').slice(0, 22)];
}
