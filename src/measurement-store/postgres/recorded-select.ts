/**
 * Whether a transaction that is in progress (`id`) is somebody else's: ours lock one of these tables before they have an
 * id of use here, until they end. One that has ended since the locks were looked at may have been one of ours.
 */
const IS_OF_OTHERS = `CASE WHEN late.id::xid IN (SELECT transactionid FROM held
    WHERE transactionid IS NOT NULL AND mode = 'ExclusiveLock'
      AND virtualtransaction NOT IN (SELECT virtualtransaction FROM held
        WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND relation IN ('reading'::regclass, 'device_state'::regclass) AND mode = 'RowExclusiveLock'))
  THEN pg_xact_status(late.id) IS NOT DISTINCT FROM 'in progress' ELSE false END`;

/**
 * The order of commits as far as it is of use: without transactions that others have in progress. Those may stay open
 * for days, in any database of the server; the horizon passes them, and when they had ended every position that named
 * one would have expired.
 */
export const POSITION = `(SELECT CASE WHEN pg_snapshot_xmin(now.at) = pg_snapshot_xmax(now.at) THEN now.at ELSE (
    WITH held AS MATERIALIZED (SELECT * FROM pg_locks)
    SELECT concat(coalesce(min(id::text::numeric)::text, pg_snapshot_xmax(now.at)::text), ':', pg_snapshot_xmax(now.at),
      ':', string_agg(id::text, ',' ORDER BY id))::pg_snapshot
    FROM pg_snapshot_xip(now.at) AS late (id) WHERE NOT ${IS_OF_OTHERS}) END
  FROM (SELECT pg_current_snapshot() AS at OFFSET 0) AS now)`;

/**
 * Name of the database's history: another server has given the same transaction ids to others, and so has another
 * database of it, this one restored into itself, and its way from a point in time on, which is a timeline of its own
 * (`nameServer` in `postgres-connection.ts`: '' where the server tells nothing of this).
 */
export const HISTORY = `concat_ws('.', current_setting('inlet.server', true),
  (SELECT oid FROM pg_database WHERE datname = current_database()), 'live_horizon'::regclass::oid,
  CASE WHEN coalesce(current_setting('inlet.server', true), '') <> '' AND NOT pg_is_in_recovery()
    THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END)`;

/** Whether all behind a position ($1) is there: no reading that was in progress then and still is was moved. */
const IS_KEPT = `(SELECT pg_snapshot_xmax($1::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
    AND (live_horizon.seq < pg_snapshot_xmin($1::pg_snapshot) OR live_horizon.seq < pg_snapshot_xmax($1::pg_snapshot)
      AND NOT EXISTS (SELECT FROM pg_snapshot_xip($1::pg_snapshot) AS late (id)
        WHERE id <= live_horizon.seq AND id NOT IN (SELECT pg_snapshot_xip(pg_current_snapshot()))))
  FROM live_horizon)`;

/** Filtered along the order of commits, not by the table's key: a device may have years of readings. */
const OF_DEVICES = 'AND device_key + 0 = ANY($7::int4[])';

/**
 * Readings between two positions ($1, $2; null: until now) behind a place ($3 to $5), at most $6, perhaps of some
 * devices ($7), each with the end of the stretch and whether it is kept; without any there is one row of these alone.
 * Transactions in progress at the first position are looked for by name: from the oldest of them on, one that lasts
 * would make everything new.
 */
export function recordedSelect(columns: string, ofDevices: boolean): string {
  const wanted = `pg_visible_in_snapshot(seq, stretch.up_to) AND stored_at > 0
    AND (seq, device_key, ts) > ($3::xid8, $4::int4, $5::int8) ${ofDevices ? OF_DEVICES : ''}`;
  return `SELECT stretch.up_to::text, stretch.history, stretch.is_kept, found.seq::text, device_key, ts, stored_at, ${columns}
    FROM (SELECT coalesce($2::pg_snapshot, ${POSITION}) AS up_to, ${HISTORY} AS history,
        ${IS_KEPT} AS is_kept OFFSET 0) AS stretch
    LEFT JOIN LATERAL (SELECT * FROM (
        SELECT own.* FROM pg_snapshot_xip($1::pg_snapshot) AS late (id)
          CROSS JOIN LATERAL (SELECT * FROM reading WHERE seq = late.id AND ${wanted} OFFSET 0) AS own
        UNION ALL (SELECT * FROM reading
          WHERE seq >= pg_snapshot_xmax($1::pg_snapshot) AND seq < pg_snapshot_xmax(stretch.up_to) AND ${wanted}
          ORDER BY seq, device_key, ts LIMIT $6)) AS either
      ORDER BY seq, device_key, ts LIMIT $6) AS found ON true
    ORDER BY found.seq, device_key, ts`;
}
