import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';

const PRODUCTS = 200;
const FIELDS = 20;
const ROUNDS = 3;
const DECODER = 'function Decoder(request) {\n  return JSON.parse(request.body);\n}\n';

/**
 * `npm run bench -- configuration [sqlite|postgres]`: 200 products with 20 fields and a decoder each, planned, applied,
 * changed in every field, applied again, and exported; milliseconds, the median of several.
 */
export async function run(args: string[]): Promise<void> {
  await eachDatabase(args[0], async ({ database, newUrl }) => {
    const server = await ServerProcess.start({ DATABASE_URL: await newUrl(), WRITE_RATE_PER_FIELD: '0' });
    try {
      const all: Record<string, number[]> = {};
      for (let round = 0; round < ROUNDS; round += 1) await once(server.url, round, all);
      for (const [scenario, times] of Object.entries(all))
        console.log(JSON.stringify({ database, scenario, ms: Math.round(times.toSorted((a, b) => a - b)[1]!) }));
    } finally {
      await server.stop();
    }
  });
}

async function once(url: string, round: number, all: Record<string, number[]>): Promise<void> {
  const { createWorkspace } = await ask(url, `mutation { createWorkspace(name: "w${round}") { id } }`, {});
  const id = createWorkspace.id as string;
  const timed = async (scenario: string, work: () => Promise<void>): Promise<void> => {
    const from = performance.now();
    await work();
    (all[scenario] ??= []).push(performance.now() - from);
  };
  let hash = '';
  const planned = async (document: string, changes: number): Promise<void> => {
    const query =
      'mutation ($id: ID, $d: String!) { planConfiguration(workspaceId: $id, document: $d) { hash pending { path } blocked { path message } } }';
    const { planConfiguration: plan } = await ask(url, query, { id, d: document });
    if (plan.pending.length !== changes || plan.blocked.length > 0) throw new Error(JSON.stringify(plan).slice(0, 500));
    hash = plan.hash;
  };
  const applied = async (document: string): Promise<void> => {
    const query =
      'mutation ($id: ID, $d: String!, $h: String!) { applyConfiguration(workspaceId: $id, document: $d, hash: $h) { hash } }';
    await ask(url, query, { id, d: document, h: hash });
  };
  const [made, changed] = ['°C', 'K'].map((unit) => documentOf(unit)) as [string, string];
  await timed('plan, new', () => planned(made, PRODUCTS));
  await timed('apply, new', () => applied(made));
  await timed('plan, nothing', () => planned(made, 0));
  await timed('plan, every field', () => planned(changed, PRODUCTS * FIELDS));
  await timed('apply, every field', () => applied(changed));
  let yaml = '';
  await timed('export, YAML', async () => {
    yaml = (await ask(url, 'query ($id: ID) { exportConfiguration(workspaceId: $id) }', { id }))['exportConfiguration'];
  });
  await timed('plan, nothing, YAML', () => planned(yaml, 0));
}

function documentOf(unit: string): string {
  return JSON.stringify({
    products: Array.from({ length: PRODUCTS }, (_, at) => ({
      key: `product-${at}`,
      name: `Product ${at}`,
      fields: Array.from({ length: FIELDS }, (__, field) => ({ identifier: `FIELD_${field}`, type: 'FLOAT', unit })),
      decoder: { source: `${DECODER}// ${at}` },
    })),
  });
}

async function ask(url: string, query: string, variables: object): Promise<Record<string, any>> {
  const headers = { 'Content-Type': 'application/json', Authorization: `Token ${ADMIN_TOKEN}` };
  const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = (await answer.json()) as { data: Record<string, any>; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}
