import type { DataOf } from '../../api/operation.ts';
import { request } from '../../api/request.ts';
import type { CallStatus } from '../../api/schema-types.ts';
import { CallIds, ReplayCalls, StoredValues } from './calls.graphql.ts';
import { compareReplay, type ReplayKind, type ReplayRow, storedWanted } from './replay-comparison.ts';

/** So many calls are run again in one request: between two of them one can stop. */
const STEP = 50;
const MAX_CALLS = 20_000;
const MAX_ROWS = 200;
/** As the API takes them for one history. */
const MAX_DEVICES = 200;

/** Which calls are to be run again: these, or all of a stretch of time with these outcomes. */
export interface ReplayChoice {
  callIds?: readonly string[];
  from?: string | null;
  to?: string | null;
  status?: readonly CallStatus[] | null;
}

/** How far a replay, or a dry run, is. */
export interface ReplayTally {
  calls: number;
  stored: number;
  rejected: number;
  failed: number;
  /** Of a dry run: how many entries there are of each kind. */
  kinds: Record<ReplayKind, number>;
  /** Of a dry run: the first entries, those that change nothing left out. */
  rows: readonly ReplayRow[];
  /** Why calls failed, the first reason. */
  failure: string | null;
}

/** A replay that has not done anything yet. */
export const NOTHING_REPLAYED: ReplayTally = {
  calls: 0,
  stored: 0,
  rejected: 0,
  failed: 0,
  kinds: { new: 0, replaced: 0, unchanged: 0, refused: 0, unknown: 0 },
  rows: [],
  failure: null,
};

/** The calls chosen, oldest first; of more than 20,000 the newest. */
export async function chosenCalls(productId: string, choice: ReplayChoice, signal: AbortSignal): Promise<string[]> {
  if (choice.callIds !== undefined) return [...choice.callIds];
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const given: { status: readonly CallStatus[] | null; from: string | null; to: string | null } = {
      status: choice.status ?? null,
      from: choice.from ?? null,
      to: choice.to ?? null,
    };
    const { product }: DataOf<typeof CallIds> = await request(CallIds, { productId, ...given, after }, signal);
    ids.push(...product.calls.edges.map(({ node }) => node.id));
    after = product.calls.pageInfo.hasNextPage ? product.calls.pageInfo.endCursor : null;
  } while (after !== null && ids.length < MAX_CALLS);
  return ids.slice(0, MAX_CALLS).reverse();
}

/** Runs the calls again, some at a time, telling after each step how far it is; aborted it ends after the step in hand. */
export async function replayInSteps(
  productId: string,
  callIds: readonly string[],
  dryRun: boolean,
  { signal, tell }: { signal: AbortSignal; tell: (tally: ReplayTally) => void },
): Promise<void> {
  let tally = NOTHING_REPLAYED;
  for (let at = 0; at < callIds.length && !signal.aborted; at += STEP) {
    const step = { productId, callIds: callIds.slice(at, at + STEP), dryRun };
    const { replayCalls: done } = await request(ReplayCalls, step);
    const rows = dryRun ? compareReplay(done.results, await storedOf(done.results)) : [];
    const kinds = { ...tally.kinds };
    for (const { kind } of rows) kinds[kind] += 1;
    tally = {
      calls: tally.calls + done.calls,
      stored: tally.stored + done.stored,
      rejected: tally.rejected + done.rejected,
      failed: tally.failed + done.failed,
      kinds,
      rows: [...tally.rows, ...rows.filter(({ kind }) => kind !== 'unchanged')].slice(0, MAX_ROWS),
      failure: tally.failure ?? done.results.find(({ run }) => run.error !== null)?.run.error?.message ?? null,
    };
    tell(tally);
  }
}

async function storedOf(
  results: Parameters<typeof storedWanted>[0],
): Promise<DataOf<typeof StoredValues>['history'] | null> {
  const wanted = storedWanted(results);
  if (wanted === null) return [];
  if (wanted.deviceIds.length > MAX_DEVICES) return null;
  // What cannot be compared is said to be unknown; the dry run itself stands.
  return request(StoredValues, wanted).then(
    ({ history }) => history,
    () => null,
  );
}
