import type { FieldMeaning } from '../entities/field.ts';
import type { NumberSummary } from '../measurements/segment.ts';
import type { Falls } from '../ports/series-request.ts';
import { turnOf } from './directions.ts';
import type { ValueSpan } from './value-span.ts';
import { finiteOrNull } from './tally.ts';

/**
 * Divisor of the number before a fall: a smaller fall is noise, and an overflow begins within that part of its maximum.
 */
const TENTH = 10;

/** Steps from number to number that end in one bucket, the first of them from before it. */
export interface Steps extends Falls {
  /** The number before the bucket; without one, its own first. */
  base: number;
  /** The number at its end. */
  last: number;
  /** Sum to add for falls that the counter did not measure: the numbers it had reached. */
  dropped: number;
}

/** The meaning of a field, and the numbers beyond the range that decide its first and last falls; NaN: none. */
export interface StepContext {
  meaning: FieldMeaning;
  overflowAt: number | null;
  before: number;
  /** The number before `before`; this and `next` for a COUNTER only. */
  earlier: number;
  next: number;
}

/**
 * The steps of each bucket of `edges` (CONTRACT 7, Meaning), null for one without values; `stretches`: numbers in time
 * order, all between the first and the last edge. The steps of neighbours add up to those of the whole.
 */
export function tallySteps(
  stretches: readonly ValueSpan[],
  edges: Float64Array,
  context: StepContext,
): (Steps | null)[] {
  const walk = new Walk(edges, context);
  for (const { summary, count, firstAt, timestamps, values } of stretches)
    if (timestamps.length > 0) for (let i = 0; i < values.length; i++) walk.step(values[i] as number, timestamps[i]!);
    else if (summary === null) throw new Error('a segment that is needed was not decoded');
    else if (count === 1) walk.step(summary.first, firstAt);
    else walk.rise(summary, firstAt);
  return walk.end();
}

/** True when certainly no number of the summary is smaller than the one before it. */
export function neverFalls({ min, rise, first, last }: NumberSummary): boolean {
  // Numbers below zero could rise and fall by the same amount.
  return min >= 0 && rise === last - first;
}

/** The difference of the ends plus the value of falls; null beyond float64. */
export function differenceOf({ last, base, dropped }: Steps): number | null {
  return finiteOrNull(last - base + dropped);
}

/** Number of falls in the bucket by their interpretation. */
export function fallsOf({ noise, gaps, overflows, restarts }: Steps): Falls {
  return { noise, gaps, overflows, restarts };
}

/** A fall of a COUNTER whose kind the next number decides. */
interface Dip {
  value: number;
  steps: Steps;
}

/** Walks from number to number. */
class Walk {
  readonly #edges: Float64Array;
  readonly #context: StepContext;
  readonly #tallies: (Steps | null)[];
  #bucket = 0;
  /** The number at which the next step begins. */
  #stands = Number.NaN;
  #dip: Dip | null = null;

  constructor(edges: Float64Array, context: StepContext) {
    this.#edges = edges;
    this.#context = context;
    this.#tallies = Array.from({ length: edges.length - 1 }, () => null);
    const { earlier, before } = context;
    for (const number of [earlier, before]) if (!Number.isNaN(number)) this.#move(number, openSteps(number));
  }

  step(number: number, at: number): void {
    this.#settle(number);
    this.#move(number, this.#open(number, at));
  }

  /** Adds numbers without falls; the first step leads from the present number. */
  rise({ first, last }: NumberSummary, firstAt: number): void {
    this.#settle(first);
    const steps = this.#open(first, firstAt);
    this.#move(first, steps);
    if (this.#dip !== null) throw new Error('a segment that is needed was not decoded');
    this.#stands = steps.last = last;
  }

  end(): (Steps | null)[] {
    this.#settle(this.#context.next);
    return this.#tallies;
  }

  #open(number: number, at: number): Steps {
    while (at >= this.#edges[this.#bucket + 1]!) this.#bucket++;
    return (this.#tallies[this.#bucket] ??= openSteps(Number.isNaN(this.#stands) ? number : this.#stands));
  }

  #move(number: number, steps: Steps): void {
    const before = this.#stands;
    const { meaning } = this.#context;
    if (meaning === 'ANGLE') {
      if (!Number.isNaN(before)) steps.dropped += turnOf(before, number) - (number - before);
    } else if (number < before && meaning !== 'TOTAL') {
      const isNoise = (before - number) * TENTH < Math.abs(before);
      if (!isNoise && meaning === 'COUNTER') {
        this.#dip = { value: number, steps };
        return;
      }
      if (isNoise) steps.noise++;
      else this.#beginAgain(steps);
    }
    this.#stands = steps.last = number;
  }

  /** Decides the kind of a dip by the number after it; NaN: none yet. */
  #settle(next: number): void {
    if (this.#dip === null) return;
    const { value, steps } = this.#dip;
    this.#dip = null;
    if (next >= this.#stands) {
      steps.gaps++;
      return;
    }
    this.#beginAgain(steps);
    this.#stands = steps.last = value;
  }

  #beginAgain(steps: Steps): void {
    const { meaning, overflowAt } = this.#context;
    const before = this.#stands;
    const isNear =
      meaning === 'COUNTER' &&
      overflowAt !== null &&
      before <= overflowAt &&
      (overflowAt - before) * TENTH <= overflowAt;
    steps.dropped += isNear ? overflowAt : before;
    if (isNear) steps.overflows++;
    else steps.restarts++;
  }
}

function openSteps(base: number): Steps {
  return { base, last: base, dropped: 0, noise: 0, gaps: 0, overflows: 0, restarts: 0 };
}
