import { useEffect, useState } from 'preact/hooks';

/** A value that components follow. */
interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  /** Calls with each new value until the returned function is called. */
  follow(listener: (value: Value) => void): () => void;
}

/** A store that begins with `first`; setting an equal value calls no listener. */
export function createStore<Value>(first: Value): Store<Value> {
  let held = first;
  const listeners = new Set<(value: Value) => void>();
  return {
    get: () => held,
    set: (value) => {
      if (Object.is(value, held)) return;
      held = value;
      for (const listener of listeners) listener(value);
    },
    follow: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The store's value; draws again whenever it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(store.get());
  useEffect(() => {
    // Catch up with changes between drawing and following.
    setValue(() => store.get());
    return store.follow((next) => setValue(() => next));
  }, [store]);
  return value;
}
