import { LRUCache } from 'lru-cache';

/** Keeps the `max` entries used last. Its memory grows with them: with `max` lru-cache takes that of all at once. */
export function lruCache<Key extends {}, Value extends {}>(max: number): LRUCache<Key, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}
