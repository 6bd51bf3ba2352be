import { appendFileSync, existsSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { CommandInput } from './command.ts';
import { ConfigFolder } from './config-folder.ts';
import { type Change, type Plan, tellPlan } from './config-output.ts';
import { Refused, Remote, REMOTE_OPTIONS } from './remote.ts';
import { must } from '../must.ts';

const OPTIONS = {
  ...REMOTE_OPTIONS,
  token: { type: 'string' },
  workspace: { type: 'string' },
  set: { type: 'string' },
  prune: { type: 'boolean' },
  'delete-data': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
  devices: { type: 'boolean' },
  secrets: { type: 'string' },
} as const;

type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** Exit codes beside 0 and 1. */
const PENDING = 2;
const DRIFT = 3;

const CHANGES = '{ action path before after measurements }';
const PLAN = `hash pending ${CHANGES} drift ${CHANGES} blocked { path message }`;
const TYPES = '$workspaceId: ID, $document: String!, $set: String, $prune: Boolean, $deleteData: Boolean';
const GIVEN = 'workspaceId: $workspaceId, document: $document, set: $set, prune: $prune, deleteData: $deleteData';

/**
 * `inlet config export|plan|apply FOLDER`: configuration as files, of a running server. Returns the exit code: 0 nothing
 * to do, or done; 2 pending; 3 drift.
 */
export async function config({ args, env }: CommandInput): Promise<number> {
  const { values: options, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [action, path, ...more] = positionals;
  if (path === undefined || more.length > 0 || !['export', 'plan', 'apply'].includes(must(action)))
    throw new Error('expected export, plan or apply, and one FOLDER');
  const remote = new Remote(options, env);
  const folder = new ConfigFolder(path);
  if (action === 'export') return write(remote, folder, path, options);
  if (!existsSync(path) || !statSync(path).isDirectory()) throw new Error(`there is no folder ${path}`);
  const input = {
    workspaceId: options.workspace,
    document: JSON.stringify(folder.read()),
    set: options.set,
    prune: options.prune,
    deleteData: options['delete-data'],
  };
  const plan = await ask(remote, 'planConfiguration', input);
  if (plan.blocked.length > 0) {
    tellPlan(plan, folder.files, options.json === true);
    throw new Error(
      `${plan.blocked.length === 1 ? 'one thing is' : `${plan.blocked.length} things are`} blocked; nothing was applied`,
    );
  }
  if (action === 'plan' || options['dry-run'] === true) {
    tellPlan(plan, folder.files, options.json === true);
    return plan.drift.length > 0 ? DRIFT : plan.pending.length > 0 ? PENDING : 0;
  }
  const applied = await apply(remote, input, plan);
  tellPlan(applied, folder.files, options.json === true);
  if (options.secrets !== undefined) await keepSecrets(remote, applied.pending, options.secrets, options.workspace);
  return 0;
}

type Input = Record<string, unknown>;

/** Applies the plan. A try that was cut off may have done it already: then there is nothing left to do. */
async function apply(remote: Remote, input: Input, plan: Plan): Promise<Plan> {
  try {
    return await ask(remote, 'applyConfiguration', { ...input, hash: plan.hash });
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'PLAN_OUTDATED') throw error;
    const { pending, drift } = await ask(remote, 'planConfiguration', input);
    if (pending.length > 0 || drift.length > 0) throw error;
    return plan;
  }
}

async function ask(remote: Remote, mutation: string, input: Input): Promise<Plan> {
  const [types, given] = 'hash' in input ? [`${TYPES}, $hash: String!`, `${GIVEN}, hash: $hash`] : [TYPES, GIVEN];
  const data = await remote.graphql<Record<string, Plan>>(
    `mutation (${types}) { ${mutation}(${given}) { ${PLAN} } }`,
    input,
  );
  return must(data[mutation]);
}

async function write(remote: Remote, folder: ConfigFolder, path: string, options: Options): Promise<number> {
  const { exportConfiguration } = await remote.graphql<{ exportConfiguration: string }>(
    'query ($id: ID, $devices: Boolean) { exportConfiguration(workspaceId: $id, devices: $devices, format: "JSON") }',
    { id: options.workspace, devices: options.devices },
  );
  const { written, others } = folder.write(JSON.parse(exportConfiguration) as Record<string, unknown>);
  if (options.json === true) console.log(JSON.stringify({ written, others }));
  else console.log(written.length === 0 ? `${path}: is up to date` : written.join('\n'));
  for (const file of others) console.error(`${file}: the server has no such product; it would be made by an apply`);
  return 0;
}

/** Gives tokens that were made a secret, and adds each to the file as it gets it. */
async function keepSecrets(
  remote: Remote,
  changes: readonly Change[],
  file: string,
  workspaceId: string | undefined,
): Promise<void> {
  const made = changes.filter(({ action, path }) => action === 'CREATE' && path.startsWith('tokens['));
  if (made.length === 0) return;
  const id = workspaceId ?? (await soleWorkspace(remote));
  const { workspace } = await remote.graphql<{ workspace: { tokens: { id: string; name: string }[] } }>(
    'query ($id: ID!) { workspace(id: $id) { tokens { id name } } }',
    { id },
  );
  for (const { after } of made) {
    const { name } = after as { name: string };
    // The last one of that name was made last.
    const token = workspace.tokens.findLast((one) => one.name === name);
    if (token === undefined) continue;
    const { renewToken } = await remote.graphql<{ renewToken: { secret: string } }>(
      'mutation ($id: ID!) { renewToken(id: $id) { secret } }',
      { id: token.id },
    );
    appendFileSync(file, `${JSON.stringify({ name, secret: renewToken.secret })}\n`, { mode: 0o600 });
  }
  console.error(`${file}: has the secrets of new tokens; they are kept nowhere else`);
}

async function soleWorkspace(remote: Remote): Promise<string> {
  const { workspaces } = await remote.graphql<{ workspaces: { id: string }[] }>('{ workspaces { id } }', {});
  return must(workspaces[0]).id;
}
