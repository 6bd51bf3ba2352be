import { countsByName } from './named-rows.ts';

/** What has waited in a lane, as Prometheus reads it (`docs/operating.md`, lanes). */
export class LaneCounts {
  /** Number that wait now. */
  waiting = 0;
  /** Number of those that had to wait, and their time together. */
  waits = 0;
  waitedMs = 0;
  /** Time charged for the work of lanes that charge it. */
  chargedMs = 0;
  /** Number refused, as too much waited or for too long. */
  refused = 0;

  /** Counts one that begins to wait; returns when that was, for `end`. */
  begin(): number {
    this.waiting += 1;
    return performance.now();
  }

  /** Counts the end of a wait that began at `since`. */
  end(since: number): void {
    this.waiting -= 1;
    this.waits += 1;
    this.waitedMs += performance.now() - since;
  }

  /** Counts the refusal of one that had waited since then. */
  refuse(since: number): void {
    this.end(since);
    this.refused += 1;
  }

  /** Counts one that begins to wait, until the first call of either returned function. */
  wait(start: () => void, refuse: (error: Error) => void): { start: () => void; refuse: (error: Error) => void } {
    const since = this.begin();
    return {
      start: () => {
        this.end(since);
        start();
      },
      refuse: (error) => {
        this.refuse(since);
        refuse(error);
      },
    };
  }
}

/** The counts of a lane. */
export const countsOf = countsByName(() => new LaneCounts());
