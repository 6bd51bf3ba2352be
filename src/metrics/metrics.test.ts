import { Summary } from '@prometheus-io/client';
import { expect, test, vi } from 'vitest';
import { Metrics } from './metrics.ts';

test('nothing is observed while nobody asks: it would catch up with a clock that is set', async () => {
  vi.useFakeTimers();
  const observed = vi.spyOn(Summary.prototype, 'observe');
  try {
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
