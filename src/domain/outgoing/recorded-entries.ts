import type { DeviceCache } from '../devices/device-cache.ts';
import type { IngestCache } from '../ingest-cache/ingest-cache.ts';
import type { RecordedEvent } from '../live/recorded-event.ts';
import { fromStoredValue } from '../measurements/field-value.ts';
import type { Database } from '../ports/database.ts';
import type { Recipient } from './recipients.ts';

/** A recorded value as a message tells it. */
interface RecordedEntry {
  device: { id: string; serialNumber: string; name: string; tags: readonly string[] };
  product: { id: string; key: string | null; name: string };
  field: string;
  value: unknown;
  timestamp: string;
}

interface RecordedEntriesDeps {
  database: Database;
  devices: DeviceCache;
  ingestCache: IngestCache;
}

/** Tells recorded values in the words of messages. */
export class RecordedEntries {
  readonly #deps: RecordedEntriesDeps;

  constructor(deps: RecordedEntriesDeps) {
    this.#deps = deps;
  }

  /** Whether the device is of the workspace. */
  isOf(workspaceId: string, deviceKey: number): boolean | Promise<boolean> {
    const { devices } = this.#deps;
    const known = devices.cached(deviceKey);
    if (known !== undefined) return known?.workspace.id === workspaceId;
    return devices.get(deviceKey).then((device) => device?.workspace.id === workspaceId);
  }

  /** The values of the events that the recipient wants, in their order. */
  async of(events: readonly RecordedEvent[], { workspaceId, productIds, tags }: Recipient): Promise<RecordedEntry[]> {
    const { devices, ingestCache } = this.#deps;
    const entries: RecordedEntry[] = [];
    const keys = new Map<string, string | null>();
    for (const event of events) {
      const device = await devices.get(event.deviceKey);
      if (device === null || device.workspace.id !== workspaceId) continue;
      const { id: productId } = device.product;
      if (productIds !== null && !productIds.includes(productId)) continue;
      if (!tags.every((tag) => device.tags.includes(tag))) continue;
      const product = await ingestCache.product(productId);
      if (product === null) continue;
      if (!keys.has(productId)) keys.set(productId, await this.#keyOf(productId));
      const told = {
        device: { id: device.id, serialNumber: device.serialNumber, name: device.name, tags: device.tags },
        product: { id: productId, key: keys.get(productId) ?? null, name: product.name },
      };
      for (const [at, fieldKey] of event.fieldKeys.entries()) {
        const field = product.fieldsByKey.get(fieldKey);
        const [stored, timestamp] = [event.values[at], event.timestamps[at]];
        if (field === undefined || stored === undefined || timestamp === undefined) continue;
        const value = fromStoredValue(field, stored);
        if (value === null) continue;
        entries.push({ ...told, field: field.identifier, value, timestamp: new Date(timestamp).toISOString() });
      }
    }
    return entries;
  }

  async #keyOf(productId: string): Promise<string | null> {
    const [row] = await this.#deps.database
      .read()
      .execute<{ key: string | null }[]>('select author_key as "key" from product where id = ?', [productId]);
    return row?.key ?? null;
  }
}
