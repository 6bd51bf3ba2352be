import type pg from 'pg';

/** Place that a replica must have reached to answer: of the primary's database, this position in its log. */
export interface ReplicaNeed {
  identity: string;
  position: number;
}

/** Identity of a database: the same on its replicas, and on no other. Known by `nameServer` on each connection. */
const OWN_IDENTITY = `concat_ws('.', current_setting('inlet.server', true),
  (SELECT oid FROM pg_database WHERE datname = current_database()))`;
/** The same where it is not known by the connection. */
const IDENTITY = `concat_ws('.', (SELECT system_identifier FROM pg_control_system()),
  (SELECT oid FROM pg_database WHERE datname = current_database()))`;

/** Code of an error: the replica has not replayed as far as was needed. */
const BEHIND = 'REPLICA_BEHIND';
/** Code of an error: the server is no replica of the database. */
const NO_REPLICA = 'NO_REPLICA';

/** The server cannot answer: it is behind, was promoted, or belongs to another database. */
export class ReplicaRefusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whether the replica is as good as before, and only behind, or needed its rows for something else. */
export function isOnlyBehind(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === BEHIND || code === '40001';
}

/**
 * Rejects with ReplicaRefusal if a snapshot that is taken from now on would lack what is needed. Asked before each
 * snapshot: a server behind a name may be another one by now, and a replica may have been promoted.
 */
export async function checkReplica(client: pg.ClientBase, { identity, position }: ReplicaNeed): Promise<void> {
  const { rows } = await client.query<[isReplica: boolean, isThere: boolean | null]>({
    name: 'inlet-replica',
    text: `SELECT pg_is_in_recovery() AND ${OWN_IDENTITY} = $1::text, pg_last_wal_replay_lsn() - '0/0' >= $2::int8`,
    values: [identity, position],
    rowMode: 'array',
  } as pg.QueryArrayConfig);
  const [row] = rows;
  if (row?.[0] !== true) throw new ReplicaRefusal(NO_REPLICA, 'it is no replica: perhaps it was promoted');
  if (row[1] !== true) throw new ReplicaRefusal(BEHIND, 'the replica is behind');
}

/** Position behind everything committed so far: of what is durable, as a replica gets nothing else. */
export const COMMITTED = "(pg_current_wal_flush_lsn() - '0/0')::int8";

/** State of the primary: its database, the end of its log, and its timeline. */
export interface PrimaryLook {
  identity: string;
  position: number;
  timeline: number;
}

/** Asks for a PrimaryLook, in the order of its keys. */
export const LOOK_AT_PRIMARY = `SELECT ${IDENTITY}, ${COMMITTED}, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)`;

/** Reads the answer to `LOOK_AT_PRIMARY`. */
export function primaryLook([identity, position, timeline]: [string, number, string]): PrimaryLook {
  return { identity, position, timeline: Number.parseInt(timeline, 16) };
}

/** State of a server that may be a replica; `position` null: it is none. */
export interface ReplicaLook {
  identity: string;
  isReplica: boolean;
  position: number | null;
  timeline: number;
  /** Seconds since the last commit that it has replayed was made; null: none yet. */
  ageSeconds: number | null;
}

/** Asks for a ReplicaLook, by names. The timeline of its files: it follows another one only by and by. */
export const LOOK_AT_REPLICA = `SELECT ${IDENTITY} AS identity, pg_is_in_recovery() AS "isReplica",
    (pg_last_wal_replay_lsn() - '0/0')::int8 AS position,
    greatest((SELECT timeline_id FROM pg_control_checkpoint()),
      (SELECT min_recovery_end_timeline FROM pg_control_recovery())) AS timeline,
    extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8 AS "ageSeconds"`;
