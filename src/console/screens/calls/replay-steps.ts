import type { DataOf } from '../../api/operation.ts';
import { request } from '../../api/request.ts';
import type { CallStatus } from '../../api/schema-types.ts';
import { CallIds, ReplayCalls, StoredValues } from './calls.graphql.ts';
import { compareReplay, type ReplayRow, storedWanted } from './replay-comparison.ts';

/**
 * Calls per request; a stop takes effect between two requests. A dry run sees the changes of earlier calls only within
 * its request.
 */
const [STEP, DRY_STEP] = [50, 500];
const MAX_CALLS = 20_000;
const MAX_ROWS = 200;
/** Maximum devices of one history in the API. */
const MAX_DEVICES = 200;

/** The calls to replay: these, or all of a range of time with these outcomes. */
export interface ReplayChoice {
  callIds?: readonly string[];
  from?: string | null;
  to?: string | null;
  status?: readonly CallStatus[] | null;
}

/** Progress of a replay or a dry run. */
export interface ReplayTally {
  calls: number;
  stored: number;
  rejected: number;
  failed: number;
  /** Numbers of values: new, replaced, equal, removed, kept from the earlier run. */
  added: number;
  changed: number;
  unchanged: number;
  removed: number;
  kept: number;
  /** Number of calls whose stored values are unknown. */
  unknown: number;
  /** The first entries of a dry run that change something. */
  rows: readonly ReplayRow[];
  /** The first reason for a failed call. */
  failure: string | null;
}

/** The progress at the start of a replay. */
export const NOTHING_REPLAYED: ReplayTally = {
  calls: 0,
  stored: 0,
  rejected: 0,
  failed: 0,
  added: 0,
  changed: 0,
  unchanged: 0,
  removed: 0,
  kept: 0,
  unknown: 0,
  rows: [],
  failure: null,
};

/** The chosen calls, oldest first; beyond 20,000 the newest. */
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

/** Replays the calls in steps and reports the progress after each; an abort takes effect after the present step. */
export async function replayInSteps(
  productId: string,
  callIds: readonly string[],
  dryRun: boolean,
  { signal, tell }: { signal: AbortSignal; tell: (tally: ReplayTally) => void },
): Promise<void> {
  let tally = NOTHING_REPLAYED;
  const atOnce = dryRun ? DRY_STEP : STEP;
  for (let at = 0; at < callIds.length && !signal.aborted; at += atOnce) {
    const step = { productId, callIds: callIds.slice(at, at + atOnce), dryRun };
    const { replayCalls: done } = await request(ReplayCalls, step);
    const rows = dryRun ? compareReplay(done.results, await storedOf(done.results)) : [];
    tally = {
      calls: tally.calls + done.calls,
      stored: tally.stored + done.stored,
      rejected: tally.rejected + done.rejected,
      failed: tally.failed + done.failed,
      added: tally.added + done.added,
      changed: tally.changed + done.changed,
      unchanged: tally.unchanged + done.unchanged,
      removed: tally.removed + done.removed,
      kept: tally.kept + done.kept,
      unknown: tally.unknown + done.unknown,
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
  // Show values as unknown if the comparison fails; the dry run itself is valid.
  return request(StoredValues, wanted).then(
    ({ history }) => history,
    () => null,
  );
}
