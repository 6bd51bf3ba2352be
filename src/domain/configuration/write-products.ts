import type { EntityManager } from '@mikro-orm/sql';
import type { Dialect } from '../ports/database.ts';
import { newWebhookId } from '../products/webhook-id.ts';
import { EMPTY_DASHBOARD } from '../products/dashboard.ts';
import { MAX_PRODUCT_NAME } from '../products/new-product.ts';
import { writeAnswers } from '../products/product-answers.ts';
import { type Columns, insertRows, updateRows } from '../sql/bulk-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import { searchable } from '../text/text.ts';
import { uuidV7 } from '../text/uuid.ts';
import type { WebhookAnswer } from '../entities/webhook-answer.ts';
import { isSame, type Tree } from './shape.ts';
import { decoderOf, type ProductDraft } from './product-plan.ts';
import { must } from '../../must.ts';

/** The transaction of an apply. */
export interface Writing {
  em: EntityManager;
  dialect: Dialect;
  workspaceId: string;
  /** In whose name decoders are saved. */
  author: string | null;
  now: number;
}

/** A product that a document names, once its row is there. */
export interface WrittenProduct {
  key: number;
  id: string;
  isNew: boolean;
  draft: ProductDraft;
}

const KEYS_AT_ONCE = 500;

/** Columns of a product that a document decides. */
const COLUMNS: Columns = {
  author_key: 'text',
  name: 'text',
  search_text: 'text',
  offline_after_seconds: 'integer',
  ignore_zero_places: 'boolean',
  time_zone: 'text',
  write_rate: 'double precision',
  dashboard: 'jsonb',
};
const OF_NEW: Columns = {
  ...COLUMNS,
  device_type: 'text',
  id: 'text',
  workspace_id: 'text',
  webhook_id: 'text',
  active_version: 'integer',
  created_at: 'bigint',
};

/** Writes the rows of new products and of those whose own values change. Returns all of them. */
export async function writeProducts(writing: Writing, drafts: readonly ProductDraft[]): Promise<WrittenProduct[]> {
  const { em, dialect, workspaceId, now } = writing;
  const named = drafts.filter(({ target }) => target !== undefined);
  const added = named
    .filter(({ state }) => state === null)
    .map((draft) => ({ draft, id: uuidV7(), target: must(draft.target) }));
  const rows = added.map(({ id, target }) => [
    ...valuesOf(target),
    target['deviceType'] ?? 'API',
    id,
    workspaceId,
    newWebhookId(),
    decoderOf(target).source === undefined ? null : 1,
    now,
  ]);
  await insertRows(em, dialect, { table: 'product', columns: OF_NEW, rows });
  const keys = await keysOf(
    em,
    added.map(({ id }) => id),
  );
  const written = [
    ...added.map(({ draft, id }) => ({ key: must(keys.get(id)), id, isNew: true, draft })),
    ...named.flatMap((draft) =>
      draft.state === null ? [] : [{ key: draft.state.key, id: draft.state.id, isNew: false, draft }],
    ),
  ];
  const changed = written.filter(
    ({ isNew, draft: { is, target } }) => !isNew && !isSame(valuesOf(must(is)), valuesOf(must(target))),
  );
  await moveKeysAway(em, changed);
  await updateRows(em, dialect, {
    table: 'product',
    columns: COLUMNS,
    rows: changed.map(({ key, draft }) => [key, ...valuesOf(must(draft.target))]),
  });
  for (const { key, draft } of written)
    if (!isSame(answersOf(draft.is ?? {}), answersOf(must(draft.target))))
      await writeAnswers(em, key, answersOf(must(draft.target)));
  return written;
}

/** Begins the deletion of products that go, as `ProductService.delete` does; their keys are free at once. */
export async function beginDeletions(
  { em, now }: Writing,
  drafts: readonly ProductDraft[],
): Promise<{ id: string; key: number }[]> {
  const gone = drafts.flatMap(({ state, target }) => (state !== null && target === undefined ? [state] : []));
  for (let at = 0; at < gone.length; at += KEYS_AT_ONCE) {
    const keys = gone.slice(at, at + KEYS_AT_ONCE).map(({ key }) => key);
    await em.execute(
      `update product set deleted_at = ?, author_key = null where "key" in (${placeholders(keys)})`,
      [now, ...keys],
      'run',
    );
    await em.execute(`update rule set author_key = null where product_key in (${placeholders(keys)})`, keys, 'run');
  }
  return gone.map(({ id, key }) => ({ id, key }));
}

/** Frees keys that change: two products may change theirs for one another's. */
async function moveKeysAway(em: EntityManager, changed: readonly WrittenProduct[]): Promise<void> {
  const keys = changed.filter(({ draft }) => must(draft.is)['key'] !== must(draft.target)['key']).map(({ key }) => key);
  for (const key of keys) await em.execute('update product set author_key = null where "key" = ?', [key], 'run');
}

async function keysOf(em: EntityManager, ids: readonly string[]): Promise<Map<string, number>> {
  const keys = new Map<string, number>();
  for (let at = 0; at < ids.length; at += KEYS_AT_ONCE) {
    const some = ids.slice(at, at + KEYS_AT_ONCE);
    const rows = await em.execute<{ id: string; key: number }[]>(
      `select id, "key" from product where id in (${placeholders(some)})`,
      some,
    );
    for (const { id, key } of rows) keys.set(id, key);
  }
  return keys;
}

function valuesOf(tree: Tree): unknown[] {
  return [
    tree['key'] ?? null,
    tree['name'],
    searchable(tree['name'] as string, MAX_PRODUCT_NAME),
    tree['offlineAfterSeconds'] ?? null,
    tree['ignoreZeroPlaces'] ?? false,
    tree['timeZone'] ?? null,
    tree['writeRate'] ?? null,
    JSON.stringify(tree['dashboard'] ?? EMPTY_DASHBOARD),
  ];
}

function answersOf(tree: Tree): { always200: boolean; webhook: WebhookAnswer | null } {
  return {
    always200: tree['answer200'] === true,
    webhook: (tree['webhookAnswer'] ?? null) as WebhookAnswer | null,
  };
}
