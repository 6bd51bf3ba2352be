import { AppError } from '../errors.ts';

const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 2_000;
const GIVE_UP_AFTER_MS = 60_000;

/** Repeats background work while it is refused as OVERLOADED, with growing delays. */
export async function retryWhileOverloaded<T>(work: () => Promise<T>): Promise<T> {
  let waited = 0;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'OVERLOADED' || waited >= GIVE_UP_AFTER_MS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    waited += wait;
  }
}
