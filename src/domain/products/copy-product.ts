import type { EntityManager } from '@mikro-orm/sql';
import type { Dialect } from '../ports/database.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { badInput } from '../../errors.ts';
import { examplesOf, MAX_EXAMPLES_BYTES } from '../decoders/example-rows.ts';
import { DecoderVersionSchema } from '../entities/decoder-version.ts';
import { type Product, ProductSchema } from '../entities/product.ts';
import { searchable } from '../text/text.ts';
import { RuleSchema } from '../entities/rule.ts';
import { onOtherFields, readGround, rowOf } from '../rules/rule-rows.ts';
import { uuidV7 } from '../text/uuid.ts';
import { newWebhookId } from './webhook-id.ts';

/** Columns to copy from tables that number their own rows, without the product. */
const PARTS = {
  field: 'identifier, type, name, unit, description, role, meaning, overflow_at, display',
  configuration_field: 'identifier, type, name, description, default_value',
};

/**
 * Makes a product like `source` under another name (already checked): fields, the active decoder as its first version,
 * its examples (BAD_USER_INPUT: they are too long), dashboard; no devices, a webhook URL of its own. `author`: of that
 * version. `now` in milliseconds. `bytes`: of its examples.
 */
export async function copyProduct(
  em: EntityManager,
  dialect: Dialect,
  source: Product,
  { name, author, now }: { name: string; author: string | null; now: number },
): Promise<{ copy: Product; bytes: number }> {
  const { key: product, activeVersion } = source;
  const examples = await examplesOf(em, dialect, product);
  const bytes = examples.reduce((sum, example) => sum + example.bytes, 0);
  // Older versions had no bound on examples.
  if (bytes > MAX_EXAMPLES_BYTES)
    throw badInput(
      `id: the examples of a product that is cloned have at most ${MAX_EXAMPLES_BYTES} bytes all together, these ` +
        `have ${bytes}; remove some first.`,
    );
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
    ignoreZeroPlaces: source.ignoreZeroPlaces,
    timeZone: source.timeZone ?? null,
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
  // Copy within the database: hundreds of fields as entities would block the event loop.
  for (const [table, columns] of Object.entries(PARTS))
    await em.execute(
      `insert into ${table} (product_key, ${columns}) select ?, ${columns} from ${table} where product_key = ? order by key`,
      [copy.key, product],
    );
  await em.execute(
    'insert into field_alias (product_key, identifier, field_key) select ?, a.identifier, n."key" from field_alias a ' +
      'join field o on o."key" = a.field_key join field n on n.product_key = ? and n.identifier = o.identifier ' +
      'where a.product_key = ?',
    [copy.key, copy.key, product],
  );
  await em.execute(
    'insert into product_answer (product_key, always200, webhook) ' +
      'select ?, always200, webhook from product_answer where product_key = ?',
    [copy.key, product],
  );
  await copyExamples(em, examples, copy.key, now);
  await copyRules(em, source, copy, now);
  return { copy, bytes };
}

/** Copies rules to the fields of the copy; without their keys, which are unique. */
async function copyRules(em: EntityManager, source: Product, copy: Product, now: number): Promise<void> {
  const rules = await em.find(RuleSchema, { product: source.key }, { orderBy: { key: 'asc' } });
  if (rules.length === 0) return;
  const ground = { from: await readGround(em, source.key), to: await readGround(em, copy.key) };
  for (const rule of rules)
    em.create(RuleSchema, {
      id: uuidV7(),
      workspace: copy.workspace,
      product: copy,
      name: rule.name,
      enabled: rule.enabled,
      tags: rule.tags,
      definition: JSON.stringify(onOtherFields(rowOf(rule).definition, ground)),
      notify: rule.notify ?? null,
      revision: 1,
      judgedRevision: 0,
      createdAt: now,
    });
}

/** Copies examples one by one without reading them, as a call is long; others run in between. */
async function copyExamples(em: EntityManager, from: { id: string }[], to: number, now: number): Promise<void> {
  const turns = new TransactionSlices();
  for (const { id } of from) {
    await em.execute(
      'insert into decoder_example (id, product_key, name, request, expected, created_at) ' +
        'select ?, ?, name, request, expected, ? from decoder_example where id = ?',
      [uuidV7(), to, now, id],
    );
    await turns.next();
  }
}
