import type { Caller } from '../../scheduling/caller.ts';
import { MemoryPool, type PoolItem } from '../../scheduling/memory-pool.ts';
import { POOLS } from '../../scheduling/pools.ts';
import { AppError } from '../../errors.ts';
import type { Promised } from './promised.ts';

const LIMITS = POOLS.loaded;
const MOST_IN_ALL = POOLS.loadedOverall.maxBytes;
/** A waiting operation may have ended meanwhile. */
const LOOK_EVERY_MS = 500;

interface Waiting {
  bytes: number;
  goOn: () => void;
  refuse: (error: unknown) => void;
}

interface Tenant {
  /** Operations that have more than a little, the oldest first. */
  readonly large: Set<OperationMemory>;
  /** Goes on in any case; the next is of another token, if any waits. */
  first: OperationMemory | null;
  readonly firstAt: Map<string, number>;
}

/** Counts what all running operations have loaded and made of it. */
export class LoadedMemory {
  readonly #tenants = new Map<string, Tenant>();
  readonly #counted = new MemoryPool(LIMITS);
  readonly #whole = new MemoryPool(POOLS.loadedOverall);
  readonly #waiting = new Set<OperationMemory>();
  #firsts = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Bytes of all of it. */
  get bytes(): number {
    return this.#whole.bytes;
  }

