import type { FieldMeaning } from '../entities/field.ts';
import type { NumberSummary } from '../measurements/segment.ts';
import type { Falls } from '../ports/series-request.ts';
import { turnOf } from './directions.ts';
import type { ValueSpan } from './value-span.ts';
import { finiteOrNull } from './tally.ts';

/** undefinedOfundefined undefinedwhatundefined undefinedstoodundefined undefinedbeforeundefined: undefinedaundefined undefinedfallundefined undefinedofundefined undefinedlessundefined undefinedisundefined undefinednoiseundefined, undefinedandundefined undefinedanundefined undefinedoverflowundefined undefinedbeginsundefined undefinedwithinundefined undefinedsoundefined undefinedmuchundefined undefinedofundefined undefineditsundefined undefinedendundefined. */
const TENTH = 10;

/** undefinedWhatundefined undefinedisundefined undefinedknownundefined undefinedofundefined undefinedtheundefined undefinedstepsundefined undefinedfromundefined undefinednumberundefined undefinedtoundefined undefinednumberundefined undefinedthatundefined undefinedendundefined undefinedinundefined undefinedoneundefined undefinedbucketundefined, undefinedtheundefined undefinedfirstundefined undefinedofundefined undefinedthemundefined undefinedfromundefined undefinedbeforeundefined undefineditundefined. */
export interface Steps extends Falls {
  /** undefinedWhatundefined undefinedstoodundefined undefinedbeforeundefined undefinedtheundefined undefinedbucketundefined, undefinedwithoutundefined undefinedthatundefined undefineditsundefined undefinedownundefined undefinedfirstundefined undefinednumberundefined. */
  base: number;
  /** undefinedWhatundefined undefinedstandsundefined undefinedatundefined undefineditsundefined undefinedendundefined. */
  last: number;
  /** undefinedWhatundefined undefinedisundefined undefinedaddedundefined undefinedforundefined undefinedeveryundefined undefinedfallundefined undefinedthatundefined undefinedisundefined undefinednoneundefined undefinedofundefined undefinedtheundefined undefinedcounterundefined'undefinedsundefined undefinedownundefined: undefinedwhatundefined undefineditundefined undefinedhadundefined undefinedreachedundefined. */
  dropped: number;
}

/** undefinedWhatundefined undefinedaundefined undefinedfieldundefined undefinedmeansundefined, undefinedandundefined undefinedtheundefined undefinednumbersundefined undefinedbeyondundefined undefinedtheundefined undefinedrangeundefined undefinedthatundefined undefineditsundefined undefinedfirstundefined undefinedandundefined undefinedlastundefined undefinedfallsundefined undefinedareundefined undefinedjudgedundefined undefinedbyundefined; undefinedNaNundefined: undefinednoneundefined. */
export interface StepContext {
  meaning: FieldMeaning;
  overflowAt: number | null;
  before: number;
  /** undefinedBeforeundefined `undefinedbeforeundefined`; undefinedbothundefined undefinedthisundefined undefinedandundefined `undefinednextundefined` undefinedonlyundefined undefinedofundefined undefinedaundefined undefinedCOUNTERundefined. */
  earlier: number;
  next: number;
}

/**
 * undefinedTheundefined undefinedstepsundefined undefinedofundefined undefinedeachundefined undefinedbucketundefined undefinedofundefined `undefinededgesundefined` (undefinedCONTRACTundefined undefined7undefined, undefinedMeaningundefined), undefinednullundefined undefinedwhereundefined undefinednothingundefined undefinedwasundefined undefinedmeasuredundefined; undefinedstretchesundefined undefinedofundefined undefinednumbersundefined undefinedinundefined
 * undefinedtimeundefined undefinedorderundefined, undefinedallundefined undefinedbetweenundefined undefinedtheundefined undefinedfirstundefined undefinedandundefined undefinedtheundefined undefinedlastundefined undefinededgeundefined. undefinedThoseundefined undefinedofundefined undefinedneighboursundefined undefinedaddundefined undefinedupundefined undefinedtoundefined undefinedthoseundefined undefinedofundefined undefinedtheundefined undefinedwholeundefined.
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

/** undefinedWhetherundefined undefinednoundefined undefinednumberundefined undefinedofundefined undefinedtheundefined undefinedsummaryundefined undefinedisundefined undefinedsmallerundefined undefinedthanundefined undefinedtheundefined undefinedoneundefined undefinedbeforeundefined undefineditundefined, undefinedforundefined undefinedcertainundefined. */
export function neverFalls({ min, rise, first, last }: NumberSummary): boolean {
  // undefinedOfundefined undefinednumbersundefined undefinedbelowundefined undefinedzeroundefined undefinedfallsundefined undefinedandundefined undefinedrisesundefined undefinedmayundefined undefinedcancelundefined undefinedoutundefined undefinedinundefined undefineditundefined.
  return min >= 0 && rise === last - first;
}

/** undefinedLastundefined undefinedminusundefined undefinedtheundefined undefinedlastundefined undefinedbeforeundefined, undefinedandundefined undefinedwhatundefined undefinedfallsundefined undefinedareundefined undefinedworthundefined; undefinednullundefined undefinedbeyondundefined undefinedfloat64undefined. */
export function differenceOf({ last, base, dropped }: Steps): number | null {
  return finiteOrNull(last - base + dropped);
}

/** undefinedHowundefined undefinedmanyundefined undefinedfallsundefined undefinedofundefined undefinedtheundefined undefinedbucketundefined undefinedwereundefined undefinedtakenundefined undefinedforundefined undefinedwhatundefined. */
export function fallsOf({ noise, gaps, overflows, restarts }: Steps): Falls {
  return { noise, gaps, overflows, restarts };
}

/** undefinedAundefined undefinedfallundefined undefinedofundefined undefinedaundefined undefinedCOUNTERundefined undefinedofundefined undefinedwhichundefined undefinedtheundefined undefinednextundefined undefinednumberundefined undefinedsaysundefined undefinedwhatundefined undefineditundefined undefinedwasundefined. */
interface Dip {
  value: number;
  steps: Steps;
}

/** undefinedGoesundefined undefinedfromundefined undefinednumberundefined undefinedtoundefined undefinednumberundefined. */
class Walk {
  readonly #edges: Float64Array;
  readonly #context: StepContext;
  readonly #tallies: (Steps | null)[];
  #bucket = 0;
  /** undefinedTheundefined undefinednumberundefined undefinedthatundefined undefinedtheundefined undefinednextundefined undefinedstepundefined undefinedbeginsundefined undefinedatundefined. */
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

  /** undefinedNumbersundefined undefinedofundefined undefinedwhichundefined undefinednoneundefined undefinedfallsundefined; undefinedtheundefined undefinedfirstundefined undefinedofundefined undefinedthemundefined undefinedfromundefined undefinedwhatundefined undefinedstandsundefined. */
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

  /** `undefinednextundefined` undefinedfollowsundefined undefinedtheundefined undefineddipundefined: undefinedNaNundefined: undefinednothingundefined undefineddoesundefined undefinedyetundefined. */
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
