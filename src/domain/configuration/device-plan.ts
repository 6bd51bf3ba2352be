import type { EntityManager } from '@mikro-orm/sql';
import { AppError } from '../../errors.ts';
import { takenSerials } from '../devices/taken-serials.ts';
import { serialMistake } from '../devices/serial-mistake.ts';
import type { ConfigurationType } from '../entities/configuration-field.ts';
import type { DeviceType } from '../entities/product.ts';
import { DEFAULT_PLAN, type Plans, requireAllowance } from '../plans/plans.ts';
import type { Dialect } from '../ports/database.ts';
import { checkConfigurationValue } from '../products/configuration-value.ts';
import { deviceIdentity, isNetworkIdentity } from '../text/device-identity.ts';
import { type DeviceState, readConfigurationTypes } from './device-state.ts';
import type { Draft } from './draft.ts';
import { itemsOf } from './normal-form.ts';
import type { ProductDraft } from './product-plan.ts';
import type { ProductName } from './product-state.ts';
import { nameOfReference, type ProductReference } from './references.ts';
import { type Block, blocking, blockOf, type Tree } from './shape.ts';
import { must } from '../../must.ts';

/** A device of a plan. */
export type DeviceDraft = Draft<DeviceState>;

/** The parts of a device's tree. */
interface DeviceTree extends Tree {
  product: ProductReference;
  serialNumber: string;
  name: string;
  plan?: string;
  tags?: string[];
  location?: string;
  offlineAfterSeconds?: number;
  writeRate?: number;
  configuration?: Record<string, unknown>;
  metadata?: unknown;
}

/** The tree of a device by its parts. */
export function deviceOf(tree: Tree): DeviceTree {
  return tree as DeviceTree;
}

interface DevicesAround {
  devices: readonly DeviceDraft[];
  products: readonly ProductDraft[];
  /** Products of the workspace that stay, by the names that they have once the document is applied. */
  known: ReadonlyMap<string, ProductName>;
  workspaceId: string;
  plans: Plans;
}

/** Blocks devices of unknown products, serial numbers that others have, values that do not fit, and full plans. */
export async function checkDevices(
  em: EntityManager,
  dialect: Dialect,
  { devices, products, known, workspaceId, plans }: DevicesAround,
  blocks: Block[],
): Promise<void> {
  const drafts = new Map(products.filter(({ target }) => target !== undefined).map((draft) => [draft.name, draft]));
  const changed = devices.filter(({ target, pending }) => target !== undefined && pending.length > 0);
  const byProduct = Map.groupBy(changed, ({ target }) => nameOfReference(deviceOf(must(target)).product));
  const keys = [...byProduct.keys()].flatMap((name) => known.get(name)?.key ?? []);
  const stored = await readConfigurationTypes(em, keys);
  const gone = new Set(
    devices.flatMap(({ state, target }) => (state !== null && target === undefined ? [state.key] : [])),
  );
  const seen = new Map<string, string>();
  for (const [name, own] of byProduct) {
    const [product, draft] = [known.get(name), drafts.get(name)];
    if (product === undefined && draft === undefined) {
      for (const { path } of own)
        blocks.push({
          path: `${path}.product`,
          message: 'there is no such product, in the workspace or in the document.',
        });
      continue;
    }
    const deviceType = (draft?.target?.['deviceType'] ?? product?.deviceType ?? 'API') as DeviceType;
    const types = new Map<string, ConfigurationType>(
      [...(stored.get(product?.key ?? -1) ?? [])].map(([identifier, { type }]) => [identifier, type]),
    );
    if (draft !== undefined) {
      types.clear();
      for (const { identifier, type } of itemsOf(must(draft.target)['configurationFields']))
        types.set(identifier as string, type as ConfigurationType);
    }
    for (const { path, target } of own) checkValues(deviceOf(must(target)), types, path, blocks);
    const added = own.filter(({ state }) => state === null);
    for (const { path, target } of added) {
      const { serialNumber } = deviceOf(must(target));
      const mistake = serialMistake(serialNumber, deviceType);
      if (mistake !== null) blocks.push({ path: `${path}.serialNumber`, message: mistake });
      const identity = deviceIdentity(serialNumber);
      const place = isNetworkIdentity(identity) ? identity : `${name}/${identity}`;
      const first = seen.get(place);
      if (first !== undefined) blocks.push({ path: `${path}.serialNumber`, message: `is also that of ${first}.` });
      seen.set(place, path);
    }
    const place = { key: product?.key ?? -1, workspace: { id: workspaceId } };
    const identities = added.map(({ target }) => deviceIdentity(deviceOf(must(target)).serialNumber));
    const taken = identities.length === 0 ? new Map() : await takenSerials(em, dialect, place, identities, -1, false);
    for (const [index, { path }] of added.entries()) {
      const holder = taken.get(must(identities[index])) as number | undefined;
      if (holder !== undefined && !gone.has(holder))
        blocks.push({ path: `${path}.serialNumber`, message: 'another device of the workspace has it already.' });
    }
  }
  await checkRoom(em, devices, { workspaceId, plans }, blocks);
}

function checkValues(
  { configuration = {} }: DeviceTree,
  types: ReadonlyMap<string, ConfigurationType>,
  path: string,
  blocks: Block[],
): void {
  for (const [identifier, value] of Object.entries(configuration)) {
    const [type, at] = [types.get(identifier), `${path}.configuration.${identifier.slice(0, 70)}`];
    if (type === undefined) blocks.push({ path: at, message: 'the product has no such configuration field.' });
    else blocking(blocks, at, () => checkConfigurationValue(type, value, at));
  }
}

/** Blocks more devices than a plan covers. */
async function checkRoom(
  em: EntityManager,
  devices: readonly DeviceDraft[],
  { workspaceId, plans }: { workspaceId: string; plans: Plans },
  blocks: Block[],
): Promise<void> {
  const more = new Map<string, number>();
  const add = (slug: string, by: number): void => void more.set(slug, (more.get(slug) ?? 0) + by);
  for (const { state, target } of devices) {
    if (state !== null) add(state.plan, -1);
    if (target !== undefined) add(deviceOf(target).plan ?? DEFAULT_PLAN, 1);
  }
  for (const [slug, by] of more) {
    if (by <= 0) continue;
    const [row] = await em.execute<{ count: number | string }[]>(
      'select count(*) as count from device where workspace_id = ? and plan = ?',
      [workspaceId, slug],
    );
    try {
      requireAllowance(plans.bySlug(slug, 'devices'), Number(must(row).count) + by, true);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      blocks.push(blockOf(error, 'devices'));
    }
  }
}
