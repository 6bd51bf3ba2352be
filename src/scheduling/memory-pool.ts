import { AppError } from '../errors.ts';
import type { Caller } from './caller.ts';
import { type PoolCounts, poolCountsOf } from './pool-counts.ts';
import type { PoolLimits } from './pools.ts';
import { SharedBytes } from './shared-bytes.ts';

/** A part that several items may have in common; it counts once. */
interface Shared {
  readonly bytes: number;
}

/** Sum of a tenant's items, of a token's, or of all. */
class Account extends SharedBytes<Shared> {
  readonly name: string;
  items = 0;
  /** Those that may give way, the oldest first. */
  evictable: Set<PoolItem> | null = null;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

/** An item that is held in a pool. */
export interface PoolItem {
  readonly tenant: Account;
  /** null: the pool has no bound for tokens. */
  readonly token: Account | null;
  readonly shared: Shared | null;
  /** Bytes that it does not share. */
  bytes: number;
  /** Called when it has to give way; null: it cannot. */
  giveWay: (() => void) | null;
  isOpen: boolean;
}

const UNLIMITED = {
  maxBytes: Infinity,
  timesFree: Infinity,
  timesFreePerToken: Infinity,
  maxBytesWithFirsts: 0,
  maxBytesPerTenant: Infinity,
  maxBytesPerToken: Infinity,
  refusal: 'Too much waits in memory; send less at once.',
};

/**
 * Bounds what waits in memory by a dynamic threshold: a tenant holds at most a multiple of what is free, a token
 * another, and the first item of a tenant fits up to a bound of its own; so there is room for whoever comes later. Its
 * row of `POOLS` has its limits. What does not fit is refused, waits, or lets others give way: its user decides.
 */
export class MemoryPool {
  readonly #limits: Required<PoolLimits>;
  readonly #counts: PoolCounts;
  readonly #all = new Account('');
  readonly #tenants = new Map<string, Account>();
  /** null: the pool has no bound for them. */
  readonly #tokens: Map<string, Account> | null;

  constructor(limits: PoolLimits) {
    this.#limits = { ...UNLIMITED, ...limits };
    this.#counts = poolCountsOf(limits.name);
    this.#tokens = (limits.timesFreePerToken ?? limits.maxBytesPerToken) === undefined ? null : new Map();
  }

  get bytes(): number {
    return this.#all.bytes;
  }

  /** Adds an item that has no bytes yet but those that it shares. */
  open({ tenant, tokenId }: Caller, shared: Shared | null = null): PoolItem {
    const item: PoolItem = {
      tenant: opened(this.#tenants, tenant),
      token: this.#tokens && opened(this.#tokens, tokenId),
      shared,
      bytes: 0,
      giveWay: null,
      isOpen: true,
    };
    if (shared !== null) this.#share(item, shared, 'add');
    return item;
  }

  /** Adds an item of that many bytes. Throws OVERLOADED if it does not fit. */
  enter(caller: Caller, bytes: number, shared: Shared | null = null): PoolItem {
    const item = this.open(caller, shared);
    if (!this.fits(item, bytes)) {
      this.close(item);
      throw this.refuse();
    }
    this.grow(item, bytes);
    return item;
  }

  /** The item has that many bytes more of its own, or less. */
  grow(item: PoolItem, bytes: number): void {
    item.bytes += bytes;
    item.tenant.grow(bytes);
    item.token?.grow(bytes);
    this.#all.grow(bytes);
    this.#counts.bytes += bytes;
  }

  /** Removes the item and all that it holds, once. */
  close(item: PoolItem): void {
    if (!item.isOpen) return;
    item.isOpen = false;
    const { tenant, token, shared } = item;
    this.grow(item, -item.bytes);
    if (shared !== null) this.#share(item, shared, 'remove');
    tenant.evictable?.delete(item);
    closed(this.#tenants, tenant);
    if (this.#tokens !== null && token !== null) closed(this.#tokens, token);
  }

  /** Whether an item may have that many bytes more: as the only one of its tenant, or within its shares. */
  fits(item: PoolItem, more = 0): boolean {
    const isFirst = item.tenant.items <= 1;
    if (isFirst && this.#all.bytes + more <= this.#limits.maxBytesWithFirsts) return true;
    return this.excess(item, more) === null;
  }

  /** Whose share an item would pass with that many bytes more; null: none. */
  excess({ tenant, token }: PoolItem, more = 0): 'token' | 'tenant' | null {
    const limits = this.#limits;
    const free = limits.maxBytes - this.#all.bytes - more;
    if (token !== null) {
      const ofToken = token.bytes + more;
      if (ofToken > limits.timesFreePerToken * free || ofToken > limits.maxBytesPerToken) return 'token';
    }
    const ofTenant = tenant.bytes + more;
    return ofTenant > limits.timesFree * free || ofTenant > limits.maxBytesPerTenant ? 'tenant' : null;
  }

  /** Says what lets the item give way to others, which it does from now on; null: nothing. */
  mayGiveWay(item: PoolItem, giveWay: (() => void) | null): void {
    const { tenant } = item;
    item.giveWay = giveWay;
    if (giveWay === null) tenant.evictable?.delete(item);
    else (tenant.evictable ??= new Set()).add(item);
  }

  /**
   * Lets an item give way to the given one: the oldest of the tenant that holds most, of those that hold no less than
   * its own tenant; false: none can.
   */
  evictLargest({ tenant }: PoolItem): boolean {
    let largest = tenant;
    for (const other of this.#tenants.values())
      if (other.evictable !== null && other.evictable.size > 0 && other.bytes >= largest.bytes) largest = other;
    for (const item of largest.evictable ?? []) {
      this.close(item);
      this.#counts.evicted += 1;
      item.giveWay?.();
      return true;
    }
    return false;
  }

  /** Counts a refusal; returns its error, OVERLOADED. */
  refuse(message = this.#limits.refusal): AppError {
    this.#counts.refused += 1;
    return new AppError('OVERLOADED', message);
  }

  #share({ tenant, token }: PoolItem, shared: Shared, change: 'add' | 'remove'): void {
    const before = this.#all.bytes;
    for (const account of [this.#all, tenant, token]) account?.[change](shared, shared.bytes, 0);
    this.#counts.bytes += this.#all.bytes - before;
  }
}

function opened(accounts: Map<string, Account>, name: string): Account {
  let account = accounts.get(name);
  if (account === undefined) accounts.set(name, (account = new Account(name)));
  account.items += 1;
  return account;
}

function closed(accounts: Map<string, Account>, account: Account): void {
  account.items -= 1;
  if (account.items === 0) accounts.delete(account.name);
}
