import type { ExecutionResult } from 'graphql';
import { lruCache } from '../../scheduling/lru-cache.ts';
import { numbering } from '../../domain/sql/numbering.ts';
import type { Promised } from '../context/promised.ts';
import { WorkBudget } from '../context/work-budget.ts';

/** The answer of a subscription to an event. */
export interface EventAnswer {
  /** null: the event has nothing for it. */
  result: ExecutionResult | null;
  /** The result as JSON, unless it has errors: those name the request that they are for. */
  text: string | Buffer | null;
  /** The data of one with errors as JSON, where it is long. */
  written?: Buffer | null;
}

/** Maximum characters of kept answers: equal readers come at about the same time. */
const MAX_KEPT = 2 * 1_048_576;
/** Cost of keeping an answer beside its text. */
const ENTRY = 200;

interface Making {
  /** Budgets of the subscriptions that wait for it. */
  asked: WorkBudget[];
  budget: WorkBudget;
  answer: Promise<EventAnswer>;
}

/** Answers to events, made once for all equal subscriptions and kept for a moment. */
export class EventResponseCache {
  readonly #making = new Map<string, Making>();
  readonly #made = lruCache<string, EventAnswer>(MAX_KEPT, ({ text }) => ENTRY + (text?.length ?? 0));
  /** Numbers objects, for as long as they live. */
  readonly numberOf = numbering();

  /**
   * The answer of the subscription to the event; calls `make` when no equal one has asked before, with a budget that
   * ends with the last of those that have.
   */
  of(
    event: object,
    subscription: string,
    budget: WorkBudget,
    make: (budget: WorkBudget) => Promise<EventAnswer>,
  ): Promised<EventAnswer> {
    const key = `${this.numberOf(event)} ${subscription}`;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    let making = this.#making.get(key);
    if (making === undefined || making.budget.isEnded) {
      const asked = [budget];
      const shared = new WorkBudget(asked);
      making = { asked, budget: shared, answer: this.#make(key, shared, make) };
      this.#making.set(key, making);
    } else making.asked.push(budget);
    return making.answer;
  }

  async #make(
    key: string,
    budget: WorkBudget,
    make: (budget: WorkBudget) => Promise<EventAnswer>,
  ): Promise<EventAnswer> {
    try {
      const answer = await make(budget);
      // An answer with errors may be of a client that has gone meanwhile.
      if (answer.text !== null || answer.result === null) this.#made.set(key, answer);
      return answer;
    } finally {
      if (this.#making.get(key)?.budget === budget) this.#making.delete(key);
    }
  }
}
