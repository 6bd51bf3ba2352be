import type { EntityManager } from '@mikro-orm/core';
import { ConfigurationFieldSchema } from '../entities/configuration-field.ts';
import { DecoderExampleSchema } from '../entities/decoder-example.ts';
import { DecoderVersionSchema } from '../entities/decoder-version.ts';
import { FieldSchema } from '../entities/field.ts';
import { type Product, ProductSchema } from '../entities/product.ts';
import { searchable } from '../text.ts';
import { uuidV7 } from '../uuid.ts';
import { newWebhookId } from './webhook-id.ts';

/**
 * A product like `source` under another name (already checked): fields, the active decoder as its first version, its
 * examples, dashboard; no devices, a webhook URL of its own. `author`: of that
 * version. `now` in milliseconds.
 */
export async function copyProduct(
  em: EntityManager,
  source: Product,
  name: string,
  author: string | null,
  now: number,
): Promise<Product> {
  const { key: product, activeVersion } = source;
  await em.populate(source, ['dashboard']);
  const fields = await em.find(FieldSchema, { product }, { orderBy: { key: 'asc' } });
  const active =
    activeVersion == null ? null : await em.findOne(DecoderVersionSchema, { product, version: activeVersion });
  const examples = await em.find(DecoderExampleSchema, { product }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  const copy = em.create(ProductSchema, {
    id: uuidV7(),
    workspace: source.workspace,
    name,
    searchText: searchable(name, 200),
    deviceType: source.deviceType,
    dashboard: source.dashboard,
    webhookId: newWebhookId(),
    offlineAfterSeconds: source.offlineAfterSeconds ?? null,
    writeRate: source.writeRate ?? null,
    activeVersion: active === null ? null : 1,
    createdAt: now,
  });
  for (const { identifier, type, name: shown, unit, description, role } of fields)
    em.create(FieldSchema, { product: copy, identifier, type, name: shown, unit, description, role });
  const configuration = await em.find(ConfigurationFieldSchema, { product }, { orderBy: { key: 'asc' } });
  for (const { identifier, type, name: shown, description, default: value } of configuration)
    em.create(ConfigurationFieldSchema, { product: copy, identifier, type, name: shown, description, default: value });
  if (active !== null)
    em.create(DecoderVersionSchema, {
      product: copy,
      version: 1,
      source: active.source,
      note: active.note ?? null,
      author,
      createdAt: now,
    });
  for (const { name: shown, request, expected } of examples)
    em.create(DecoderExampleSchema, { id: uuidV7(), product: copy, name: shown, request, expected, createdAt: now });
  return copy;
}
