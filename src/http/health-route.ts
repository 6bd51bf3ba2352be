import type { Handler } from './http-app.ts';

/** `/healthz`: the process is alive (CONTRACT 2). */
export const healthRoute: Handler = (context) => {
  context.body = { status: 'ok' };
};

/** `/readyz`: 200 when every check passes, else 503 naming those that do not. */
export function readyRoute(checks: Record<string, () => boolean | Promise<boolean>>): Handler {
  return async (context) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const passed = await Promise.resolve()
          .then(check)
          .catch(() => false);
        return [name, passed ? 'ok' : 'failed'] as const;
      }),
    );
    const ready = results.every(([, result]) => result === 'ok');
    context.status = ready ? 200 : 503;
    if (!ready) context.set('Retry-After', '1');
    context.body = { status: ready ? 'ready' : 'not ready', ...Object.fromEntries(results) };
  };
}
