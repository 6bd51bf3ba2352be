import { namedRows } from './named-rows.ts';

/** Limits of a `Lane`; what is left out is unlimited. */
export interface LaneLimits {
  name: string;
  /** Maximum running overall, slow work not counted. */
  atOnce?: number;
  /** Maximum running per tenant and per token. */
  perTenant?: number;
  perToken?: number;
  /** Maximum running and waiting per token; beyond it work is refused. */
  maxUnfinished?: number;
  /** Time after which work counts as slow: no longer against `atOnce`. */
  slowAfterMs?: number;
  /** Whether slow work also stops counting for its tenant and token. */
  slowIsFree?: boolean;
  /** Work that has waited this long, with none ending meanwhile, starts beyond the capacity or is refused. */
  stalledMs?: number;
  /** The error of work beyond `maxUnfinished`. */
  refusal?: string;
}

/** Limits of an `EventLoopQueue`. */
export interface LoopLimits {
  name: string;
  /** Maximum time of such work before other work gets a turn. */
  maxTurnMs: number;
}

/** Limits of a `PenaltyBucket`. */
export interface PenaltyLimits {
  name: string;
  /** Maximum time charged and running before the tenant waits for others. */
  burstMs: number;
  /** Maximum cost running at once, even while no other tenant is active; unlimited if left out. */
  maxRunningMs?: number;
  /** The error when too much of a source waits. */
  refusal: string;
}

/** Places of which a tenant gets one fewer than all, and a token two. */
const shared = (atOnce: number): Required<Pick<LaneLimits, 'atOnce' | 'perTenant' | 'perToken'>> => ({
  atOnce,
  perTenant: Math.max(1, atOnce - 1),
  perToken: Math.max(1, atOnce - 2),
});

const OF_DATABASE = 'Too much of this token is waiting for the database; send less at once.';

/**
 * The table of everything that may wait, with all that decides who is next. Three rules hold in every row: tenants take
 * turns and each divides its turns among its tokens; whoever has used up its burst waits while others are active; and
 * each queue is bounded, or its entries are bounded where they come from.
 */
