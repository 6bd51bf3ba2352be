import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from '@prometheus-io/client';

/**
 * Default metrics of the client that `promtool check metrics` refuses: gauges called `_total` (sums of those without
 * it), and names that say their type.
 */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_summary',
  'nodejs_eventloop_utilization_histogram',
];

/** Adds the metrics that every Node.js process reports, by names that Prometheus allows. */
export function addDefaultMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  let last = performance.eventLoopUtilization();
  const gauge: Gauge = new Gauge({
    name: 'nodejs_eventloop_utilization_ratio',
    help: 'Part of the time since it was last read in which the event loop was not idle, from 0 to 1.',
    registers: [registry],
    collect: () => {
      const now = performance.eventLoopUtilization();
      gauge.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}
