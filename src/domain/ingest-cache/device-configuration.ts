import type { ConfigurationField, ConfigurationType } from '../entities/configuration-field.ts';

/** What decoders can be told about a device; `default` null: nothing unless the device says so. */
export interface ConfigurationFieldInfo {
  key: number;
  identifier: string;
  type: ConfigurationType;
  default: unknown;
}

interface Configured {
  product: { configuration: ConfigurationFieldInfo[] };
  /** Key of a configuration field → the device's own value. */
  configuration: Record<string, unknown>;
}

/** A row as much of it as ingest needs. */
export function configurationInfo(row: ConfigurationField): ConfigurationFieldInfo {
  return { key: row.key, identifier: row.identifier, type: row.type, default: row.default ?? null };
}

/** What is configured for the device, else the product's default (CONTRACT 5): identifier → value, null where neither. */
export function deviceConfiguration({ product, configuration }: Configured): Record<string, unknown> {
  return Object.fromEntries(
    product.configuration.map((field) => [field.identifier, configuration[field.key] ?? field.default]),
  );
}

/** The same as texts, as `decodeUplink` gets them in `input.variables` (CONTRACT 6); what has no value is left out. */
export function configurationVariables(device: Configured): Record<string, string> {
  return Object.fromEntries(
    Object.entries(deviceConfiguration(device))
      .filter(([, value]) => value !== null)
      .map(([identifier, value]) => [identifier, String(value)]),
  );
}
