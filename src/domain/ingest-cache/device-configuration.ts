import type { ConfigurationField, ConfigurationType } from '../entities/configuration-field.ts';

/** A configuration field; `default` null: devices without a value of their own have none. */
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

/** The part of a row that ingest needs. */
export function configurationInfo(row: ConfigurationField): ConfigurationFieldInfo {
  return { key: row.key, identifier: row.identifier, type: row.type, default: row.default ?? null };
}

/**
 * The configuration of a device, with the defaults of its product (CONTRACT 5): identifier → value, null where neither
 * has one.
 */
export function deviceConfiguration({ product, configuration }: Configured): Record<string, unknown> {
  return Object.fromEntries(
    product.configuration.map((field) => [field.identifier, configuration[field.key] ?? field.default]),
  );
}

/** The configuration as texts for `input.variables` of `decodeUplink` (CONTRACT 6), without absent values. */
export function configurationVariables(device: Configured): Record<string, string> {
  return Object.fromEntries(
    Object.entries(deviceConfiguration(device))
      .filter(([, value]) => value !== null)
      .map(([identifier, value]) => [identifier, String(value)]),
  );
}
