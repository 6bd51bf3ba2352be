import type pg from 'pg';
import { AppError } from '../../errors.ts';
import { type Edit, isEmpty } from '../chunks/edit.ts';
import type { LatestMemory } from '../chunks/latest-memory.ts';
import type { Rewrite } from '../../domain/ports/store.ts';
import { planEdit } from '../chunks/plan-edit.ts';
import { planWithdrawal } from '../chunks/plan-withdrawal.ts';
import { runReaderJob } from '../chunks/reader-job.ts';
import type { Snapshot } from '../chunks/snapshot.ts';
import { shareValues, updateCalls } from './postgres-call-log.ts';
import { writeChange } from './postgres-changes.ts';
import { isComplaint } from './postgres-connection.ts';
import { checkReplica, type ReplicaNeed, ReplicaRefusal } from './replica-guard.ts';
import { hearOf, writeOver } from './write-over.ts';
import { PostgresSnapshot } from './postgres-snapshot.ts';
import type { PostgresReaderJob, PostgresSliceResult, RewriteResult } from './reader-messages.ts';
import { must } from '../../must.ts';

/** Lock, with the device's key, of an edit of its stored measurements, until the end of the transaction. */
const EDIT_LOCK = 738193002;

/** Does a job in one transaction; `replica`: what that must have, if it is one. */
export async function runPostgresJob(
  pool: pg.Pool,
  job: PostgresReaderJob,
  memory: LatestMemory,
  replica?: ReplicaNeed,
): Promise<unknown> {
  if (job.kind === 'edit') return inTransaction(pool, (client) => edit(client, job.deviceKey, job.edit));
  if (job.kind === 'rewrite') return rewriteOrNothing(pool, job.rewrite);
  return inSnapshot(pool, (snapshot) => runReaderJob(snapshot, job, memory), replica);
}

/**
 * READ COMMITTED: chunks change under the lock only, and readings that were written again since they were read are told
 * by their transaction id.
 */
async function edit(client: pg.ClientBase, deviceKey: number, current: Edit): Promise<PostgresSliceResult | null> {
  if (current.kind === 'compact') {
    const lock = 'SELECT pg_try_advisory_xact_lock($1, $2) AS locked';
    const { rows } = await client.query<{ locked: boolean }>(lock, [EDIT_LOCK, deviceKey]);
    if (!must(rows[0]).locked) return null;
    // A move from one place to another need not be on the disk at once.
    await client.query('SET LOCAL synchronous_commit = off');
  } else await client.query('SELECT pg_advisory_xact_lock($1, $2)', [EDIT_LOCK, deviceKey]);
  const { change, next } = await planEdit(new PostgresSnapshot(client), deviceKey, current);
  const missed = isEmpty(change) ? 0 : await writeChange(client, change);
  return { next, missed, rowsGone: change.readings.length - missed };
}

/** null: the plan is not true any more, and nothing was written. */
async function rewriteOrNothing(pool: pg.Pool, rewrite: Rewrite): Promise<RewriteResult | null> {
  try {
    return await inTransaction(pool, (client) => writeRewrite(client, rewrite));
  } catch (error) {
    if (error instanceof WrittenAgain || isComplaint(error, 'deadlock', 'notSerializable')) return null;
    throw error;
  }
}

/** Devices in the order of their keys, the receipt times before the readings, as flushes lock them. */
async function writeRewrite(
  client: pg.ClientBase,
  { batches, removals, shared, calls }: Rewrite,
): Promise<RewriteResult> {
  const inOrder = removals.toSorted((a, b) => a.deviceKey - b.deviceKey);
  for (const { deviceKey } of inOrder)
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [EDIT_LOCK, deviceKey]);
  if (batches.length > 0) await hearOf(client, batches);
  const result: RewriteResult = { left: 0, rowsGone: 0 };
  for (const removal of inOrder) {
    const { change, left } = await planWithdrawal(new PostgresSnapshot(client), removal);
    if (!isEmpty(change) && (await writeChange(client, change)) > 0) throw new WrittenAgain();
    result.left += left;
    result.rowsGone += change.readings.length;
  }
  if (batches.length > 0) await writeOver(client, batches);
  await shareValues(client, shared);
  await updateCalls(client, calls);
  return result;
}

/** Ends a transaction. */
class WrittenAgain extends Error {}

/** Statements follow each other without waiting: nothing depends on how a transaction that only reads begins and ends. */
async function inSnapshot<T>(
  pool: pg.Pool,
  work: (snapshot: Snapshot) => Promise<T>,
  replica: ReplicaNeed | undefined,
): Promise<T> {
  const client = await pool.connect();
  const snapshot = new PostgresSnapshot(client);
  try {
    const checked = replica && checkReplica(client, replica);
    const begun = client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const [result] = await Promise.all([work(snapshot), begun, checked]);
    endAndRelease(client, 'COMMIT');
    return result;
  } catch (error) {
    snapshot.close();
    // Our own refusals say nothing against the connection.
    if (error instanceof AppError || error instanceof ReplicaRefusal) endAndRelease(client, 'ROLLBACK');
    else client.release(true);
    throw error;
  }
}

/** Ends the transaction once earlier statements are answered; a connection that cannot even do this is closed. */
function endAndRelease(client: pg.PoolClient, statement: 'COMMIT' | 'ROLLBACK'): void {
  client.query(statement).then(
    () => client.release(),
    () => client.release(true),
  );
}

async function inTransaction<T>(pool: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    broken = false;
    return result;
  } finally {
    // A connection in an unknown state is closed, and its transaction with it.
    client.release(broken);
  }
}
