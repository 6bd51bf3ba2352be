import { useEffect, useState } from 'preact/hooks';

/** The value once it has not changed for `ms` milliseconds: for typed text. */
export function useLater<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
