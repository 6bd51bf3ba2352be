import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client';
import { performance } from 'node:perf_hooks';
import { must } from '../must.ts';
import { programVersion } from '../program-file.ts';

const SIZES = [1, 10, 100, 1_000, 10_000, 100_000];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

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
/**
 * Time between its looks at the utilization of the event loop, the longest that a timer takes: it builds a window for each
 * twelve seconds that the clock went forth, and a machine that learns the time has decades of them.
 */
const LOOK_EVERY_MS = 2 ** 31 - 1;

/** Metrics of this node, as Prometheus reads it; names begin with `inlet_`, times are in seconds. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new RequestDurations(this.registry);
  readonly #commits = {
    seconds: new Histogram({
      name: 'inlet_flush_duration_seconds',
      help: 'How long one transaction of the measurement store takes.',
      buckets: SECONDS,
      registers: [this.registry],
    }),
    values: new Histogram({
      name: 'inlet_flush_values',
      help: 'Values that share one transaction.',
      buckets: SIZES,
      registers: [this.registry],
    }),
    failures: this.#counter('inlet_commit_failures_total', 'Receipts that could not be stored.'),
    stored: this.#counter('inlet_values_stored_total', 'Values stored.'),
  };
  readonly #rejected = this.#counter(
    'inlet_values_rejected_total',
    'Entries refused by the record endpoint, or by topics of MQTT.',
    ['code'],
  );
  readonly #mqttMessages = this.#counter(
    'inlet_mqtt_messages_total',
    'Messages of MQTT that were acknowledged, from clients or a broker, by the code of what was refused.',
    ['from', 'code'],
  );
  readonly #forgotten = this.#counter(
    'inlet_values_beyond_retention_total',
    'Values deleted because they were older than the plan of their device keeps them.',
  );
  readonly #deliveries = this.#counter(
    'inlet_deliveries_total',
    'Tries of deliveries, by outcome: delivered, failed (to be tried again), dead (failed for the last time).',
    ['outcome'],
  );
  readonly #switchedOff = this.#counter(
    'inlet_endpoints_switched_off_total',
    'Endpoints switched off: they answered 410, or failed for five days.',
  );
  readonly #runs = new Histogram({
    name: 'inlet_decoder_run_duration_seconds',
    help: 'Time of decoder runs, by outcome: ok, or how they failed.',
    labelNames: ['outcome'],
    buckets: SECONDS,
    registers: [this.registry],
  });

  constructor() {
    addDefaultMetrics(this.registry);
    // Told from the start, so that the first one is a rise.
    for (const outcome of ['delivered', 'failed', 'dead']) this.#deliveries.labels(outcome).inc(0);
  }

  request(route: string, status: number, seconds: number): void {
    this.#requests.observe(route, status, seconds);
  }

  /** Counts a durable transaction of the measurement store. */
  flushed(values: number, seconds: number): void {
    this.#commits.stored.inc(values);
    this.#commits.values.observe(values);
    this.#commits.seconds.observe(seconds);
  }

  commitFailed(receipts: number): void {
    this.#commits.failures.inc(receipts);
  }

  rejected(code: string): void {
    this.#rejected.labels(code).inc();
  }

  /** Counts an acknowledged message; `code` null: everything was stored or kept. */
  mqttMessage(from: 'client' | 'broker', code: string | null): void {
    this.#mqttMessages.labels(from, code ?? 'none').inc();
  }

  forgotten(values: number): void {
    this.#forgotten.inc(values);
  }

  /** Counts a try of a delivery. */
  deliveryTried(outcome: string): void {
    this.#deliveries.labels(outcome).inc();
  }

  /** Counts an endpoint that the server has switched off. */
  endpointSwitchedOff(): void {
    this.#switchedOff.inc();
  }

  decoderRun(outcome: string, seconds: number): void {
    this.#runs.labels(outcome).observe(seconds);
  }

  /** Adds a number that is read when Prometheus asks. */
  gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.registry], collect: () => gauge.set(read()) });
  }

  /** Adds several numbers, told apart by `label`; those no longer read are no longer reported. */
  gauges(name: string, help: string, label: string, read: () => Record<string, number>): void {
    const collect = (): void => {
      gauge.reset();
      for (const [value, number] of Object.entries(read())) gauge.labels(value).set(number);
    };
    const gauge: Gauge = new Gauge({ name, help, labelNames: [label], registers: [this.registry], collect });
  }

  /** Adds several sums, told apart by `label`, which are counted elsewhere. */
  counters(name: string, help: string, label: string, read: () => Record<string, number>): void {
    const collect = (): void => {
      counter.reset();
      for (const [value, sum] of Object.entries(read())) counter.labels(value).inc(sum);
    };
    const counter: Counter = new Counter({ name, help, labelNames: [label], registers: [this.registry], collect });
  }

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}

/** Durations of requests. Looking a child up by its labels costs more than counting, so those are kept. */
class RequestDurations {
  readonly #all: Histogram;
  /** Few entries, as routes and statuses are all our own. */
  readonly #byRoute = new Map<string, Map<number, { observe: (seconds: number) => void }>>();

  constructor(registry: Registry) {
    this.#all = new Histogram({
      name: 'inlet_http_request_duration_seconds',
      help: 'From the head of a request to the end of its answer, by route and status.',
      labelNames: ['route', 'status'],
      buckets: SECONDS,
      registers: [registry],
    });
  }

  observe(route: string, status: number, seconds: number): void {
    let byStatus = this.#byRoute.get(route);
    if (byStatus === undefined) this.#byRoute.set(route, (byStatus = new Map()));
    let requests = byStatus.get(status);
    if (requests === undefined) byStatus.set(status, (requests = this.#all.labels(route, String(status))));
    requests.observe(seconds);
  }
}

/** The metrics that every Node.js process reports: what looks at it does not end, and one look serves all servers in it. */
let ofProcess: Registry | null = null;

/** Adds what is running, and the metrics that every Node.js process reports, by names that Prometheus allows. */
function addDefaultMetrics(registry: Registry): void {
  const build = { name: 'inlet_build_info', help: '1, with the versions of Inlet and of the Node that it runs on.' };
  new Gauge({ ...build, labelNames: ['version', 'node'], registers: [registry] })
    .labels(programVersion(), process.versions.node)
    .set(1);
  if (ofProcess === null) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess, eventLoopUtilizationTimeout: LOOK_EVERY_MS });
    for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  }
  for (const { name } of ofProcess.getMetricsAsArray()) registry.registerMetric(must(ofProcess.getSingleMetric(name)));
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
