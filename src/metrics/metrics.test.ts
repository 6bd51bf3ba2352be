import { Summary } from '@prometheus-io/client';
import { expect, test, vi } from 'vitest';

test('nothing is observed while nobody asks: it would catch up with a clock that is set', async () => {
  vi.useFakeTimers();
  const observed = vi.spyOn(Summary.prototype, 'observe');
  try {
    // Another test in this process may have begun what looks at it.
    vi.resetModules();
    const { Metrics } = await import('./metrics.ts');
    const metrics = new Metrics();
    vi.setSystemTime(0);
    await vi.advanceTimersByTimeAsync(10_000);
    vi.setSystemTime(Date.parse('2026-01-01'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(observed).not.toHaveBeenCalled();
    expect(await metrics.registry.metrics()).toContain('nodejs_eventloop_utilization_ratio');
  } finally {
    observed.mockRestore();
    vi.useRealTimers();
  }
});

test('servers in one process look at it once', async () => {
  vi.resetModules();
  const { Metrics } = await import('./metrics.ts');
  const of = (name: string): unknown[] =>
    [new Metrics(), new Metrics()].map(({ registry }) => registry.getSingleMetric(name));
  const [one, other] = of('nodejs_eventloop_lag_p99_seconds');
  expect(one).toBeDefined();
  expect(other).toBe(one);
  expect(new Set(of('inlet_values_stored_total')).size).toBe(2);
});
