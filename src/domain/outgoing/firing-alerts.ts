import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import { ended, type ManagedAlert } from './alertmanager.ts';

/** How often an Alertmanager is told of what still fires: it forgets after five minutes, and when it starts anew. */
const REPEAT_MS = 120_000;
/** Maximum alerts per message. */
export const ALERTS_AT_ONCE = 500;

/** The alerts that Alertmanagers are told of again and again until they end. */
export class FiringAlerts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Keeps what an Alertmanager was told fires, and forgets what it was told has ended; within the transaction. */
  async note(
    em: EntityManager,
    endpointKey: number,
    alerts: ReadonlyMap<string, ManagedAlert>,
    now: number,
  ): Promise<void> {
    const { dialect } = this.#database;
    const over = [...alerts].flatMap(([id, { endsAt }]) => (endsAt === undefined ? [] : [id]));
    const firing = [...alerts].filter(([, { endsAt }]) => endsAt === undefined);
    if (over.length > 0)
      await em.execute(
        `delete from firing_alert where endpoint_key = ? and alert in (${placeholders(over)})`,
        [endpointKey, ...over],
        'run',
      );
    if (firing.length === 0) return;
    const item = (at: number): string => (dialect === 'sqlite' ? `value->>${at}` : `(value->>${at})::text`);
    await em.execute(
      `insert into firing_alert (endpoint_key, alert, body, repeat_at)
       select ${endpointKey}, ${item(0)}, ${item(1)}, ${now + REPEAT_MS} from ${rowsOf(dialect)} where true
       on conflict (endpoint_key, alert) do update set body = excluded.body, repeat_at = excluded.repeat_at`,
      [JSON.stringify(firing.map(([id, alert]) => [id, JSON.stringify(alert)]))],
      'run',
    );
  }

  /** Keys of the endpoints that are to be told again. */
  async due(now: number): Promise<number[]> {
    const rows = await this.#database.read().execute<{ key: number }[]>(
      `select e."key" from endpoint e where e.kind = 'ALERTMANAGER' and e.enabled
         and exists (select 1 from firing_alert f where f.endpoint_key = e."key" and f.repeat_at <= ?)`,
      [now],
    );
    return rows.map(({ key }) => key);
  }

  /**
   * Takes some alerts of the endpoint that are due, for this node alone; those whose alert is over or gone without a
   * word, as that of a deleted device, come with their end and are forgotten.
   */
  async take(em: EntityManager, endpointKey: number, now: number): Promise<Map<string, ManagedAlert>> {
    const lock = this.#database.dialect === 'postgres' ? 'for update skip locked' : '';
    const rows = await em.execute<{ alert: string; body: string }[]>(
      `select alert, body from firing_alert where endpoint_key = ? and repeat_at <= ? order by alert
       limit ${ALERTS_AT_ONCE} ${lock}`,
      [endpointKey, now],
    );
    if (rows.length === 0) return new Map();
    const ids = rows.map(({ alert }) => alert);
    const open = await em.execute<{ id: string }[]>(
      `select id from alert where id in (${placeholders(ids)}) and state <> 'RESOLVED'`,
      ids,
    );
    const isOpen = new Set(open.map(({ id }) => id));
    const told = new Map(
      rows.map(({ alert, body }): [string, ManagedAlert] => {
        const managed = JSON.parse(body) as ManagedAlert;
        return [alert, isOpen.has(alert) ? managed : ended(managed, now)];
      }),
    );
    await this.note(em, endpointKey, told, now);
    return told;
  }
}
