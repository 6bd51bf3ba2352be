import type { FieldMeaning } from '../entities/field.ts';
import type { Moment } from '../ports/series-request.ts';
import type { RangeOfValues } from './raw-view.ts';
import { onlyFitting, type ValueSpan } from './value-span.ts';
import { type Tally, addNumbers, addSummary, openTally } from './tally.ts';
import { type StepContext, type Steps, tallySteps } from './tally-steps.ts';
import { weighAlike, type Weighed, weighHeld } from './weigh-values.ts';

/** The numbers of a range, and the meaning of their field. */
export interface RangeOfNumbers extends RangeOfValues {
  meaning: FieldMeaning;
  overflowAt: number | null;
  /** COUNTER only: the value before `before`, and the one after the range. */
  earlier: Moment | null;
  next: Moment | null;
}

/** Measures of a range's numbers by buckets, computed once for the same edges. */
export class NumbersOfRange {
  readonly #range: RangeOfNumbers;
  readonly #fitting: readonly ValueSpan[];
  readonly #known = new Map<Float64Array, Map<string, unknown>>();
  /** The number before the range; NaN: none. */
  readonly before: number;

  constructor(range: RangeOfNumbers) {
    this.#range = range;
    this.#fitting = range.stretches.map(onlyFitting).filter((stretch) => stretch !== null);
    this.before = numberOf(range.before);
  }

  tallies(edges: Float64Array): (Tally | null)[] {
    return this.#once(edges, 'numbers', () => tallyBuckets(this.#fitting, edges));
  }

  steps(edges: Float64Array): (Steps | null)[] {
    const { before } = this;
    const { meaning, overflowAt, earlier, next } = this.#range;
    const beyond = { earlier: Number.isNaN(before) ? Number.NaN : numberOf(earlier), next: numberOf(next) };
    const context: StepContext = { meaning, overflowAt, before, ...beyond };
    return this.#once(edges, 'steps', () => tallySteps(this.#fitting, edges, context));
  }

  /** The numbers by the time they hold; the last one until `heldTo`, but not beyond the range. */
  held(edges: Float64Array, heldTo: number): (Weighed | null)[] {
    const { before } = this;
    const { from, meaning } = this.#range;
    const held = { before, from, to: Math.min(this.#range.to, heldTo) };
    return this.#once(edges, `held ${heldTo}`, () => weighHeld(this.#fitting, edges, held, meaning === 'ANGLE'));
  }

  directions(edges: Float64Array): (Weighed | null)[] {
    return this.#once(edges, 'directions', () => weighAlike(this.#fitting, edges));
  }

  #once<T>(edges: Float64Array, what: string, find: () => T): T {
    let ofEdges = this.#known.get(edges);
    if (ofEdges === undefined) this.#known.set(edges, (ofEdges = new Map<string, unknown>()));
    if (!ofEdges.has(what)) ofEdges.set(what, find());
    return ofEdges.get(what) as T;
  }
}

function numberOf(moment: Moment | null): number {
  return typeof moment?.value === 'number' ? moment.value : Number.NaN;
}

/**
 * The tally of each bucket of `edges`, null for one without values; `stretches`: numbers in time order, all between the
 * first and the last edge.
 */
function tallyBuckets(stretches: readonly ValueSpan[], edges: Float64Array): (Tally | null)[] {
  const tallies: (Tally | null)[] = Array.from({ length: edges.length - 1 }, () => null);
  let bucket = 0;
  const open = (number: number, at: number): Tally => {
    while (at >= edges[bucket + 1]!) bucket++;
    return (tallies[bucket] ??= openTally(number, at));
  };
  for (const { summary, count, firstAt, lastAt, timestamps, values } of stretches) {
    if (timestamps.length === 0) {
      if (summary === null) throw new Error('a segment that is needed was not decoded');
      addSummary(open(summary.first, firstAt), summary, count, lastAt);
      continue;
    }
    const numbers = values as Float64Array;
    for (let i = 0; i < numbers.length;) {
      const current = open(numbers[i]!, timestamps[i]!);
      i = addNumbers(current, timestamps, numbers, i, numbers.length, edges[bucket + 1]!);
    }
  }
  return tallies;
}
