import type { Database } from '../ports/database.ts';
import { ConfigurationFieldSchema } from '../entities/configuration-field.ts';
import { DecoderVersionSchema } from '../entities/decoder-version.ts';
import type { WebhookAnswer } from '../entities/webhook-answer.ts';
import { type ProductAnswer, ProductAnswerSchema } from '../entities/product-answer.ts';
import { FieldSchema } from '../entities/field.ts';
import { ProductSchema } from '../entities/product.ts';
import { fieldsByName } from './aliased-fields.ts';
import { configurationInfo } from './device-configuration.ts';

/** The answers to senders of a product once something was stored or kept. */
export interface ProductAnswers {
  /** True: 200 in place of 202 and 207. */
  always200: boolean;
  /** The answer in place of a webhook's counts; null: the counts. */
  webhook: WebhookAnswer | null;
}

/** The answers of a row; null: no row, the default. */
export function productAnswers(row: Pick<ProductAnswer, 'always200' | 'webhook'> | null): ProductAnswers {
  const webhook = row?.webhook == null ? null : (JSON.parse(row.webhook) as WebhookAnswer);
  return { always200: row?.always200 === 1, webhook };
}

/** The product with its fields and active decoder, one query after the other; null: there is none, or it is deleted. */
export async function readProduct(database: Database, id: string) {
  const em = database.read();
  const row = await em.findOne(ProductSchema, { id, deletedAt: null }, { populate: ['workspace'] });
  if (row === null) return null;
  const fields = await em.find(FieldSchema, { product: row.key }, { orderBy: { key: 'asc' } });
  const configuration = await em.find(ConfigurationFieldSchema, { product: row.key }, { orderBy: { key: 'asc' } });
  const decoder =
    row.activeVersion == null
      ? null
      : await em.findOne(DecoderVersionSchema, { product: row.key, version: row.activeVersion });
  const infos = fields.map(
    ({ key, identifier, type, name, unit, description, role, meaning, overflowAt, wasBoolean, display }) => {
      return { key, identifier, type, name, unit, description, role, meaning, overflowAt, wasBoolean, display };
    },
  );
  const aliases = await em.execute<{ identifier: string; fieldKey: number }[]>(
    'select identifier, field_key as "fieldKey" from field_alias where product_key = ? order by identifier',
    [row.key],
  );
  const answer = await em.findOne(ProductAnswerSchema, { product: row.key });
  return {
    key: row.key,
    id: row.id,
    workspaceId: row.workspace.id,
    name: row.name,
    deviceType: row.deviceType,
    webhookId: row.webhookId,
    offlineAfterSeconds: row.offlineAfterSeconds ?? null,
    ignoreZeroPlaces: row.ignoreZeroPlaces,
    timeZone: row.timeZone ?? null,
    fields: fieldsByName(infos, aliases),
    fieldsByKey: new Map(infos.map((field) => [field.key, field])),
    configuration: configuration.map(configurationInfo),
    decoder: decoder && { version: decoder.version, source: decoder.source },
    answers: productAnswers(answer),
    writeRate: row.writeRate ?? row.workspace.writeRate ?? null,
  };
}
