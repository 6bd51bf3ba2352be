import { type Rejection, reject } from './entry.ts';
import type { Batch } from '../ports/store.ts';
import { must } from '../../must.ts';

type Keys = Pick<Batch, 'fieldKeys' | 'timestamps'>;

/** So many are compared with each other: quicker than to make anything of them. */
const FEW = 8;

/**
 * For each place of a batch the last one with the same field and moment, of which the store keeps the value; null: each key
 * is there once.
 */
export function lastOfEachKey(keys: Keys): number[] | null {
  if (!mayRepeat(keys)) return null;
  const { fieldKeys, timestamps } = keys;
  const lastByField = new Map<number, Map<number, number>>();
  for (const [at, fieldKey] of fieldKeys.entries()) {
    const ofField = lastByField.get(fieldKey);
    if (ofField === undefined) lastByField.set(fieldKey, new Map([[must(timestamps[at]), at]]));
    else ofField.set(must(timestamps[at]), at);
  }
  return fieldKeys.map((fieldKey, at) => must(must(lastByField.get(fieldKey)).get(must(timestamps[at]))));
}

/** False where no key can be there twice: a few entries, or each field in order of time. */
function mayRepeat({ fieldKeys, timestamps }: Keys): boolean {
  const count = fieldKeys.length;
  if (count <= FEW) {
    for (let later = 1; later < count; later += 1)
      for (let at = 0; at < later; at += 1)
        if (fieldKeys[at] === fieldKeys[later] && timestamps[at] === timestamps[later]) return true;
    return false;
  }
  const newest = new Map<number, number>();
  for (let at = 0; at < count; at += 1) {
    const time = must(timestamps[at]);
    if (time <= (newest.get(must(fieldKeys[at])) ?? -Infinity)) return true;
    newest.set(must(fieldKeys[at]), time);
  }
  return false;
}

/** Of an entry for whose field and moment the same request has a later one (`by`: its index). */
export function duplicate(index: number, identifier: string | null, timestamp: number, by: number): Rejection {
  const moment = new Date(timestamp).toISOString();
  return reject(
    index,
    identifier,
    'DUPLICATE_IN_REQUEST',
    `Entry ${by} of this request is for the same field and moment (${moment}, to the millisecond), and the last one is ` +
      'stored; give each value a "timestamp" of its own.',
  );
}

/** The columns of those places of a batch only. */
export function onlyPlaces(batch: Batch, places: readonly number[]): Batch {
  return {
    ...batch,
    fieldKeys: places.map((at) => must(batch.fieldKeys[at])),
    timestamps: places.map((at) => must(batch.timestamps[at])),
    values: places.map((at) => must(batch.values[at])),
  };
}
