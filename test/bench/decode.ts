import type { DecoderJob } from '../../src/domain/decoders/decoder-engine.ts';
import { DecoderPool } from '../../src/sandbox/decoder-pool.ts';

const SECONDS = 3;
const AT_ONCE = 32;

interface Scenario {
  name: string;
  source: string;
  call: (n: number) => { method: string; body: string; GET: Record<string, string[]> };
  /** What the decoder must return for call `n`. */
  expected: (n: number) => unknown;
}

const scenarios: Scenario[] = [
  {
    name: 'vendor JSON, three entries',
    source: `function Decoder(request) {
  var message = JSON.parse(request.body);
  var device = message.device.serial;
  var time = message.received_at;
  var readings = message.data;
  return [
    {device: device, field: 'TEMPERATURE', value: readings.temperature, timestamp: time},
    {device: device, field: 'HUMIDITY', value: readings.humidity, timestamp: time},
    {device: device, field: 'BATTERY', value: readings.battery_mv / 1000, timestamp: time},
  ];
}`,
    call: (n) => ({
      method: 'POST',
      body: JSON.stringify({
        id: `msg-${n}`,
        received_at: 1_700_000_000 + n,
        device: { serial: `SN${n % 100}`, model: 'TH-2', firmware: '1.4.2' },
        data: { temperature: 20 + (n % 10), humidity: 40.5, battery_mv: 3600, rssi: -71 },
      }),
      GET: {},
    }),
    expected: (n) => [
      { device: `SN${n % 100}`, field: 'TEMPERATURE', value: 20 + (n % 10), timestamp: 1_700_000_000 + n },
      { device: `SN${n % 100}`, field: 'HUMIDITY', value: 40.5, timestamp: 1_700_000_000 + n },
      { device: `SN${n % 100}`, field: 'BATTERY', value: 3.6, timestamp: 1_700_000_000 + n },
    ],
  },
  {
    name: 'hex payload in the query',
    source: `function hexToBytes(hex) {
  var bytes = [];
  for (var i = 0; i < hex.length; i += 2) bytes.push(parseInt(hex.substr(i, 2), 16));
  return bytes;
}
function Decoder(request) {
  var bytes = hexToBytes(request.GET.data[0]);
  var temperature = (((bytes[1] << 8) | bytes[2]) << 16) >> 16;
  return [
    {device: request.GET.id[0], field: 'TEMPERATURE', value: temperature / 100},
    {device: request.GET.id[0], field: 'HUMIDITY', value: bytes[3] / 2},
    {device: request.GET.id[0], field: 'BATTERY', value: ((bytes[4] << 8) | bytes[5]) / 1000},
  ];
}`,
    call: (n) => ({
      method: 'GET',
      body: '',
      GET: { id: [`D${n % 50}`], data: [`01${(0xff00 + (n % 200)).toString(16).padStart(4, '0')}500e10`] },
    }),
    expected: (n) => [
      { device: `D${n % 50}`, field: 'TEMPERATURE', value: (-256 + (n % 200)) / 100 },
      { device: `D${n % 50}`, field: 'HUMIDITY', value: 40 },
      { device: `D${n % 50}`, field: 'BATTERY', value: 3.6 },
    ],
  },
  {
    name: 'top-level state, fresh in each call',
    source: `var FIELDS = {t: 'TEMPERATURE', h: 'HUMIDITY', b: 'BATTERY'};
var seen = 0;
var out = [];
function add(device, key, value) { seen++; out.push({device: device, field: FIELDS[key], value: value}); }
function Decoder(request) {
  var body = JSON.parse(request.body);
  for (var key in body.values) add(body.sn, key, body.values[key]);
  out.push({device: body.sn, field: 'COUNT', value: seen});
  return out;
}`,
    call: (n) => ({
      method: 'POST',
      body: JSON.stringify({ sn: `S${n % 10}`, values: { t: n % 30, h: 50 } }),
      GET: {},
    }),
    expected: (n) => [
      { device: `S${n % 10}`, field: 'TEMPERATURE', value: n % 30 },
      { device: `S${n % 10}`, field: 'HUMIDITY', value: 50 },
      { device: `S${n % 10}`, field: 'COUNT', value: 2 },
    ],
  },
  {
    name: 'a real script, in a new context for each call',
    source: `var self = this;
self.Decoder = function (request) {
  return [{device: 'd', field: 'LENGTH', value: request.body.length}];
};`,
    call: (n) => ({ method: 'POST', body: 'x'.repeat(n % 100), GET: {} }),
    expected: (n) => [{ device: 'd', field: 'LENGTH', value: n % 100 }],
  },
];

