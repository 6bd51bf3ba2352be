import { LRUCache } from 'lru-cache';

/**
 * Keeps the entries used last, up to a sum of their sizes; each is 1 unless `sizeOf` says otherwise. Its memory grows with
 * them: with a `max` lru-cache takes that of all at once.
 */
export function lruCache<Key extends {}, Value extends {}>(
  maxSize: number,
  sizeOf: (value: Value, key: Key) => number = () => 1,
): LRUCache<Key, Value> {
  return new LRUCache({ maxSize, sizeCalculation: sizeOf });
}
