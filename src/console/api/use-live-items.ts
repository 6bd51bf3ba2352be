import { useEffect, useRef, useState } from 'preact/hooks';

interface LiveItems<Item> {
  /** By id; the one that was put last comes last. */
  changed: ReadonlyMap<string, Item>;
  /** Shows an item as it has become. */
  put: (item: Item) => void;
}

/**
 * Items that were pushed since the answer of a query, by their ids. A new answer replaces those that came before it was
 * asked for; what came meanwhile may be newer than it.
 */
export function useLiveItems<Item extends { id: string }>(answer: unknown, isAsking: boolean): LiveItems<Item> {
  const [changed, setChanged] = useState<ReadonlyMap<string, Item>>(new Map());
  const since = useRef({ wasAsking: false, ids: new Set<string>() });
  if (isAsking && !since.current.wasAsking) since.current.ids = new Set();
  since.current.wasAsking = isAsking;
  useEffect(() => setChanged((before) => new Map([...before].filter(([id]) => since.current.ids.has(id)))), [answer]);
  const put = (item: Item): void => {
    since.current.ids.add(item.id);
    setChanged((before) => {
      const next = new Map(before);
      next.delete(item.id);
      return next.set(item.id, item);
    });
  };
  return { changed, put };
}