const inputOf = (call: object): string =>
  JSON.stringify({
    path: '/integrations/api/0123456789abcdef/',
    headers: [
      ['host', 'inlet.example'],
      ['content-type', 'application/json'],
      ['user-agent', 'vendor-cloud/2.1'],
      ['accept', '*/*'],
      ['content-length', '180'],
      ['x-request-id', '5f1c7a'],
    ],
    POST: {},
    ...call,
  });

function check(scenario: Scenario, n: number, output: string): void {
  const expected = JSON.stringify(scenario.expected(n));
  if (output !== expected) throw new Error(`${scenario.name}: call ${n} gave ${output}, not ${expected}`);
}

/** The same function without a sandbox: the input parsed, the function called, the output written. */
function plainRuns(scenario: Scenario): number {
  const decoder = new Function(`${scenario.source}\n;return this.Decoder || Decoder;`).call({}) as (
    r: unknown,
  ) => unknown;
  const fresh = new Function(`${scenario.source}\n;return this.Decoder || Decoder;`);
  const inputs = Array.from({ length: 256 }, (_, n) => inputOf(scenario.call(n)));
  const keepsState = scenario.name.startsWith('top-level');
  const end = performance.now() + 1_000;
  const started = performance.now();
  let runs = 0;
  for (; performance.now() < end; runs += 1) {
    const n = runs % inputs.length;
    const decode = keepsState ? (fresh.call({}) as typeof decoder) : decoder;
    check(scenario, n, JSON.stringify(decode(JSON.parse(inputs[n]!))));
  }
  return runs / ((performance.now() - started) / 1000);
}

async function pooledRuns(pool: DecoderPool, scenario: Scenario, seconds: number): Promise<number> {
  const inputs = Array.from({ length: 256 }, (_, n) => inputOf(scenario.call(n)));
  const started = performance.now();
  const end = started + seconds * 1000;
  let runs = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      const n = runs % inputs.length;
      runs += 1;
      const job: DecoderJob = {
        workspaceId: 'workspace',
        productId: scenario.name,
        source: scenario.source,
        entryPoint: 'webhook',
        input: inputs[n]!,
        serials: { version: '1', load: async () => [Buffer.from('{}')] },
        lookUp: async function* () {},
        senderId: null,
      };
      const { output, error } = await pool.run(job);
      if (error !== null) throw new Error(`${scenario.name}: ${error.kind}: ${error.message}`);
      check(scenario, n, output!);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return runs / ((performance.now() - started) / 1000);
}

/** Runs/s of one decoder process with the trip between the processes, beside the plain function; one JSON line each. */
export async function run(): Promise<void> {
  const pool = new DecoderPool({ processes: 1, timeoutMs: 250, memoryMb: 64 });
  try {
    for (const scenario of scenarios) {
      await pooledRuns(pool, scenario, 0.5);
      const runsPerSecond = Math.round(await pooledRuns(pool, scenario, SECONDS));
      const plainPerSecond = Math.round(plainRuns(scenario));
      const ratio = Number((runsPerSecond / plainPerSecond).toFixed(3));
      console.log(JSON.stringify({ bench: 'decode', scenario: scenario.name, runsPerSecond, plainPerSecond, ratio }));
    }
  } finally {
    await pool.stop();
  }
}
