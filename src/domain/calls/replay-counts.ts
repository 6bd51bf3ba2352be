import type { ValueCounts } from './replayed-values.ts';

/** How far a replay came. */
export interface ReplayCounts extends ValueCounts {
  calls: number;
  /** Entries. */
  stored: number;
  rejected: number;
  /** Calls whose decoder failed again, that have no decoder, or whose body was cut in the log. */
  failed: number;
  /** Calls of an older version: what they stored is not known, so nothing of it was removed. */
  unknown: number;
}

/** A replay under way, or one that has ended early. */
export interface ReplayProgress extends ReplayCounts {
  startedAt: number;
  dryRun: boolean;
  /** Why it ended before all calls were run; null: it is running. */
  endedBecause: string | null;
}

const NO_VALUES: ValueCounts = { added: 0, changed: 0, unchanged: 0, removed: 0, kept: 0 };

/** What it counts alone. */
export function countsOf({
  startedAt: _at,
  dryRun: _dry,
  endedBecause: _why,
  ...counts
}: ReplayProgress): ReplayCounts {
  return counts;
}

/** Before the first call. */
export function nothingYet(): ReplayCounts {
  return { calls: 0, stored: 0, rejected: 0, failed: 0, unknown: 0, ...NO_VALUES };
}
