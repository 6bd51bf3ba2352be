import type { EntityManager } from '@mikro-orm/sql';
import { badInput, notFound } from '../../errors.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { Access } from '../access/access.ts';
import { soleWorkspace } from '../access/sole-workspace.ts';
import type { Database } from '../ports/database.ts';
import type { Yaml } from '../ports/yaml.ts';
import { readDashboardStates } from './dashboard-plan.ts';
import { readDeviceStates } from './device-state.ts';
import { readEndpointStates } from './endpoint-plan.ts';
import { readProductNames, readProductStates } from './product-state.ts';
import { FORMAT, MAX_DEVICES, MAX_DOCUMENT } from './read-document.ts';
import type { Tree } from './shape.ts';
import { inSnapshot, readMemberStates, readTokenStates } from './workspace-state.ts';
import { must } from '../../must.ts';

interface ConfigurationExportDeps {
  database: Database;
  yaml: Yaml;
  now: () => number;
}

interface ExportRequest {
  workspaceId?: string | null | undefined;
  /** Only these products, and nothing else; null: the whole workspace. */
  productKeys?: readonly string[] | null | undefined;
  /** True: with the devices of these products. */
  devices?: boolean | null | undefined;
  /** YAML if left out. */
  format?: string | null | undefined;
}

/** Writes the configuration of a workspace as a document (CONTRACT 11). */
export class ConfigurationExport {
  readonly #deps: ConfigurationExportDeps;

  constructor(deps: ConfigurationExportDeps) {
    this.#deps = deps;
  }

  /** The document in its normal form. For ADMINs who may READ. NOT_FOUND for a key that no product has. */
  async write(access: Access, { workspaceId, productKeys, devices, format }: ExportRequest): Promise<string> {
    const id = workspaceId ?? soleWorkspace(access, 'workspaceId');
    requireReading(access, id);
    const form = (format ?? 'YAML').toUpperCase();
    if (form !== 'YAML' && form !== 'JSON') throw badInput('format: expected YAML or JSON.');
    const document = { format: FORMAT, ...(await this.#read(access, id, productKeys ?? null, devices === true)) };
    await yieldToEventLoop();
    const json = JSON.stringify(document, null, form === 'JSON' ? 2 : undefined);
    if (json.length > MAX_DOCUMENT)
      throw badInput(`productKeys: the document has more than ${MAX_DOCUMENT} characters; name some products.`);
    return form === 'JSON' ? `${json}\n` : this.#deps.yaml.write(json);
  }

  #read(
    access: Access,
    workspaceId: string,
    productKeys: readonly string[] | null,
    withDevices: boolean,
  ): Promise<Tree> {
    const { database, now } = this.#deps;
    const { dialect } = database;
    return database.write(
      (em) =>
        inSnapshot(em, dialect, async () => {
          const names = await readProductNames(em, workspaceId);
          const chosen = productKeys === null ? names : chosenBy(productKeys, names);
          const states = await readProductStates(em, dialect, workspaceId, chosen);
          const products = chosen.map(({ key }) => must(states.get(key)).tree).toSorted(byName);
          if (withDevices) await requireFewDevices(em, workspaceId);
          const devices = withDevices
            ? await readDeviceStates(
                em,
                dialect,
                chosen.map((product) => ({ product, reference: product.reference, serials: null })),
              )
            : [];
          const deviceTrees = devices.toSorted((one, other) => compare(one.name, other.name)).map(({ tree }) => tree);
          if (productKeys !== null) return deviceTrees.length === 0 ? { products } : { products, devices: deviceTrees };
          const references = new Map(names.map(({ id: own, reference }) => [own, reference]));
          const endpoints = await readEndpointStates(em, workspaceId, references);
          const dashboards = await readDashboardStates(em, workspaceId, references);
          const tokens = await readTokenStates(em, workspaceId, references);
          const members = await readMemberStates(em, workspaceId);
          return Object.fromEntries(
            Object.entries({
              products,
              endpoints: endpoints.map(({ tree }) => tree).toSorted(byName),
              dashboards: dashboards.map(({ tree }) => tree).toSorted(byName),
              // An ended token allows nothing.
              tokens: tokens
                .filter(({ expiresAt }) => expiresAt === null || expiresAt > now())
                .map(({ tree }) => tree)
                .toSorted(byName),
              members: members.map(({ tree }) => tree),
              devices: deviceTrees,
            }).filter(([, list]) => list.length > 0),
          );
        }),
      access,
    );
  }
}

/** BAD_USER_INPUT for a workspace with more devices than a document has. */
async function requireFewDevices(em: EntityManager, workspaceId: string): Promise<void> {
  const [row] = await em.execute<{ count: number | string }[]>(
    'select count(*) as count from device where workspace_id = ?',
    [workspaceId],
  );
  if (Number(must(row).count) > MAX_DEVICES)
    throw badInput(
      `devices: the workspace has ${must(row).count}, and a document at most ${MAX_DEVICES}; export them as a file.`,
    );
}

/** Required to see a configuration: tokens and members are for ADMINs, the rest is read. */
export function requireReading(access: Access, workspaceId: string): void {
  access.requireWorkspace(workspaceId, 'ADMIN');
  access.requireWorkspace(workspaceId, 'READ');
}

function chosenBy<Name extends { authorKey: string | null }>(keys: readonly string[], names: readonly Name[]): Name[] {
  const byKey = new Map(names.map((name) => [name.authorKey, name]));
  return [...new Set(keys)].map((key) => {
    const name = byKey.get(key);
    if (name === undefined) throw notFound('product', key);
    return name;
  });
}

/** By key, then by name; those of one name stay in the order of their creation, by which a document knows them. */
function byName(one: Tree, other: Tree): number {
  const [a, b] = [one, other].map(({ key, name }) => [(key ?? '') as string, name as string]) as [
    [string, string],
    [string, string],
  ];
  return compare(a[0], b[0]) || compare(a[1], b[1]);
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
