import type { EntityManager } from '@mikro-orm/sql';
import { badInput, conflict } from '../../errors.ts';
import { type Field, FIELD_IDENTIFIER, FieldSchema } from '../entities/field.ts';
import { FieldAliasSchema } from '../entities/field-alias.ts';
import { SuggestedFieldSchema } from '../entities/suggested-field.ts';
import { fieldId } from './field-id.ts';

/** Maximum earlier identifiers per field. */
export const MAX_ALIASES = 20;

interface RenamedWidget {
  fields?: string[];
  source?: { productId?: string };
}

/**
 * Gives the field another identifier; the present one becomes an earlier one of it, under which senders may go on.
 * Widgets of the dashboard, those of the workspace's that show the product, and tokens limited to the field follow it.
 * CONFLICT naming a field that has the identifier now or had it before. Lock the product first. Returns the ids of the
 * changed tokens.
 */
export async function renameField(em: EntityManager, field: Field, identifier: string): Promise<string[]> {
  const { key: product, workspace } = field.product;
  const before = field.identifier;
  if (!FIELD_IDENTIFIER.test(identifier)) throw badInput('identifier: expected 1 to 64 characters of A-Z a-z 0-9 _ -.');
  if (identifier === before) return [];
  const there = await em.findOne(FieldSchema, { product, identifier });
  if (there !== null)
    throw conflict(`identifier: the product already has a field "${identifier}".`, { existingId: fieldId(there.key) });
  const alias = await em.findOne(FieldAliasSchema, { product, identifier }, { populate: ['field'] });
  if (alias !== null && alias.field.key !== field.key) throw wasTaken('identifier', identifier, alias.field);
  if (alias === null && (await em.count(FieldAliasSchema, { field: field.key })) >= MAX_ALIASES)
    throw badInput(
      `identifier: a field has at most ${MAX_ALIASES} earlier identifiers; remove one (removeFieldAlias).`,
    );
  await em.nativeDelete(FieldAliasSchema, { product, identifier: { $in: [identifier, before] } });
  await em.nativeDelete(SuggestedFieldSchema, { product, identifier });
  em.create(FieldAliasSchema, { product, identifier: before, field });
  field.identifier = identifier;
  await renameInDashboard(em, field, before);
  await renameInDashboardsOf(em, field, before);
  return renameInTokens(em, workspace.id, { product, before, identifier });
}

/** CONFLICT: another field had the identifier, and senders may still use it. */
export function wasTaken(path: string, identifier: string, { key, identifier: now }: Field): Error {
  return conflict(
    `${path}: "${identifier}" is an earlier identifier of the field "${now}", under which senders may go on; ` +
      'remove it there first (removeFieldAlias).',
    { existingId: fieldId(key) },
  );
}

async function renameInDashboard(em: EntityManager, field: Field, before: string): Promise<void> {
  const { product, identifier } = field;
  await em.populate(product, ['dashboard']);
  const { widgets, ...rest } = product.dashboard as { widgets: RenamedWidget[] };
  if (!widgets.some(({ fields }) => fields?.includes(before))) return;
  product.dashboard = { ...rest, widgets: widgets.map((widget) => renamed(widget, before, identifier)) };
}

/** Renames in the widgets of the workspace's dashboards whose source is the product: others may be of several. */
async function renameInDashboardsOf(em: EntityManager, { product, identifier }: Field, before: string): Promise<void> {
  const rows = await em.execute<{ key: number; widgets: string }[]>(
    'select "key", widgets from dashboard where workspace_id = ? and widgets like ?',
    [product.workspace.id, `%${product.id}%`],
  );
  for (const { key, widgets: text } of rows) {
    const widgets = (JSON.parse(text) as RenamedWidget[]).map((widget) =>
      widget.source?.productId === product.id ? renamed(widget, before, identifier) : widget,
    );
    const now = JSON.stringify(widgets);
    if (now !== text) await em.execute('update dashboard set widgets = ? where "key" = ?', [now, key], 'run');
  }
}

function renamed({ fields, ...widget }: RenamedWidget, before: string, now: string): RenamedWidget {
  return fields === undefined
    ? widget
    : { ...widget, fields: [...new Set(fields.map((name) => (name === before ? now : name)))] };
}

/**
 * Adds the identifier to the limits of tokens that have the earlier one, unless another product of the workspace has a
 * field of that name, which they would see then: such a token no longer covers the field.
 */
async function renameInTokens(
  em: EntityManager,
  workspaceId: string,
  { product, before, identifier }: { product: number; before: string; identifier: string },
): Promise<string[]> {
  const [other] = await em.execute<{ key: number }[]>(
    'select f."key" from field f join product p on p."key" = f.product_key ' +
      'where p.workspace_id = ? and f.identifier = ? and p."key" <> ? limit 1',
    [workspaceId, identifier, product],
  );
  if (other !== undefined) return [];
  const rows = await em.execute<{ id: string; fields: unknown }[]>(
    'select id, fields from token where workspace_id = ? and fields is not null',
    [workspaceId],
  );
  const changed: string[] = [];
  for (const { id, fields } of rows) {
    const names = (typeof fields === 'string' ? JSON.parse(fields) : fields) as string[];
    if (!names.includes(before) || names.includes(identifier)) continue;
    await em.execute('update token set fields = ? where id = ?', [JSON.stringify([...names, identifier]), id], 'run');
    changed.push(id);
  }
  return changed;
}
