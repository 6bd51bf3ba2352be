import { deleteDeviceRows, insertDevices, rowText } from '../devices/device-rows.ts';
import { deviceSearchText, metadataText } from '../devices/device-search-text.ts';
import { TagListType } from '../entities/tag-list.ts';
import type { HistoryAtRisk } from '../plans/history-at-risk.ts';
import { DEFAULT_PLAN } from '../plans/plans.ts';
import { type Columns, updateRows } from '../sql/bulk-rows.ts';
import { deviceIdentity } from '../text/device-identity.ts';
import { uuidV7 } from '../text/uuid.ts';
import { type DeviceDraft, deviceOf } from './device-plan.ts';
import { readConfigurationTypes } from './device-state.ts';
import { nameOfDevice, nameOfReference } from './references.ts';
import type { Writing } from './write-products.ts';
import { must } from '../../must.ts';

const TAGS = new TagListType();
const COLUMNS: Columns = {
  name: 'text',
  search_text: 'text',
  plan: 'text',
  tags: 'text',
  location: 'text',
  offline_after_seconds: 'integer',
  write_rate: 'double precision',
  metadata: 'jsonb',
  configuration: 'jsonb',
};

/** Devices that an apply has written. */
export interface WrittenDevices {
  /** Ids by product. */
  changed: { productId: string; ids: string[] }[];
  areDeleted: boolean;
  /** Ids of new ones, by `nameOfDevice`. */
  added: Map<string, string>;
}

/** Writes devices; `products`: keys and ids by the names that the document has for them. */
export async function writeDevices(
  { em, dialect, workspaceId, now }: Writing,
  devices: readonly DeviceDraft[],
  products: ReadonlyMap<string, { key: number; id: string }>,
  atRisk: HistoryAtRisk,
): Promise<WrittenDevices> {
  const changing = devices.filter(({ pending }) => pending.length > 0);
  const gone = goneOf(devices);
  await deleteDeviceRows(em, dialect, keysOfGone(devices));
  const ids = new Map<string, string[]>();
  const note = (productId: string, id: string): void => {
    const own = ids.get(productId);
    if (own === undefined) ids.set(productId, [id]);
    else own.push(id);
  };
  for (const { productId, id } of gone) note(productId, id);
  const written = changing.filter(({ target }) => target !== undefined);
  const byProduct = Map.groupBy(written, ({ target }) =>
    must(products.get(nameOfReference(deviceOf(must(target)).product))),
  );
  const types = await readConfigurationTypes(
    em,
    [...byProduct.keys()].map(({ key }) => key),
  );
  const added = new Map<string, string>();
  const rows: unknown[][] = [];
  for (const [product, own] of byProduct) {
    const fields = types.get(product.key);
    const fresh = own.filter(({ state }) => state === null).map((draft) => ({ draft, id: uuidV7() }));
    const place = { key: product.key, workspace: { id: workspaceId } };
    const texts = fresh.map(({ draft, id }) => rowText({ ...newRow(draft), id }));
    const keys = await insertDevices(em, dialect, texts, { product: place, createdAt: now });
    for (const { draft, id } of fresh) {
      added.set(nameOfDevice(deviceOf(must(draft.target))), id);
      note(product.id, id);
    }
    const all = [
      ...fresh.map(({ draft, id }) => ({ draft, key: must(keys.get(id)) })),
      ...own.flatMap((draft) => (draft.state === null ? [] : [{ draft, key: draft.state.key }])),
    ];
    for (const { draft, key } of all) {
      const { configuration = {}, metadata, plan = DEFAULT_PLAN, ...device } = deviceOf(must(draft.target));
      const values = Object.entries(configuration).map(([name, value]) => [
        String(must(must(fields).get(name)).key),
        value,
      ]);
      rows.push([
        key,
        device.name,
        deviceSearchText(device, metadataText(metadata)),
        plan,
        TAGS.convertToDatabaseValue(device.tags ?? []),
        device.location ?? null,
        device.offlineAfterSeconds ?? null,
        device.writeRate ?? null,
        metadata === undefined ? null : JSON.stringify(metadata),
        values.length === 0 ? null : JSON.stringify(Object.fromEntries(values)),
      ]);
      if (draft.state === null) continue;
      note(product.id, draft.state.id);
      if (draft.state.plan !== plan) await atRisk.changesPlan(em, key, draft.state.plan, plan);
    }
  }
  await updateRows(em, dialect, { table: 'device', columns: COLUMNS, rows });
  return {
    changed: [...ids].map(([productId, own]) => ({ productId, ids: own })),
    areDeleted: gone.length > 0,
    added,
  };
}

/** Keys of the devices that are deleted. */
export function keysOfGone(devices: readonly DeviceDraft[]): number[] {
  return goneOf(devices).map(({ key }) => key);
}

function goneOf(devices: readonly DeviceDraft[]) {
  return devices.flatMap(({ state, target, pending }) =>
    target === undefined && pending.length > 0 ? [must(state)] : [],
  );
}

function newRow({ target }: DeviceDraft) {
  const { name, serialNumber, plan = DEFAULT_PLAN } = deviceOf(must(target));
  return {
    name,
    serialNumber,
    serialFolded: deviceIdentity(serialNumber),
    searchText: deviceSearchText({ name, serialNumber }, ''),
    plan,
    tags: [],
    location: null,
    metadata: null,
    configuration: null,
  };
}
