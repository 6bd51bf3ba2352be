import { namedRows } from './named-rows.ts';

/** Limits of a `MemoryPool`; what is left out is unlimited. */
export interface PoolLimits {
  name: string;
  /** Maximum bytes overall. */
  maxBytes?: number;
  /** Maximum bytes of a tenant, and of a token, as a multiple of the free ones: alone 3 are three quarters, 1 is half. */
  timesFree?: number;
  timesFreePerToken?: number;
  /** Maximum bytes overall up to which the first item of a tenant fits, whatever others hold. */
  maxBytesWithFirsts?: number;
  maxBytesPerTenant?: number;
  maxBytesPerToken?: number;
  /** The error of what does not fit, or has to give way. */
  refusal?: string;
}

const MIB = 1_048_576;

/**
 * The table of all memory that several senders share until their work is done, with every bound. Caches are not in it:
 * they forget by themselves; nor are places (`files` of `LANES`), which a `MemoryPool` shares by the same rule. Rows
 * without `timesFree` have users that count by rules of their own; `loadedOverall` includes `loaded`.
 */
export const POOLS = namedRows({
  bodies: {
    holds: 'bodies and messages from their first piece until their answer; an address counts as a tenant',
    maxBytes: 128 * MIB,
    timesFree: 3,
    maxBytesWithFirsts: 128 * MIB,
    refusal: 'Too much is being sent to this server at once; send it again in a moment.',
  },
  requests: {
    holds: 'GraphQL requests that wait or run, as they are estimated: read JSON may take twenty times its length',
    maxBytes: 128 * MIB,
    timesFree: 3,
    timesFreePerToken: 1,
    maxBytesWithFirsts: 256 * MIB,
    refusal: 'Too many large operations of this token or workspace are waiting; send fewer of them at once.',
  },
  loaded: {
    holds: 'rows that running operations have loaded, and what is made of them',
    maxBytes: 96 * MIB,
    timesFree: 3,
    timesFreePerToken: 1,
    /** Maximum counted bytes per operation: beyond it others of its tenant lose nothing. */
    maxBytesCounted: 24 * MIB,
    /** Bytes up to which an operation never waits. */
    maxBytesUnasked: 2 * MIB,
    /** Maximum wait per operation, all in all. */
    maxWaitMs: 15_000,
    refusal:
      'Too many operations that load large amounts of data are running; send fewer of them at once, ask for smaller pages ("first") and shorter ' +
      'times, or leave long fields (body, run, metadata, dashboard) out of lists.',
  },
  loadedOverall: {
    holds: 'the same with uncounted bytes; beyond it the oldest goes on, and tenants that hold no more than their part',
    maxBytes: 192 * MIB,
  },
  subscriptions: {
    holds:
      'documents and variables of subscriptions for as long as they run: hours, in which they may have nothing to do',
    maxBytesPerConnection: 8 * MIB,
    maxBytesPerToken: 64 * MIB,
    maxBytesPerTenant: 256 * MIB,
    refusal: 'End some of them, use the same document for all, or name fewer devices in each.',
  },
  backlogs: {
    holds: 'unread events of slow subscribers of one feed; beyond it tenants with more than their part lose streams',
    maxBytes: 192 * MIB,
    maxBytesPerTenant: 64 * MIB,
    /** Maximum bytes of a tenant's streams that are not metered, as their readers keep up. */
    maxBytesUnmetered: 16 * MIB,
  },
  unreadAnswers: {
    holds: 'answers that clients have not taken yet; beyond it the address that leaves most loses connections',
    maxBytes: 128 * MIB,
  },
  decoderCalls: {
    holds:
      'calls that wait for decoders; a workspace may have what is free, a product what its workspace leaves of that',
    maxBytes: 192 * MIB,
  },
  commits: {
    holds: 'receipts that wait for their commit',
    maxBytes: 32 * MIB,
    maxValues: 200_000,
    refusal: 'Too much is waiting to be stored. Try again in a moment.',
  },
});