export const LANES = namedRows({
  // The event loop: ingest first.
  requests: {
    runs: 'requests that have come whole, one turn of the event loop after the other',
    /** Maximum time per turn of the event loop, and maximum requests begun in it. */
    maxTurnMs: 1,
    atOnce: 16,
    /** The same in a turn that has taken in a connection: libuv takes in one per turn, and more may wait. */
    atOnceBesideConnection: 2,
  },
  slices: { runs: 'the next 5 ms of long work of any kind' },
  operations: {
    runs: 'GraphQL operations, files and replays',
    /** Maximum running overall and per token; expensive work counts as `expensiveWeight`. */
    atOnce: 16,
    perToken: 4,
    expensiveWeight: 4,
    /** Places beyond that for callers within their burst, which do not wait for long work of other tenants. */
    reservedWithinBurst: 8,
    /** Places beyond those for inexpensive work of tenants that have nothing running. */
    reservedForFirst: 8,
    maxWaiting: 2_000,
    maxWaitingPerToken: 200,
    /** Used time from which a caller counts as heavy; below the burst, around which heavy callers stay. */
    heavyFromMs: 40,
    /** Burst before a caller is queued; maximum that is charged to it. */
    burstMs: 50,
    maxUsedMs: 2_000,
    /** Share of the time of a caller over its burst while others are active. */
    share: 0.15,
    /** Share of a caller that asks for one thing at a time, and for nothing in the background. */
    sequentialShare: 0.3,
    sequentialAfterMs: 250,
    /** Burst of a tenant over all its tokens. */
    tenantBurstMs: 500,
    /** Minimum share per tenant and per caller. */
    minShareOfTenant: 0.01,
    minShareOfCaller: 0.001,
  },
  overBurst: {
    runs: 'those of callers that have used up their burst',
    /** Share of all of them together. */
    shareOfAll: 0.6,
  },
  background: {
    runs: 'files and replays among them',
    /** Share of all of them together. */
    shareOfAll: 0.3,
    /** Factor on background time of a caller that is over its burst otherwise. */
    overBurstFactor: 2,
    /** Factor on the time of its database pieces, which run on other threads and processors. */
    pieceFactor: 0.25,
    /**
     * Maximum wait of background work for its own use, as its reader would give up; not while the tenant's callers have
     * less than `crowdedShare` each.
     */
    maxWaitMs: 10_000,
    crowdedShare: 0.01,
  },
  answers: { runs: 'pieces of long answers that are written', maxTurnMs: 4 },
  chartPlans: { runs: 'histories that are planned', maxTurnMs: 5 },
  deviceLists: { runs: 'device lists on SQLite', maxTurnMs: 4 },
  decoderOutputs: { runs: 'outputs of test runs that are told', maxTurnMs: 4 },
  tokenDevices: { runs: 'devices of tokens that are told', maxTurnMs: 5 },
  auditEntries: { runs: 'entries of the audit log that are told', maxTurnMs: 5 },
  statusPages: { runs: 'pages of devices whose status is read', maxTurnMs: 5 },
  endedSubscriptions: { runs: 'subscriptions that have ended and are forgotten', maxTurnMs: 5 },
  socketMessages: { runs: 'messages that came over WebSockets', maxTurnMs: 20 },
  socketPushes: { runs: 'events that are sent over WebSockets', maxTurnMs: 20 },
  forms: { runs: 'pieces of long forms that are read', maxTurnMs: 5 },
  serialNumbers: { runs: 'pieces of serial numbers that are read for decoders', maxTurnMs: 5 },
  longSearches: { runs: 'searches for latest values after their first part', maxTurnMs: 20 },

  // Databases.
  writes: {
    runs: 'values and calls on their way to the writer',
    /** Burst before a tenant is queued while others write. */
    burstMs: 50,
    /** Maximum cost of a write that is charged but never queued: some values of one device. */
    freeMs: 0.1,
    /** Maximum wait for what a tenant has used; beyond it writes are refused. */
    maxWaitMs: 10_000,
    /** Share of the time of a tenant over its burst while others write, and of all such tenants together. */
    share: 0.3,
    shareOfAll: 0.5,
    /** Maximum queued cost and writes per tenant; they are in memory. */
    maxWaitingMs: 1_000,
    maxWaiting: 1_000,
    /** Maximum cost started per look at the queue, even when the tenant is alone: others may come back. */
    maxStartedMs: 20,
  },
  sqliteCatalogue: {
    runs: 'look-ups in the SQLite file; a transaction has it alone',
    /** Maximum time of look-ups, and work on their rows, per turn of the event loop. */
    maxTurnMs: 5,
    /** Maximum wait of a look-up or a transaction before it is refused. */
    maxWaitMs: 8_000,
  },
  sqliteChanges: { runs: 'changes of the SQLite file beside the recorder', ...shared(1), stalledMs: 8_000 },
  postgresCatalogue: { runs: 'look-ups and transactions on PostgreSQL', ...shared(8) },
  postgresChanges: {
    runs: 'changes of readings on PostgreSQL beside the recorder',
    ...shared(4),
    slowAfterMs: 1_000,
    stalledMs: 2_000,
  },
  postgresReads: { runs: 'statements of a reading thread on PostgreSQL (not counted)', ...shared(8) },
  charts: {
    runs: 'charts and statistics, twice as many as there are reading threads',
    ...shared(4),
    slowAfterMs: 1_000,
    stalledMs: 5_000,
  },
  shortSearches: { runs: 'searches for latest values of few devices', ...shared(6) },
  deviceScans: {
    runs: 'device lists on PostgreSQL of callers that use much',
    atOnce: 2,
    perTenant: 1,
    maxUnfinished: 1_000,
    slowAfterMs: 2_000,
    refusal: OF_DATABASE,
  },
  callCounts: {
    runs: 'calls that are counted',
    atOnce: 1,
    perTenant: 1,
    maxUnfinished: 1_000,
    slowAfterMs: 2_000,
    refusal: OF_DATABASE,
  },
  callPages: {
    runs: 'pages of the call log for subscribers',
    atOnce: 2,
    perTenant: 1,
    maxUnfinished: 1_000,
    slowAfterMs: 2_000,
    refusal: OF_DATABASE,
  },
  filePages: {
    runs: 'pages of files and replays while others are active',
    atOnce: 1,
    perTenant: 1,
    maxUnfinished: 200,
    slowAfterMs: 2_000,
    refusal: OF_DATABASE,
  },
  endpointTests: {
    runs: 'tests of endpoints, which wait for an answer',
    perTenant: 4,
    maxUnfinished: 8,
    refusal: 'Too many tests of this token are waiting for an answer; send one after the other.',
  },
  mapTiles: {
    runs: 'tiles of maps that the tile server is asked for',
    ...shared(8),
    maxUnfinished: 200,
    refusal: 'Too many tiles of maps are waiting for this token; ask for fewer at once.',
  },
  mutations: {
    runs: 'mutations that have begun',
    perToken: 200,
    maxUnfinished: 200,
    refusal: OF_DATABASE,
  },

  // Processors and memory.
  unpacking: { runs: 'packed bodies that are unpacked', ...shared(3) },
  workspaceSerials: { runs: 'serial numbers of a workspace that are read', perTenant: 1 },
  yaml: {
    runs: 'configuration documents that are read or written as YAML',
    atOnce: 1,
    maxUnfinished: 20,
    refusal: 'Too many configuration documents of this token are waiting; send one after the other.',
  },
  passwords: {
    runs: 'passwords that are checked or set, one at a time',
    /** Maximum waiting to be checked, and the same to be set. */
    maxWaiting: 20,
    /** Pause after a hash, as a multiple of the time it took. */
    restFactor: 2,
  },
  decoders: {
    runs: 'calls that wait for a decoder process',
    /** Time without an end after which a waiting call is refused. */
    maxWaitMs: 10_000,
  },
  unknownDevices: {
    runs: 'calls of unknown devices, written in batches',
    /** Time between two batches of a tenant; maximum items and bytes per batch. */
    intervalMs: 200,
    maxBatch: 100,
    maxBatchBytes: 262_144,
    /** Maximum waiting items and bytes per tenant. */
    maxWaiting: 1_000,
    maxWaitingBytes: 4_194_304,
  },
  files: {
    runs: 'files under way in one direction; each holds pages in memory for as long as the client likes',
    atOnce: 16,
    /** Maximum places of a tenant as a multiple of the free ones; of a token once. */
    timesFree: 3,
    /** Maximum places overall, for tenants that have none: each gets its first. */
    atOnceWithFirsts: 64,
  },

  // Work that its sender's tenant pays for.
  longForms: {
    runs: 'long forms of webhooks',
    burstMs: 50,
    maxRunningMs: 10,
    refusal:
      'The webhooks of this workspace receive more long forms than their share of the server. Send fewer at once, or later.',
  },
  lookUps: {
    runs: 'values that decoders look up',
    burstMs: 50,
    /** Their answers may all arrive in one turn of the event loop. */
    maxRunningMs: 10,
    refusal:
      'The decoders of this workspace look up more than their share of the server. Look up fewer devices, or send less.',
  },
  refusedInput: {
    runs: 'bodies of tenants that send much that is refused',
    burstMs: 300,
    refusal:
      'Most of what this workspace sends is refused, and waits while others send. Look at the answers, send less.',
  },
});
