import type { EntityManager } from '@mikro-orm/sql';
import { badInput, conflict } from '../../errors.ts';
import { placeholders } from '../sql/long-columns.ts';
import type { NamedEndpoint } from './notify.ts';

/** The ids of the endpoints of the workspace that are named, each once; null: none is. BAD_USER_INPUT for an unknown one. */
export async function idsOfEndpoints(
  em: EntityManager,
  workspaceId: string,
  named: readonly NamedEndpoint[],
): Promise<string[] | null> {
  if (named.length === 0) return null;
  const rows = await em.execute<{ id: string; key: string | null }[]>(
    'select id, author_key as "key" from endpoint where workspace_id = ? and ' +
      `(id in (${placeholders(named)}) or author_key in (${placeholders(named)}))`,
    [
      workspaceId,
      ...named.map(({ text }) => wellFormed(text).toLowerCase()),
      ...named.map(({ text }) => wellFormed(text)),
    ],
  );
  const ids = named.map(({ by, text, path }) => {
    const found = rows.find(({ id, key }) => (by === 'id' ? id === text.toLowerCase() : key === text));
    if (found !== undefined) return found.id;
    throw badInput(`${path}: the workspace has no endpoint with the ${by} ${JSON.stringify(wellFormed(text))}.`);
  });
  return [...new Set(ids)];
}

/** CONFLICT naming a rule that tells this endpoint. */
export async function requireUnnamed(
  em: EntityManager,
  { id, workspace }: { id: string; workspace: { id: string } },
): Promise<void> {
  const [rule] = await em.execute<{ id: string; name: string }[]>(
    'select id, name from rule where workspace_id = ? and notify like ? order by "key" limit 1',
    [workspace.id, `%"${id}"%`],
  );
  if (rule === undefined) return;
  throw conflict(`The rule "${rule.name}" tells this endpoint: change its "notify" (updateRule) or delete it first.`, {
    existingId: rule.id,
  });
}

/** A text that can be no id or key as one that there is not either. */
function wellFormed(text: string): string {
  return text.slice(0, 70).toWellFormed().replaceAll('\0', '');
}
