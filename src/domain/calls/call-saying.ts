import type { CallOutcome } from '../decoders/call-runner.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { StoredKeys } from '../moves/stored-keys.ts';
import type { CallRow } from '../ports/store.ts';
import type { CallSaying } from './replayed-values.ts';
import { type StoredKey, storedKeys, storedText } from './stored-values.ts';

/**
 * What a logged call says now and has said before. A run that failed says nothing, and nothing of the run before goes; nor
 * what was of a field that is gone.
 */
export function sayingOf(
  { fieldsByKey }: ProductInfo,
  { stored, receivedAt }: CallRow,
  { run, batches }: CallOutcome,
): CallSaying {
  const hasRun = run?.error === null;
  const refusedFields = new Set<number>();
  for (const { code, matchedFieldKey } of run?.entries ?? [])
    if (code !== null && matchedFieldKey !== null) refusedFields.add(matchedFieldKey);
  const before = !hasRun || stored === null ? null : storedKeys(stored, receivedAt);
  return {
    receivedAt,
    batches: batches.map(({ batch }) => batch),
    before: before && before.filter(({ fieldKey }) => fieldsByKey.has(fieldKey)),
    refusedFields,
  };
}

/** Takes out what was said before of devices that are in another product by now: it is theirs, whatever is said now. */
export async function withoutMoved(
  said: CallSaying[],
  keys: Pick<StoredKeys, 'left'>,
  productKey: number,
): Promise<CallSaying[]> {
  const left = await keys.left(
    productKey,
    said.flatMap(({ before }) => before ?? []),
  );
  if (left.size === 0) return said;
  return said.map((one) => ({
    ...one,
    before: one.before && one.before.filter(({ deviceKey }) => !left.has(deviceKey)),
  }));
}

/** What the call knows when its new run is stored; `retained`: of the run before. */
export function knownAfter({ receivedAt }: CallRow, { batches }: CallOutcome, retained: readonly StoredKey[]): string {
  return storedText(
    batches.map(({ batch }) => batch),
    receivedAt,
    retained,
  );
}

/** Both what the run before stored and what the new one says. */
export function knownMeanwhile({ stored, receivedAt }: CallRow, after: CallRow): string | null {
  if (stored === null || after.stored === null) return stored;
  return storedText([], receivedAt, [...storedKeys(stored, receivedAt), ...storedKeys(after.stored, receivedAt)]);
}
