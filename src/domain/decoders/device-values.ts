import { deviceConfiguration } from '../ingest-cache/device-configuration.ts';
import type { IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { History } from '../history/history.ts';
import type { DeviceValues } from './decoder-engine.ts';

/** What decoders see of the product's devices with these ids or serial numbers; null: the product has none (CONTRACT 5). */
export async function deviceValues(
  ingestCache: IngestCache,
  history: History,
  product: ProductInfo,
  names: string[],
): Promise<Record<string, DeviceValues | null>> {
  const devices = await ingestCache.devicesOfProduct(product, names);
  // Without a prototype, so that `__proto__` is a name like any other.
  const values = Object.create(null) as Record<string, DeviceValues | null>;
  await Promise.all(
    names.map(async (name) => {
      const device = devices.get(name) ?? null;
      if (device === null) {
        values[name] = null;
        return;
      }
      const measurements: DeviceValues['measurements'] = {};
      for (const identifier of product.fields.keys()) measurements[identifier] = { value: null, timestamp: null };
      for (const { field, value, timestamp } of await history.latest(device))
        measurements[field.identifier] = { value, timestamp: timestamp / 1000 };
      values[name] = { measurements, configuration: deviceConfiguration(device) };
    }),
  );
  return values;
}