  /** Opens an account for an operation. `check`: throws what ended it; `neverWaits`: others wait for what it has. */
  open(party: Caller, check: () => void, neverWaits = false): OperationMemory {
    const [whole, counted] = [this.#whole.open(party), this.#counted.open(party)];
    return new OperationMemory(this, { party, whole, counted, check, neverWaits });
  }

  /** Counts what an operation has more, or less. */
  count({ whole, counted }: OperationMemory, bytes: number): void {
    this.#whole.grow(whole, bytes);
    this.#counted.grow(counted, Math.min(LIMITS.maxBytesCounted, whole.bytes) - counted.bytes);
  }

  /** Whether an operation may have that many bytes more. */
  hasRoom(one: OperationMemory, bytes: number): boolean {
    if (one.bytes + bytes <= LIMITS.maxBytesUnasked) return true;
    const tenant = this.#tenantOf(one);
    tenant.first ??= this.#makeFirst(tenant, one);
    const isBeyondAll = this.#whole.bytes + bytes > MOST_IN_ALL;
    const part = MOST_IN_ALL / this.#tenants.size;
    if (isBeyondAll && one.whole.tenant.bytes + bytes > part) return this.#isOldestFirst(one);
    if (tenant.first === one) return true;
    const more = Math.min(LIMITS.maxBytesCounted, one.bytes + bytes) - one.counted.bytes;
    return this.#counted.excess(one.counted, more) === null;
  }

  /** Keeps an operation until there is room. */
  wait(one: OperationMemory): void {
    this.#waiting.add(one);
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#goOn();
    }, LOOK_EVERY_MS);
  }

  /** Counts a refusal; returns its error, OVERLOADED. */
  refuse(): AppError {
    return this.#counted.refuse();
  }

  /** Frees what an operation had. */
  leave(one: OperationMemory): void {
    this.#whole.close(one.whole);
    this.#counted.close(one.counted);
    this.#waiting.delete(one);
    const tenant = this.#tenants.get(one.party.tenant);
    if (tenant?.large.delete(one)) {
      if (tenant.first === one) tenant.first = null;
      if (tenant.large.size === 0) this.#tenants.delete(one.party.tenant);
    }
    this.#goOn();
  }

  #tenantOf(one: OperationMemory): Tenant {
    const { tenant: name } = one.party;
    let tenant = this.#tenants.get(name);
    if (tenant === undefined) this.#tenants.set(name, (tenant = { large: new Set(), first: null, firstAt: new Map() }));
    tenant.large.add(one);
    return tenant;
  }

  #makeFirst({ firstAt }: Tenant, one: OperationMemory): OperationMemory {
    firstAt.set(one.party.tokenId, (this.#firsts += 1));
    return one;
  }

  /** Whether it began before all others that go on in any case. */
  #isOldestFirst(one: OperationMemory): boolean {
    for (const { first } of this.#tenants.values())
      if (first !== null && first !== one && first.no < one.no) return false;
    return this.#tenants.get(one.party.tenant)?.first === one;
  }

  #goOn(): void {
    for (const tenant of this.#tenants.values()) {
      if (tenant.first !== null) continue;
      let next: OperationMemory | null = null;
      const at = ({ party }: OperationMemory): number => tenant.firstAt.get(party.tokenId) ?? 0;
      for (const one of tenant.large) if (this.#waiting.has(one) && (next === null || at(one) < at(next))) next = one;
      if (next !== null) tenant.first = this.#makeFirst(tenant, next);
    }
    for (const one of this.#waiting) if (one.goOn()) this.#waiting.delete(one);
    for (const one of this.#waiting) return this.wait(one);
  }
}

/** An operation of a caller, and what it holds: all of it, and the part that others of its tenant have less. */
interface OperationParts {
  party: Caller;
  whole: PoolItem;
  counted: PoolItem;
  check: () => void;
  neverWaits: boolean;
}

let operations = 0;

/** Memory of one operation: what it has loaded and made of it, until it is answered. */
export class OperationMemory {
  readonly no = (operations += 1);
  readonly party: Caller;
  readonly whole: PoolItem;
  readonly counted: PoolItem;
  readonly #all: LoadedMemory;
  readonly #check: () => void;
  readonly #neverWaits: boolean;
  #waiting: Waiting[] = [];
  /** Waits that overlap count once. */
  #waitedMs = 0;
  #waitsSince = 0;
  #isOver = false;

  constructor(all: LoadedMemory, { party, whole, counted, check, neverWaits }: OperationParts) {
    this.#all = all;
    this.party = party;
    this.whole = whole;
    this.counted = counted;
    this.#check = check;
    this.#neverWaits = neverWaits;
  }

  get bytes(): number {
    return this.whole.bytes;
  }

  /** Adds bytes; a negative number takes them off. */
  add(bytes: number): void {
    if (!this.#isOver) this.#all.count(this, bytes);
  }

  /** Adds the bytes when there is room for them. Throws what ended the operation, and OVERLOADED after its maximum wait. */
  room(bytes: number): Promised<void> {
    if (this.#isOver) throw over();
    if (this.#neverWaits || (this.#waiting.length === 0 && this.#all.hasRoom(this, bytes))) {
      this.add(bytes);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (this.#waiting.length === 0) this.#waitsSince = performance.now();
    this.#waiting.push({ bytes, goOn: resolve, refuse: reject });
    this.#all.wait(this);
    return promise;
  }

  /** Lets its waits go on while there is room; whether none is left. */
  goOn(): boolean {
    const now = performance.now();
    this.#waitedMs += now - this.#waitsSince;
    this.#waitsSince = now;
    if (this.#endedBy() !== null || this.#waitedMs > LIMITS.maxWaitMs) {
      this.#refuse();
      return true;
    }
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#all.hasRoom(this, next.bytes)) return false;
      this.#waiting.shift();
      this.add(next.bytes);
      next.goOn();
    }
    return true;
  }

  /** Frees everything: the operation is answered, and loads nothing any more. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#refuse();
    this.#all.leave(this);
  }

  /** The error that ended it; null: it goes on. */
  #endedBy(): unknown {
    try {
      this.#check();
      return null;
    } catch (error) {
      return error;
    }
  }

  #refuse(): void {
    if (this.#waiting.length === 0) return;
    const error = this.#endedBy() ?? (this.#isOver ? over() : this.#all.refuse());
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }
}

function over(): AppError {
  return new AppError('UNAVAILABLE', 'This operation is answered already.');
}
