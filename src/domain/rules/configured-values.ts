import type { ConfigurationFieldInfo } from '../ingest-cache/device-configuration.ts';
import type { StoredValue } from '../ports/store.ts';

interface Configured {
  product: { configuration: readonly ConfigurationFieldInfo[] };
  /** Key of a configuration field → the device's own value. */
  configuration: Readonly<Record<string, unknown>>;
}

/** Key of each configuration field → value of the device, or the product's default, as stored values; null: neither. */
export function configuredValues({ product, configuration }: Configured): Record<string, StoredValue | null> {
  return Object.fromEntries(
    product.configuration.map(({ key, default: usual }) => [key, asStored(configuration[key] ?? usual)]),
  );
}

function asStored(value: unknown): StoredValue | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' || typeof value === 'string' ? value : null;
}
