import type { EntityManager } from '@mikro-orm/sql';
import { DecoderExampleSchema } from '../entities/decoder-example.ts';
import { DecoderVersionSchema } from '../entities/decoder-version.ts';
import { type Product, ProductSchema } from '../entities/product.ts';
import { searchable } from '../text.ts';
import { uuidV7 } from '../uuid.ts';
import { newWebhookId } from './webhook-id.ts';

const GIVES_WAY_AFTER_MS = 10;

/** Of tables whose rows are numbered by themselves: what a row says beside its product. */
const PARTS = {
  field: 'identifier, type, name, unit, description, role',
  configuration_field: 'identifier, type, name, description, default_value',
};

/**
 * A product like `source` under another name (already checked): fields, the active decoder as its first version, its
 * examples, dashboard; no devices, a webhook URL of its own. `author`: of that version. `now` in milliseconds.
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
  const active =
    activeVersion == null ? null : await em.findOne(DecoderVersionSchema, { product, version: activeVersion });
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
  if (active !== null)
    em.create(DecoderVersionSchema, {
      product: copy,
      version: 1,
      source: active.source,
      note: active.note ?? null,
      author,
      createdAt: now,
    });
  await em.flush();
  // By the database: 500 fields and 200 of the configuration took 80 ms as entities, which nobody else had meanwhile.
  for (const [table, columns] of Object.entries(PARTS))
    await em.execute(
      `insert into ${table} (product_key, ${columns}) select ?, ${columns} from ${table} where product_key = ? order by key`,
      [copy.key, product],
    );
  await copyExamples(em, product, copy.key, now);
  return copy;
}

/** A call is long, and is not read; between some of them others have their turn. */
async function copyExamples(em: EntityManager, from: number, to: number, now: number): Promise<void> {
  const options = { fields: ['id'], orderBy: { createdAt: 'asc', id: 'asc' } } as const;
  let began = performance.now();
  for (const { id } of await em.find(DecoderExampleSchema, { product: from }, options)) {
    await em.execute(
      'insert into decoder_example (id, product_key, name, request, expected, created_at) ' +
        'select ?, ?, name, request, expected, ? from decoder_example where id = ?',
      [uuidV7(), to, now, id],
    );
    if (performance.now() - began < GIVES_WAY_AFTER_MS) continue;
    // Not in line with those who hold nothing: on SQLite nobody else writes meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
    began = performance.now();
  }
}
