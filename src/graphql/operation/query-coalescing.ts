import type { ExecutionResult } from 'graphql';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { WorkBudget } from '../context/work-budget.ts';

/** The result of an operation, and about how long it is as JSON; `written`: its data as an answer, where that is long. */
export interface Executed {
  result: ExecutionResult;
  bytes: number;
  written: Buffer | null;
}

/** Runs the query within the budget, once for all who share it. */
type Run = (budget: WorkBudget) => Promise<Executed>;

interface Round {
  /** Of those who share it; who comes once it has begun cannot. */
  budgets: WorkBudget[];
  done: Promise<Executed>;
  /** The turns of the event loop in which they are answered, few in each. */
  turns: Promise<void>[];
}

/** Who comes while one is being answered waits so long at most before its own begins beside it. */
const WAIT_MS = 100;
const MOST_IN_ROUND = 200;
/** Answering one takes up to half a millisecond, and reading what its connection asks next as long. */
const AT_ONCE = 10;
/** A longer answer goes to one only: it would lie in memory once for each. */
const MOST_SHARED_BYTES = 1_048_576;

/**
 * Equal queries of one token that wait for their turn are answered by one execution: a wall of dashboards, or all pages
 * that come back after a restart, cost little more than one of them. What a query is answered was read after it came.
 */
export class QueryCoalescing {
  /** The execution that was begun last. */
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<string, Round>();

  /** The answer to the query named `key`, and whether somebody else's execution brought it. */
  async of(key: string, budget: WorkBudget, run: Run): Promise<Executed & { isShared: boolean }> {
    const running = this.#running.get(key);
    if (running === undefined) return { ...(await this.#begin(key, [budget], run)), isShared: false };
    const round = this.#waiting.get(key);
    if (round === undefined) return { ...(await this.#next(key, running, budget, run)), isShared: false };
    if (round.budgets.length >= MOST_IN_ROUND) return { ...(await run(budget)), isShared: false };
    round.budgets.push(budget);
    const place = round.budgets.length;
    const executed = await round.done;
    if (executed.bytes > MOST_SHARED_BYTES) return { ...(await run(budget)), isShared: false };
    // Whoever is answered asks again, all of them together.
    await (round.turns[Math.floor(place / AT_ONCE)] ??= yieldToEventLoop());
    return { ...executed, isShared: true };
  }

  /** Begins when the one that is running is done, or takes long. */
  #next(key: string, running: Promise<unknown>, budget: WorkBudget, run: Run): Promise<Executed> {
    const budgets = [budget];
    let timer: NodeJS.Timeout | undefined;
    const long = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAIT_MS)));
    const done = Promise.race([running.catch(() => {}), long]).then(() => {
      clearTimeout(timer);
      this.#waiting.delete(key);
      return this.#begin(key, budgets, run);
    });
    this.#waiting.set(key, { budgets, done, turns: [] });
    return done;
  }

  #begin(key: string, budgets: WorkBudget[], run: Run): Promise<Executed> {
    const executing = run(new WorkBudget(budgets));
    this.#running.set(key, executing);
    return executing.finally(() => {
      if (this.#running.get(key) === executing) this.#running.delete(key);
    });
  }
}
