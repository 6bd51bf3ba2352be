import type { ExecutionResult } from 'graphql';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { WorkBudget } from '../context/work-budget.ts';

/** The result of an operation, and its estimated bytes as JSON; `written`: its data as an answer, if long. */
export interface Executed {
  result: ExecutionResult;
  bytes: number;
  written: Buffer | null;
}

/** Runs the query within the budget, once for all that share it. */
type Run = (budget: WorkBudget) => Promise<Executed>;

interface Round {
  /** Budgets of the queries that share it; a query that comes once it has begun cannot. */
  budgets: WorkBudget[];
  done: Promise<Executed>;
  /** The turns of the event loop in which they are answered, few in each. */
  turns: Promise<void>[];
}

/** Maximum wait of a query while an equal one is being answered; then its own begins beside it. */
const WAIT_MS = 100;
const MOST_IN_ROUND = 200;
/** Maximum queries answered per turn of the event loop: the connection of each is read again. */
const AT_ONCE = 10;
/** Maximum bytes of a shared answer: it lies in memory once for each query. */
const MOST_SHARED_BYTES = 1_048_576;

/**
 * Answers equal queries of one token that wait for their turn by one execution: a wall of dashboards, or all pages that
 * come back after a restart, cost little more than one of them. An answer is always read after its query came.
 */
export class QueryCoalescing {
  /** The latest execution. */
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<string, Round>();

  /** The answer to the query named `key`, and whether another query's execution brought it. */
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
    // Answered clients ask again, all of them together.
    await (round.turns[Math.floor(place / AT_ONCE)] ??= yieldToEventLoop());
    return { ...executed, isShared: true };
  }

  /** Begins when the running one is done, or takes long. */
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
