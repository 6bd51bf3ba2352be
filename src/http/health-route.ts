import type { Handler } from './routes.ts';

/** `/healthz`: the process is alive (CONTRACT 2). */
export const healthRoute: Handler = (context) => {
  context.body = { status: 'ok' };
};

/** Result of a check: `degraded` serves, with less than usual. */
type CheckResult = 'ok' | 'degraded' | 'failed';
/** Looks once; a check that rejects or takes too long has failed. */
type Check = () => CheckResult | Promise<CheckResult>;

const CHECK_MS = 5_000;
/** Milliseconds in which probes share one result. */
const FRESH_MS = 500;

/**
 * `/readyz` (CONTRACT 2): 200 `ready`, or `degraded` when something is missing without which it can serve; 503 when a
 * check failed. The body names what each check found.
 */
export function readyRoute(checks: Record<string, Check>): Handler {
  let latest: Promise<Record<string, CheckResult>> | null = null;
  let until = 0;
  const look = (): Promise<Record<string, CheckResult>> => {
    if (latest !== null && performance.now() < until) return latest;
    until = Infinity;
    latest = lookAll(checks);
    void latest.then(() => (until = performance.now() + FRESH_MS));
    return latest;
  };
  return async (context) => {
    const found = await look();
    const results = Object.values(found);
    const failed = results.includes('failed');
    context.status = failed ? 503 : 200;
    if (failed) context.set('Retry-After', '1');
    const status = failed ? 'not ready' : results.includes('degraded') ? 'degraded' : 'ready';
    context.body = { status, ...found };
  };
}

async function lookAll(checks: Record<string, Check>): Promise<Record<string, CheckResult>> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      let timer: NodeJS.Timeout | undefined;
      const tooLate = new Promise<CheckResult>((resolve) => {
        timer = setTimeout(() => resolve('failed'), CHECK_MS);
      });
      const looked = Promise.resolve().then(check);
      const result = await Promise.race([looked.catch((): CheckResult => 'failed'), tooLate]);
      clearTimeout(timer);
      return [name, result] as const;
    }),
  );
  return Object.fromEntries(found);
}
