import type pg from 'pg';

/** With connecting, an answer within 10 seconds also where a new connection falls silent. */
const ANSWER_MS = 3_000;
const OVERRULED = `
  SELECT set_config(name, wanted, false)
  FROM (VALUES ('synchronous_commit', 'on'), ('default_transaction_isolation', 'read committed')) AS relied_on (name, wanted)
  WHERE current_setting(name) IN ('off', 'repeatable read', 'serializable')`;

/** pg-pool awaits `onConnect`; its types do not say so. */
export type PoolSettings = Omit<pg.PoolConfig, 'onConnect'> & { onConnect: (client: pg.ClientBase) => Promise<void> };

/**
 * What a connection relies on whatever the defaults of the database or its role are: an acknowledgement promises a durable
 * commit, and who has waited for a lock goes on with what was committed meanwhile.
 */
export async function setDefaults(client: pg.ClientBase): Promise<void> {
  await client.query({ text: OVERRULED, query_timeout: ANSWER_MS } as pg.QueryConfig);
}
