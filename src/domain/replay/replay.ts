import { lruCache } from '../../scheduling/lru-cache.ts';
import { AppError, asAppError, badInput, conflict, notFound } from '../../errors.ts';
import { afterLong, type CallOutcome, type CallRunner, copyOutcome, cutBodyOutcome } from '../decoders/call-runner.ts';
import { requestOfCall } from '../decoders/decoder-request.ts';
import type { DecoderRun } from '../decoders/decoder-run.ts';
import { type FinishedRun, toDecoderRun } from '../decoders/finished-run.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import type { ReceiptTimes } from '../measurements/receipt-times.ts';
import { changed, type DeviceBatch, type Recorder, stillTakes } from '../measurements/recorder.ts';
import type { RuleBook } from '../alerts/rule-book.ts';
import { unjudged } from '../alerts/unjudged.ts';
import type { CallRow, MeasurementStore } from '../ports/store.ts';
import type { IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { Access } from '../access/access.ts';
import { noteChange } from '../access/audit-trail.ts';
import type { Authenticator } from '../accounts/authenticator.ts';
import type { Turns } from '../../scheduling/turns.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { CallFeed } from '../calls/call-feed.ts';
import type { StoredKeys } from '../moves/stored-keys.ts';
import { LoggedCall } from '../calls/logged-call.ts';
import { retryWhileOverloaded } from '../../scheduling/retry-while-overloaded.ts';
import { type ReplayQuery, replayPages } from './replay-pages.ts';
import { reasonIn } from '../calls/run-text.ts';
import { loggedRun } from '../calls/call-row.ts';
import { knownAfter, knownMeanwhile, sayingOf, withoutMoved } from '../calls/call-saying.ts';
import { countsOf, nothingYet, type ReplayCounts, type ReplayProgress } from '../calls/replay-counts.ts';
import { outcomeColumns } from '../calls/call-row.ts';
import { ReplayedValues, type ReplayStep } from '../calls/replayed-values.ts';
import { must } from '../../must.ts';

interface ReplayResult extends ReplayCounts {
  /** The first 1,000 calls, or 8 million characters of them, oldest first; the counts cover all. */
  results: { call: LoggedCall; run: DecoderRun }[];
}

interface ReplayDeps {
  authenticator: Pick<Authenticator, 'follow'>;
  ingestCache: IngestCache;
  store: MeasurementStore;
  keys: Pick<StoredKeys, 'left'>;
  recorder: Recorder;
  runner: CallRunner;
  feed: CallFeed;
  receiptTimes: ReceiptTimes;
  shares: FairScheduler;
  rules: Pick<RuleBook, 'present'>;
  now: () => number;
}

const AT_ONCE = 10;
/** Entries per step, and characters of a logged run, above which calls are replayed one at a time. */
const [MANY_ENTRIES, LONG_RUN] = [1_000, 65_536];
/** Maximum runs of calls whose devices keep changing, checks per run, and devices per look-up. */
const [MOST_RUNS, MOST_LOOKS, LOOKED_UP_AT_ONCE] = [10, 3, 500];
/** Maximum replays per token, below its 16 mutations: each may take hours, and must not delay the token's others. */
const MOST_OF_TOKEN = 4;
/** Maximum replays per workspace: each keeps its results and the calls in hand in memory. */
const MOST_OF_WORKSPACE = 8;
/** Price of a call on the event loop, and of storing some on the database and those who store beside it. */
const CALL_MS = 0.15;
const COMMITS_MS = 0.5;
/** Price of an entry. */
const ENTRY_MS = 0.005;
/** Share of a decoder's time that counts: it runs in a process of its own, but on the same processor. */
const DECODING_COUNTS = 0.5;
const MAX_RESULTS = 1_000;
const MAX_RESULT_CHARACTERS = 8_000_000;
/** Maximum products whose last early end is remembered. */
const MAX_ENDED_EARLY = 1_000;
/** Maximum entries of all results, beyond the first: the answer is put together in one piece. */
const MAX_RESULT_ENTRIES = 6_000;

/**
 * Runs logged calls through the active decoder and stores the result under their original receipt time (CONTRACT 5):
 * oldest first, page by page, so that memory stays bounded. The keys of measurements make it idempotent; values that the
 * new run does not give again are removed (`ReplayedValues`). `measurements` in decoders shows the values stored at the
 * time of the replay. Each call's outcome in the log is rewritten, and published to `webhookCalled`. A few calls at a
 * time, scheduled with others (CONTRACT 7, shares). Needs CONFIGURE, from the first commit to the last.
 */
export class Replay {
  readonly #deps: ReplayDeps;
  readonly #running = new Map<string, { tokenId: string; workspaceId: string; progress: ReplayProgress }>();
  readonly #endedEarly = lruCache<string, ReplayProgress>(MAX_ENDED_EARLY);
  #stopped = false;

  constructor(deps: ReplayDeps) {
    this.#deps = deps;
  }

  /**
   * CONFLICT while another replay of the product runs on this node, OVERLOADED while four of the token do, or eight of
   * the workspace. Ends early when its token is revoked or may not CONFIGURE the product any more. The details of an
   * early end hold its counts so far.
   */
  async replayCalls(access: Access, productId: string, query: ReplayQuery): Promise<ReplayResult> {
    const product = await visibleProduct(this.#deps.ingestCache, access, productId, 'CONFIGURE');
    const { from, to } = query;
    if (from != null && to != null && from >= to) throw badInput('"from" must be before "to".');
    if (product.decoder === null && product.deviceType === 'API')
      throw badInput('The product has no active decoder; save one first.');
    if (this.#running.has(product.id)) throw conflict('A replay of this product is running; wait until it is done.');
    const running = [...this.#running.values()];
    if (running.filter(({ tokenId }) => tokenId === access.tokenId).length >= MOST_OF_TOKEN)
      throw tooMany('token', MOST_OF_TOKEN);
    const { workspaceId } = product;
    if (running.filter((other) => other.workspaceId === workspaceId).length >= MOST_OF_WORKSPACE)
      throw tooMany('workspace', MOST_OF_WORKSPACE);
    const progress = {
      startedAt: this.#deps.now(),
      dryRun: query.dryRun === true,
      endedBecause: null,
      ...nothingYet(),
    };
    const accessNow = this.#deps.authenticator.follow(access);
    const asked = {
      turns: this.#deps.shares.backgroundOf(access),
      requireRight: async (): Promise<void> => (await accessNow()).requireProduct(product, 'CONFIGURE'),
    };
    this.#running.set(product.id, { tokenId: access.tokenId, workspaceId, progress });
    this.#endedEarly.delete(product.id);
    try {
      return await this.#replay(product, query, progress, asked);
    } catch (error) {
      throw this.#endEarly(product.id, progress, error);
    } finally {
      this.#running.delete(product.id);
    }
  }

  #endEarly(productId: string, progress: ReplayProgress, error: unknown): unknown {
    const known = asAppError(error);
    const endedBecause = known?.message ?? 'Internal error; the server’s log has the details.';
    this.#endedEarly.set(productId, { ...progress, endedBecause });
    if (known === null) return error;
    const details = { ...known.details, ...countsOf(progress) };
    return new AppError(known.code, known.message, { details, cause: known.cause });
  }

  /** Progress of the product's replay that runs on this node, or of its last one if that ended early; null: neither. */
  async progress(access: Access, productId: string): Promise<ReplayProgress | null> {
    const product = await visibleProduct(this.#deps.ingestCache, access, productId, 'READ');
    const progress = this.#running.get(product.id)?.progress ?? this.#endedEarly.get(product.id);
    return progress === undefined ? null : { ...progress };
  }

  /** Ends replays in progress after the calls in hand. */
  stop(): void {
    this.#stopped = true;
  }

  async #replay(
    product: ProductInfo,
    query: ReplayQuery,
    progress: ReplayProgress,
    { turns, requireRight }: Asked,
  ): Promise<ReplayResult> {
    const { ingestCache, store, receiptTimes } = this.#deps;
    const received = receiptTimes.latest(progress.startedAt);
    const results: ReplayResult['results'] = [];
    let [characters, entries, atOnce] = [0, 0, AT_ONCE];
    const values = new ReplayedValues(store, progress.dryRun);
    for await (const page of replayPages(store, product.key, query, received)) {
      for (let at = 0; at < page.length;) {
        await turns.next();
        // Read the product again: its fields, devices and decoder may change while a replay runs.
        const current = await ingestCache.product(product.id);
        if (current === null) throw notFound('product', product.id);
        const step = (page[at]?.run?.length ?? 0) > LONG_RUN ? 1 : Math.min(atOnce, stepOf(current));
        const before = entries;
        turns.spend((progress.dryRun ? 0 : COMMITS_MS) + Math.min(step, page.length - at) * CALL_MS);
        if (this.#stopped) throw new AppError('UNAVAILABLE', 'The server is stopping; replay the rest later.');
        const calls = page.slice(at, at + step);
        at += step;
        for (const { call, outcome, run, isUnknown } of await this.#run(current, calls, {
          values,
          isDry: progress.dryRun,
          requireRight,
        })) {
          turns.spend(run.durationMs * DECODING_COUNTS + run.entries.length * ENTRY_MS);
          progress.calls += 1;
          progress.stored += outcome.stored;
          progress.rejected += outcome.rejected;
          if (hasFailed(outcome)) progress.failed += 1;
          else if (isUnknown) progress.unknown += 1;
          characters += call.body.length + (call.run?.length ?? 0) + (run.output?.length ?? 0);
          for (const line of run.console) characters += line.length;
          entries += run.entries.length;
          const fits = characters <= MAX_RESULT_CHARACTERS && entries <= MAX_RESULT_ENTRIES;
          if (results.length >= MAX_RESULTS || (!fits && results.length > 0)) continue;
          // Yield first: parsing several outputs of a megabyte in one piece takes too long.
          await afterLong(run.output);
          results.push({ call: new LoggedCall(call), run: toDecoderRun(run) });
        }
        Object.assign(progress, values.counts);
        atOnce = entries - before > MANY_ENTRIES ? 1 : Math.min(2 * atOnce, AT_ONCE);
      }
    }
    return { ...countsOf(progress), results };
  }

  /**
   * Runs a few calls side by side, then stores their values, in order. When a device or field they write to is gone by
   * then, runs them again with the present product: a write to an absorbed device would be lost, although the log said
   * it was stored.
   */
  async #run(product: ProductInfo, calls: CallRow[], storing: Storing): Promise<Replayed[]> {
    let current: ProductInfo | null = product;
    for (let runs = 0; runs < MOST_RUNS; runs += 1) {
      const replayed = await this.#runOnce(current, calls, storing);
      if (replayed !== null) return replayed;
      current = await this.#deps.ingestCache.product(product.id);
      if (current === null) throw notFound('product', product.id);
    }
    throw changed();
  }

  /** Runs and stores the calls; null: a device or field is gone. */
  async #runOnce(
    product: ProductInfo,
    calls: CallRow[],
    { values, isDry, requireRight }: Storing,
  ): Promise<Replayed[] | null> {
    const { ingestCache, feed } = this.#deps;
    let seen = ingestCache.revision;
    const outcomes = await Promise.all(calls.map((call) => this.#runOne(product, call)));
    const said = calls.map((call, at) => sayingOf(product, call, must(outcomes[at])));
    const step = await values.next(await withoutMoved(said, this.#deps.keys, product.key));
    const replayed: Replayed[] = [];
    for (const [at, call] of calls.entries()) {
      const outcome = must(outcomes[at]);
      const run = outcome.run ?? NO_RUN;
      await afterLong(run.output);
      const decoderVersion = outcome.run === null ? null : (product.decoder?.version ?? null);
      const after = { ...call, status: outcome.status, decoderVersion, run: loggedRun(outcome) };
      if (outcome.run?.error === null) after.stored = knownAfter(call, outcome, must(step.retained[at]));
      // A cut body reveals nothing new: keep the log of the live call.
      const rewritten = isDry || call.bodyTruncated ? call : after;
      replayed.push({ call: rewritten, outcome, run, isUnknown: call.stored === null });
    }
    await requireRight();
    if (isDry) {
      step.end(0);
      return replayed;
    }
    noteChange();
    const found = outcomes.flatMap((outcome) => outcome.batches);
    const gone = conflict('A device or field that a call writes to is gone.');
    const requireAll = async (): Promise<void> => {
      await requireRight();
      for (let looks = 0; ingestCache.hasChanged(product, seen); looks += 1) {
        // Give up instead of checking for ever: the run starts again behind the others in the queue.
        if (looks === MOST_LOOKS) throw changed();
        const { revision } = ingestCache;
        if (!(await this.#allThere(found))) throw gone;
        seen = revision;
      }
    };
    const rewritten = replayed.map(({ call }) => call).filter(({ bodyTruncated }) => !bodyTruncated);
    try {
      step.end(await this.#store(step, calls, rewritten, { product, requireRight: requireAll }));
    } catch (error) {
      if (error === gone) return null;
      throw error;
    }
    for (const call of rewritten) feed.publish(product.id, call, true);
    return replayed;
  }

  /**
   * Stores the values and outcomes in one commit; very many values in several, with a first that logs the values of
   * either run.
   */
  async #store(
    { batches, removals, shared }: ReplayStep,
    before: readonly CallRow[],
    calls: CallRow[],
    whose: { product: ProductInfo; requireRight: () => Promise<void> },
  ): Promise<number> {
    const { recorder, rules, store } = this.#deps;
    const outcomes = calls.map(outcomeColumns);
    if (batches.length + removals.length + shared.length > 0) {
      const begun = before.filter(({ bodyTruncated }) => !bodyTruncated);
      const storedOf = (call: CallRow, at: number) => knownMeanwhile(call, must(calls[at]));
      const knowing = begun.map((call, at) => ({ ...outcomeColumns(call), stored: storedOf(call, at) }));
      const given = batches.map((batch) => ({ batch, productKey: whose.product.key }));
      const written = await unjudged(rules, given);
      return recorder.rewriteInTurns({ batches: written, removals, shared, calls: outcomes }, knowing, whose);
    }
    await retryWhileOverloaded(() => store.updateCalls(outcomes));
    return 0;
  }

  async #allThere(batches: readonly DeviceBatch[]): Promise<boolean> {
    for (let at = 0; at < batches.length; at += LOOKED_UP_AT_ONCE) {
      if (at > 0) await yieldToEventLoop();
      const some = batches.slice(at, at + LOOKED_UP_AT_ONCE);
      const present = await Promise.all(some.map(({ device }) => this.#deps.ingestCache.device(device.id)));
      const areThere = some.every(({ batch }, nth) => present[nth] != null && stillTakes(present[nth], batch));
      if (!areThere) return false;
    }
    return true;
  }

  async #runOne(product: ProductInfo, call: CallRow): Promise<CallOutcome> {
    if (call.bodyTruncated) return cutBodyOutcome();
    const copyOf = reasonIn(call.run)?.copyOf ?? null;
    if (copyOf !== null) return copyOutcome(copyOf);
    const source = product.decoder?.source ?? null;
    const [request, { receivedAt }] = [requestOfCall(call), call];
    return retryWhileOverloaded(() => this.#deps.runner.run({ product, source, request, receivedAt, counted: false }));
  }
}

/** The scheduling of a replay, and the check of its right, which rejects once that is lost. */
interface Asked {
  turns: Turns;
  requireRight: () => Promise<void>;
}

/** The state that a replay's calls share when they are stored. */
interface Storing extends Pick<Asked, 'requireRight'> {
  values: ReplayedValues;
  isDry: boolean;
}

interface Replayed {
  call: CallRow;
  outcome: CallOutcome;
  run: FinishedRun;
  /** True when the values it stored before were unknown. */
  isUnknown: boolean;
}

function hasFailed({ status }: CallOutcome): boolean {
  return status === 'DECODER_FAILED' || status === 'NO_DECODER';
}

function tooMany(whose: string, allowed: number): AppError {
  const message = `${allowed} replays of this ${whose} are running, which is as many as may; wait until one of them is done.`;
  return new AppError('OVERLOADED', message, { details: { allowed } });
}

const NO_RUN: FinishedRun = { output: null, console: [], error: null, durationMs: 0, entries: [], answer: null };

/** Calls run side by side; one if the decoder reads stored values, as it must see those of the call before. */
function stepOf(product: ProductInfo): number {
  return product.decoder?.source.includes('measurements') ? 1 : AT_ONCE;
}
