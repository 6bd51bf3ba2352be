import { useEffect, useRef, useState } from 'preact/hooks';
import { setParameters, usePlace } from '../../navigation/place.ts';
import { readRange, SPANS, ownRange, type SpanName, type TimeRange } from '../../time/time-range.ts';

/** Steps per range in which one that ends now moves on: at least each second, at most each half minute. */
const STEPS = 500;
const SHORTEST_TICK_MS = 1_000;
const LONGEST_TICK_MS = 30_000;
/** Steps per range in which buckets are fetched again while values arrive. */
const REFRESH_STEPS = 400;
const SHORTEST_REFRESH_MS = 5_000;
const LONGEST_REFRESH_MS = 60_000;

/** The range of time that a page shows, from its address. */
export interface ShownRange {
  /** The fetched range. */
  fetched: TimeRange;
  /** The shown range: one that ends now moves on. */
  shown: { from: number; to: number };
  choose: (name: SpanName) => void;
  chooseOwn: (range: { from: string; to: string }) => void;
  /** Zooms into a range; `back` returns to the one before. */
  zoom: (from: number, to: number) => void;
  back: () => void;
  /** Reports values that only the server can put into buckets: fetches again soon. */
  stale: () => void;
  /** Fetches again at once. */
  refresh: () => void;
}

/** The range of a page of charts: kept in the address, moving along if it ends now. */
export function useRange(): ShownRange {
  const { query } = usePlace();
  const [now, setNow] = useState(Date.now);
  const [tick, setTick] = useState(now);
  const before = useRef<(string | null)[][]>([]);
  const fetched = readRange(query, now);
  const span = fetched.to - fetched.from;
  const isMoving = fetched.name !== 'own';
  useEffect(() => {
    if (!isMoving) return;
    const every = Math.min(LONGEST_TICK_MS, Math.max(SHORTEST_TICK_MS, span / STEPS));
    const timer = setInterval(() => document.hidden || setTick(Date.now()), every);
    return () => clearInterval(timer);
  }, [isMoving, span]);
  const due = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(
    () => () => {
      if (due.current !== null) clearTimeout(due.current);
    },
    [],
  );
  const refresh = (): void => {
    const at = Date.now();
    setNow(at);
    setTick(at);
  };
  const stale = (): void => {
    if (!isMoving) return;
    const after = Math.min(LONGEST_REFRESH_MS, Math.max(SHORTEST_REFRESH_MS, span / REFRESH_STEPS));
    due.current ??= setTimeout(() => {
      due.current = null;
      refresh();
    }, after);
  };
  const end = isMoving ? Math.max(now, tick) : fetched.to;
  return {
    fetched,
    shown: { from: end - span, to: end },
    choose: (name) => {
      before.current = [];
      refresh();
      setParameters({ range: name, from: null, to: null }, { push: true });
    },
    chooseOwn: (range) => {
      before.current = [];
      setParameters({ ...range, range: null }, { push: true });
    },
    zoom: (from, to) => {
      before.current.push([query.get('range'), query.get('from'), query.get('to')]);
      setParameters({ ...ownRange(from, to) }, { push: true });
    },
    back: () => {
      const [range = null, from = null, to = null] = before.current.pop() ?? [query.get('range')];
      refresh();
      setParameters({ range, from, to }, { push: true });
    },
    stale,
    refresh,
  };
}

/** The names of the ranges that end now, shortest first. */
export const SPAN_NAMES = Object.keys(SPANS) as SpanName[];
