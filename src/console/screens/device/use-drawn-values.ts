import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FieldAnswer } from '../../chart/field-chart-data.ts';
import type { LiveValues, Pushed } from './live-values.ts';
import { useInSight } from './use-in-sight.ts';
import type { ShownRange } from './use-range.ts';

/** Maximum pushed values kept; then all are fetched again. */
const MAX_PUSHED = 3_000;

interface Drawn {
  answer: FieldAnswer | null;
  pushed: readonly Pushed[];
  /** Milliseconds. */
  from: number;
  to: number;
}

interface Drawing {
  identifier: string;
  answer: FieldAnswer | null;
  range: ShownRange;
  live: LiveValues;
}

/** Fetched and pushed values of a field to draw at `host`; they stay as they are while it is out of sight. */
export function useDrawnValues(
  { identifier, answer, range, live }: Drawing,
  host: RefObject<HTMLElement | null>,
): Drawn {
  const isNow = useInSight(host);
  const pushed = usePushed(live, identifier, answer, range);
  const { from, to } = range.shown;
  const seen = useRef({ answer, pushed, from, to });
  if (isNow || seen.current.answer === null) seen.current = { answer, pushed, from, to };
  return seen.current;
}

/** Values pushed since the answer; buckets are fetched again instead. */
function usePushed(
  live: LiveValues,
  identifier: string,
  answer: FieldAnswer | null,
  range: ShownRange,
): readonly Pushed[] {
  const [pushed, setPushed] = useState<readonly Pushed[]>([]);
  const latest = useRef(range);
  latest.current = range;
  useEffect(() => {
    // Drop values that the answer surely holds; duplicates do no harm.
    const last = answer?.raw.timestamps.at(-1) ?? 0;
    setPushed((before) => before.filter(({ timestamp }) => timestamp >= last));
  }, [answer]);
  useEffect(
    () =>
      live.listen(identifier, (points) => {
        latest.current.stale();
        setPushed((before) => (before.length > MAX_PUSHED ? [] : [...before, ...points]));
      }),
    [live, identifier],
  );
  return pushed;
}
