import { vi } from 'vitest';

/** Resolves when the check passes; rejects with what it threw last once it never does. `vi.waitFor` alone gives it a second. */
export const eventually = <Result>(check: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });
