import type { EntityManager } from '@mikro-orm/sql';
import type { Dialect } from '../ports/database.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import type { Section } from './read-document.ts';
import type { Tree } from './shape.ts';

const WRITTEN_AT_ONCE = 100;

/** An object as a document last left it. */
export interface Applied {
  section: Section;
  name: string;
  set: string;
  isLeft: boolean;
  /** The parts of it that the document named. */
  named: readonly string[];
  state: Tree;
}

/** An object of a section by its name. */
type Place = Pick<Applied, 'section' | 'name'>;

/** Key of an object in maps over all sections. */
export function placeKey({ section, name }: Place): string {
  return `${section} ${name}`;
}

/** Everything that documents have left in a workspace, by `placeKey`. */
export async function readApplied(em: EntityManager, workspaceId: string): Promise<Map<string, Applied>> {
  const rows = await em.execute<
    (Place & { setName: string; isLeft: boolean | number; named: string; state: string })[]
  >(
    'select section, name, set_name as "setName", is_left as "isLeft", named, state from applied_object ' +
      'where workspace_id = ?',
    [workspaceId],
  );
  return new Map(
    rows.map(({ section, name, setName, isLeft, named, state }) => [
      placeKey({ section, name }),
      {
        section,
        name,
        set: setName,
        isLeft: Boolean(isLeft),
        // Parsed when asked for: a document concerns few of many.
        get named() {
          return JSON.parse(named) as string[];
        },
        get state() {
          return JSON.parse(state) as Tree;
        },
      },
    ]),
  );
}

/** Writes how a document left these objects, in place of what was known of them. */
export async function writeApplied(
  em: EntityManager,
  dialect: Dialect,
  workspaceId: string,
  objects: readonly Applied[],
): Promise<void> {
  await forgetApplied(em, workspaceId, objects);
  const flag = dialect === 'sqlite' ? 'value->>3' : '(value->>3)::boolean';
  const slices = new TransactionSlices();
  for (let at = 0; at < objects.length; at += WRITTEN_AT_ONCE) {
    const rows = objects
      .slice(at, at + WRITTEN_AT_ONCE)
      .map(({ section, name, set, isLeft, named, state }) => [
        section,
        name,
        set,
        isLeft,
        JSON.stringify(named),
        JSON.stringify(state),
      ]);
    await em.execute(
      'insert into applied_object (workspace_id, section, name, set_name, is_left, named, state) ' +
        `select ?, value->>0, value->>1, value->>2, ${flag}, value->>4, value->>5 from ${rowsOf(dialect)}`,
      [workspaceId, JSON.stringify(rows)],
      'run',
    );
    await slices.next();
  }
}

/** Forgets what documents have left of these objects. */
export async function forgetApplied(em: EntityManager, workspaceId: string, places: readonly Place[]): Promise<void> {
  for (const [section, own] of Map.groupBy(places, (place) => place.section))
    for (let at = 0; at < own.length; at += WRITTEN_AT_ONCE) {
      const names = own.slice(at, at + WRITTEN_AT_ONCE).map(({ name }) => name);
      await em.execute(
        `delete from applied_object where workspace_id = ? and section = ? and name in (${placeholders(names)})`,
        [workspaceId, section, ...names],
        'run',
      );
    }
}

/** Notes that the set's document named these objects no more. */
export async function leaveApplied(em: EntityManager, workspaceId: string, objects: readonly Applied[]): Promise<void> {
  for (const { section, name } of objects.filter(({ isLeft }) => !isLeft))
    await em.execute(
      'update applied_object set is_left = true where workspace_id = ? and section = ? and name = ?',
      [workspaceId, section, name],
      'run',
    );
}
