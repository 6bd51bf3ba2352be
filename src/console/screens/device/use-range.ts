import { useEffect, useRef, useState } from 'preact/hooks';
import { setParameters, usePlace } from '../../navigation/place.ts';
import { readRange, SPANS, ownRange, type SpanName, type TimeRange } from '../../time/time-range.ts';

/** A range that ends now is drawn on so often; at least each second, at most each half minute. */
const STEPS = 500;
const SHORTEST_TICK_MS = 1_000;
const LONGEST_TICK_MS = 30_000;
/** Charts of buckets are fetched anew so often while values come. */
const REFRESH_STEPS = 400;
const SHORTEST_REFRESH_MS = 5_000;
const LONGEST_REFRESH_MS = 60_000;

/** The stretch of time that a page shows, as its address says. */
export interface ShownRange {
  /** What was, or is to be, fetched. */
  fetched: TimeRange;
  /** What is in sight: a range that ends now moves on. */
  shown: { from: number; to: number };
  choose: (name: SpanName) => void;
  chooseOwn: (range: { from: string; to: string }) => void;
  /** Into a stretch; `back` leads out again, to what was shown before. */
  zoom: (from: number, to: number) => void;
  back: () => void;
  /** Values have come that only the server can put into buckets: fetches anew before long. */
  stale: () => void;
  /** Fetches anew at once. */
  refresh: () => void;
}

/** The range of a page of charts: in the address, moving along while it ends now. */
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
