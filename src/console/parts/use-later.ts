import { useEffect, useState } from 'preact/hooks';

/** The value once it has not changed for so many milliseconds: what somebody types, when they pause. */
export function useLater<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
