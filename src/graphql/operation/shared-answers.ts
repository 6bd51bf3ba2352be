import type { ExecutionResult } from 'graphql';
import { LruMap } from '../../domain/lru-map.ts';
import { SharedLoads } from '../../domain/shared-loads.ts';
import type { Promised } from '../context/promised.ts';

/** What a subscription answers to an event. */
export interface EventAnswer {
  /** null: the event has nothing for it. */
  result: ExecutionResult | null;
  /** The result as JSON, unless it has errors: those say to whom they were told. */
  text: string | null;
}

/** Of answers that are kept, in characters: readers of the same come at about the same time. */
const MAX_KEPT = 2 * 1_048_576;
/** What keeping one costs beside its text. */
const ENTRY = 200;

/** Answers to events, made once for all equal subscriptions and kept for a moment. */
export class SharedAnswers {
  readonly #making = new SharedLoads<EventAnswer>();
  readonly #made = new LruMap<string, EventAnswer>({
    most: MAX_KEPT,
    sizeOf: ({ text }) => ENTRY + (text?.length ?? 0),
  });
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  /** The answer of the subscription to the event; `make` is called when nobody equal has asked before. */
  of(event: object, subscription: string, make: () => Promise<EventAnswer>): Promised<EventAnswer> {
    const key = `${this.numberOf(event)} ${subscription}`;
    return (
      this.#made.get(key) ??
      this.#making.of(key, async () => {
        const answer = await make();
        this.#made.set(key, answer);
        return answer;
      })
    );
  }

  /** What tells an object from all others, for as long as it lives. */
  numberOf(object: object): number {
    const known = this.#numbers.get(object);
    if (known !== undefined) return known;
    this.#numbers.set(object, (this.#last += 1));
    return this.#last;
  }
}
