import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { badInput, conflict, notFound } from '../../errors.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Access } from '../access/access.ts';
import { readLongJson } from '../sql/long-json.ts';
import { findDevice } from '../access/find-device.ts';
import { changeOfDevice } from '../devices/change-of-devices.ts';
import { lockPart, lockProduct } from '../access/find-product.ts';
import {
  type ConfigurationField,
  ConfigurationFieldSchema,
  type ConfigurationType,
} from '../entities/configuration-field.ts';
import type { Device } from '../entities/device.ts';
import { FIELD_IDENTIFIER } from '../entities/field.ts';
import { noteConfigured } from '../notes/note-changes.ts';
import { requireUnwatched } from '../rules/rule-rows.ts';
import { checkOptionalText } from '../text/text.ts';
import { checkConfiguration } from '../devices/device-input.ts';
import { checkConfigurationValue } from './configuration-value.ts';
import { configurationFieldId, configurationFieldKeyOf } from './field-id.ts';
import { FIELD_TEXTS } from './new-field.ts';

/** Maximum configuration fields per product. */
export const MAX_CONFIGURATION_FIELDS = 200;

interface ConfigurationServiceDeps {
  database: Database;
  cluster: Cluster;
  now: () => number;
}

interface NewConfigurationField {
  identifier: string;
  type: ConfigurationType;
  name?: string | null;
  description?: string | null;
  default?: unknown;
}

/** Left out: unchanged. null: cleared. */
interface ConfigurationFieldChange {
  name?: string | null;
  description?: string | null;
  default?: unknown;
}

/** The configuration that decoders read (CONTRACT 5): fields of the product, values of the device. Needs CONFIGURE. */
export class ConfigurationService {
  readonly #deps: ConfigurationServiceDeps;

  constructor(deps: ConfigurationServiceDeps) {
    this.#deps = deps;
  }

  /** Adds a field, which the next call of a decoder sees. CONFLICT when the identifier is taken. */
  async add(access: Access, productId: string, input: NewConfigurationField): Promise<ConfigurationField> {
    const { identifier, type } = input;
    if (!FIELD_IDENTIFIER.test(identifier))
      throw badInput('input.identifier: expected 1 to 64 characters of A-Z a-z 0-9 _ -.');
    const row = {
      identifier,
      type,
      name: checkOptionalText(input.name, 'input.name', FIELD_TEXTS.name),
      description: checkOptionalText(input.description, 'input.description', FIELD_TEXTS.description),
      default: checkConfigurationValue(type, input.default, 'input.default'),
    };
    const field = await this.#deps.database.write(async (em) => {
      const product = await lockProduct(em, access, productId, 'CONFIGURE');
      const there = await em.findOne(ConfigurationFieldSchema, { product: product.key, identifier });
      if (there !== null)
        throw conflict(`input.identifier: the product already has a configuration field "${identifier}".`, {
          existingId: configurationFieldId(there.key),
        });
      if ((await em.count(ConfigurationFieldSchema, { product: product.key })) >= MAX_CONFIGURATION_FIELDS)
        throw badInput(`A product has at most ${MAX_CONFIGURATION_FIELDS} configuration fields.`);
      return em.create(ConfigurationFieldSchema, { product, ...row });
    });
    await this.#changed(field);
    return field;
  }

  /** Changes a field; identifier and type never change. */
  async update(access: Access, id: string, change: ConfigurationFieldChange): Promise<ConfigurationField> {
    const field = await this.#deps.database.write(async (em) => {
      const found = await this.#part(em, access, id);
      for (const key of ['name', 'description'] as const)
        if (change[key] !== undefined) found[key] = checkOptionalText(change[key], `input.${key}`, FIELD_TEXTS[key]);
      if (change.default !== undefined)
        found.default = checkConfigurationValue(found.type, change.default, 'input.default');
      return found;
    });
    await this.#changed(field);
    return field;
  }

  #part(em: EntityManager, access: Access, id: string): Promise<ConfigurationField> {
    const key = configurationFieldKeyOf(id);
    const where = key === null ? null : { key };
    return lockPart(em, access, ConfigurationFieldSchema, { what: 'configuration field', id, where });
  }

  /** Removes a field with its values on every device, as its key has no meaning any more. Returns the id. */
  async remove(access: Access, id: string): Promise<string> {
    const field = await this.#deps.database.write(async (em) => {
      const found = await this.#part(em, access, id);
      const { key, identifier, product } = found;
      await requireUnwatched(em, { kind: 'configuration field', key, identifier, product });
      await em.nativeDelete(ConfigurationFieldSchema, { key: found.key });
      return found;
    });
    await this.#changed(field);
    return id;
  }

  /** Sets values by identifier; null: back to the product's default. Other fields stay unchanged. */
  async set(access: Access, deviceId: string, values: unknown): Promise<Device> {
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw badInput('values: expected an object of identifiers and values.');
    const device = await this.#deps.database.write(async (em) => {
      const found = await findDevice(em, access, deviceId, 'CONFIGURE');
      if ((await em.refresh(found, { lockMode: LockMode.PESSIMISTIC_WRITE })) === null)
        throw notFound('device', deviceId);
      const fields = await em.find(ConfigurationFieldSchema, { product: found.product.key });
      const { dialect } = this.#deps.database;
      const before = (await readLongJson(em, dialect, 'configuration', [found.key])).get(found.key) ?? '{}';
      const own = new Map(Object.entries(JSON.parse(before) as Record<string, unknown>));
      const valuesNow = (): Map<string, unknown> =>
        new Map(fields.flatMap(({ key, identifier }) => (own.has(`${key}`) ? [[identifier, own.get(`${key}`)]] : [])));
      const known = valuesNow();
      for (const [identifier, value] of Object.entries(values)) {
        const field = fields.find((one) => one.identifier === identifier);
        if (field === undefined)
          throw badInput(`values: the product has no configuration field "${identifier.slice(0, 70)}".`);
        const checked = checkConfigurationValue(field.type, value, `values.${identifier}`);
        if (checked === null) own.delete(String(field.key));
        else own.set(String(field.key), checked);
      }
      // Drop values of removed fields.
      const kept = fields.map(({ key }) => String(key)).filter((key) => own.has(key));
      const configuration = Object.fromEntries(kept.map((key) => [key, own.get(key)]));
      found.configuration = checkConfiguration(configuration, 'values');
      const changing = { em, access, now: this.#deps.now() };
      await noteConfigured(changing, { before: known, after: valuesNow() }, found);
      return found;
    });
    await this.#deps.cluster.changed([changeOfDevice(device)]);
    return device;
  }

  #changed(field: { product: { id: string } }): Promise<void> {
    return this.#deps.cluster.changed([{ kind: 'product', id: field.product.id }]);
  }
}
