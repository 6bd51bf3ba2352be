import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';
import { generateLoad, type NextRequest, postRequest } from './generator.ts';

const DEVICES = 1_000;
const FIELDS = 10;
const RULES = 10;
const CONNECTIONS = 50;
const HEADERS = ['Content-Type: application/json', `Authorization: Token ${ADMIN_TOKEN}`];

/**
 * `npm run bench -- rules [seconds] [sqlite|postgres|both] [turns]`: recording at full load without rules and with ten on
 * the product, in turns, and how far behind the rules are at the end of each turn.
 */
export async function run(args: string[]): Promise<void> {
  const [seconds, only, turns] = [Number(args[0] ?? 4), args[1] === 'both' ? undefined : args[1], Number(args[2] ?? 4)];
  await eachDatabase(only, async ({ database, newUrl }) => {
    const server = await ServerProcess.start({ DATABASE_URL: await newUrl(), WRITE_RATE_PER_FIELD: '0' });
    const { deviceIds, ruleIds } = await prepare(server);
    const enable = async (enabled: boolean): Promise<void> => {
      for (const [at, id] of ruleIds.entries())
        await server.gql('mutation ($id: ID!, $i: RuleInput!) { updateRule(id: $id, input: $i) { id } }', {
          id,
          i: { name: `rule ${at}`, levels: levels(at), enabled },
        });
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    };
    const load = async (): Promise<number> =>
      (await generateLoad({ port: server.port, connections: CONNECTIONS, next: requests(deviceIds), seconds }))
        .requestsPerSecond;
    await load();
    const [without, withRules]: number[][] = [[], []];
    const behind: number[] = [];
    for (let turn = 0; turn < turns; turn += 1)
      for (const isOn of turn % 2 === 0 ? [false, true] : [true, false]) {
        await enable(isOn);
        // Saved rules judge all devices by what is stored; that is not what is measured here.
        if (isOn) await caughtUp(server, deviceIds[500 + turn]!);
        (isOn ? withRules! : without!).push(await load());
        if (isOn) behind.push(await caughtUp(server, deviceIds[turn]!));
      }
    const sum = (list: number[]): number => list.reduce((one, other) => one + other, 0);
    const ratio = Math.round((sum(withRules!) / sum(without!)) * 1_000) / 1_000;
    console.log(
      JSON.stringify({ bench: 'rules', database, rules: RULES, without, with: withRules, ratio, behindMs: behind }),
    );
    await server.stop();
  });
}

/** Milliseconds until a value that is recorded now has fired. */
async function caughtUp(server: ServerProcess, deviceId: string): Promise<number> {
  const began = performance.now();
  clock += 1_000;
  await fetch(`http://127.0.0.1:${server.port}/v1/devices/${deviceId}/record/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Token ${ADMIN_TOKEN}` },
    body: JSON.stringify({ field: 'field_0', value: 2_000, timestamp: clock / 1_000 }),
  });
  for (;;) {
    const { alerts } = await server.gql<{ alerts: { totalCount: number } }>(
      'query ($d: ID) { alerts(deviceId: $d, state: [FIRING]) { totalCount } }',
      { d: deviceId },
    );
    if (alerts.totalCount > 0) return Math.round(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function levels(at: number): unknown {
  return [{ severity: 'WARNING', all: [{ field: `field_${at}`, operator: 'GT', value: 1_000, clear: 990 }] }];
}

async function prepare(server: ServerProcess): Promise<{ deviceIds: string[]; ruleIds: string[] }> {
  const fields = Array.from({ length: FIELDS }, (_, at) => ({ identifier: `field_${at}`, type: 'FLOAT' }));
  const { createProduct: product } = await server.gql<{ createProduct: { id: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }',
    { input: { name: 'bench', fields } },
  );
  const devices = Array.from({ length: DEVICES }, (_, at) => ({ name: `device ${at}` }));
  const { createDevices: created } = await server.gql<{ createDevices: { id: string }[] }>(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    { id: product.id, devices },
  );
  const ruleIds: string[] = [];
  for (let at = 0; at < RULES; at += 1) {
    const { createRule: rule } = await server.gql<{ createRule: { id: string } }>(
      'mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) { id } }',
      { p: product.id, i: { name: `rule ${at}`, enabled: false, levels: levels(at) } },
    );
    ruleIds.push(rule.id);
  }
  return { deviceIds: created.map(({ id }) => id), ruleIds };
}

let clock = 1_600_000_000_000;

/** Each request has a value of every field, at the next millisecond. */
function requests(deviceIds: readonly string[]): NextRequest {
  return (connection, sequence) => {
    clock += 1;
    const timestamp = clock / 1_000;
    const entries = Array.from({ length: FIELDS }, (_, at) => ({ field: `field_${at}`, value: 20 + at, timestamp }));
    const id = deviceIds[(sequence * CONNECTIONS + connection) % deviceIds.length]!;
    return postRequest(`/v1/devices/${id}/record/`, HEADERS, JSON.stringify(entries));
  };
}
