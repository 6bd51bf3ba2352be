import { useEffect, useRef, useState } from 'preact/hooks';

/** Steps per span in which a chart moves on: at least each second, at most each half minute. */
const STEPS = 500;
const TICK_MS = [1_000, 30_000] as const;
/** Steps per span in which arrived values are fetched again: sooner for bars, which only the server can update. */
const REFRESH_STEPS = 400;
const REFRESH_MS = [5_000, 60_000] as const;
const BARS_REFRESH_MS = [1_000, 10_000] as const;

/** The end of a range up to now, in milliseconds. */
interface MovingSpan {
  /** The end at the last fetch. */
  asked: number;
  /** The end as drawn: it moves on with the clock and with arriving values. */
  now: number;
}

/** A range of `span` milliseconds up to now. `pushed` is another object after each arrival; `missed` counts. */
export function useMovingSpan(
  span: number,
  { pushed, missed }: { pushed: object; missed: number },
  isBars: boolean,
): MovingSpan {
  const [asked, setAsked] = useState(Date.now);
  const [tick, setTick] = useState(asked);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setTick(Date.now()), within(span / STEPS, TICK_MS));
    return () => clearInterval(timer);
  }, [span]);
  const due = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const stop = (): void => {
    clearTimeout(due.current);
    due.current = undefined;
  };
  useEffect(() => stop, []);
  const first = useRef(pushed);
  useEffect(() => {
    if (pushed === first.current) return;
    setTick(Date.now());
    due.current ??= setTimeout(
      () => {
        due.current = undefined;
        setAsked(Date.now());
      },
      within(span / REFRESH_STEPS, isBars ? BARS_REFRESH_MS : REFRESH_MS),
    );
  }, [pushed]);
  useEffect(() => {
    if (missed === 0) return;
    stop();
    setAsked(Date.now());
  }, [missed]);
  return { asked, now: Math.max(asked, tick) };
}

function within(ms: number, [least, most]: readonly [number, number]): number {
  return Math.min(Math.max(ms, least), most);
}
