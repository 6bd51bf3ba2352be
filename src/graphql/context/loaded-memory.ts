import type { Caller } from '../../scheduling/caller.ts';
import { Tally } from '../../scheduling/tally.ts';
import { AppError } from '../../errors.ts';
import type { Promised } from './promised.ts';

/** Maximum bytes in memory of all running operations together, beyond what each may have anyway. */
const MOST = 96 * 1_048_576;
/** The same with uncounted bytes: above it only the oldest goes on, and tenants with no more than their part. */
const MOST_IN_ALL = 2 * MOST;
/** Maximum ratio of a tenant's memory to what it leaves free: three quarters, if it is alone; of a token one, half. */
const TIMES_FREE = 3;
/** An operation with no more never waits. */
const LITTLE = 2 * 1_048_576;
/** Maximum counted bytes per operation: beyond it others of its tenant lose nothing. */
const MOST_COUNTED = 24 * 1_048_576;
/** Maximum wait per operation, all in all. */
const WAIT_MS = 15_000;
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
  /** Bytes; counted ones are those up to MOST_COUNTED of each operation. */
  readonly #counted = { all: 0, ofTenants: new Tally(), ofTokens: new Tally() };
  readonly #whole = { all: 0, ofTenants: new Tally() };
  readonly #waiting = new Set<OperationMemory>();
  #firsts = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Bytes of all of it. */
  get bytes(): number {
    return this.#whole.all;
  }

  /** Opens an account for an operation. `check`: throws what ended it; `neverWaits`: others wait for what it has. */
  open(party: Caller, check: () => void, neverWaits = false): OperationMemory {
    return new OperationMemory(this, { party, check, neverWaits });
  }

  /** Counts what an operation has more, or less. */
  count({ party, counted }: OperationMemory, bytes: number, countedBefore: number): void {
    const more = counted - countedBefore;
    this.#whole.all += bytes;
    this.#whole.ofTenants.add(party.tenant, bytes);
    this.#counted.all += more;
    this.#counted.ofTenants.add(party.tenant, more);
    this.#counted.ofTokens.add(party.tokenId, more);
  }

  /** Whether an operation may have that many bytes more. */
  hasRoom(one: OperationMemory, bytes: number): boolean {
    if (one.bytes + bytes <= LITTLE) return true;
    const tenant = this.#tenantOf(one);
    tenant.first ??= this.#makeFirst(tenant, one);
    const isBeyondAll = this.#whole.all + bytes > MOST_IN_ALL;
    const part = MOST_IN_ALL / this.#tenants.size;
    if (isBeyondAll && this.#whole.ofTenants.of(one.party.tenant) + bytes > part) return this.#isOldestFirst(one);
    if (tenant.first === one) return true;
    const more = Math.min(MOST_COUNTED, one.bytes + bytes) - one.counted;
    const free = MOST - this.#counted.all - more;
    const { tokenId, tenant: name } = one.party;
    return (
      this.#counted.ofTokens.of(tokenId) + more <= free && this.#counted.ofTenants.of(name) + more <= TIMES_FREE * free
    );
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

  /** Frees what an operation had. */
  leave(one: OperationMemory): void {
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

let operations = 0;

/** Memory of one operation: what it has loaded and made of it, until it is answered. */
export class OperationMemory {
  readonly no = (operations += 1);
  readonly party: Caller;
  readonly #all: LoadedMemory;
  readonly #check: () => void;
  readonly #neverWaits: boolean;
  #bytes = 0;
  #waiting: Waiting[] = [];
  /** Waits that overlap count once. */
  #waitedMs = 0;
  #waitsSince = 0;
  #isOver = false;

  constructor(
    all: LoadedMemory,
    { party, check, neverWaits }: { party: Caller; check: () => void; neverWaits: boolean },
  ) {
    this.#all = all;
    this.party = party;
    this.#check = check;
    this.#neverWaits = neverWaits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The part that others of its tenant have less. */
  get counted(): number {
    return Math.min(this.#bytes, MOST_COUNTED);
  }

  /** Adds bytes; a negative number takes them off. */
  add(bytes: number): void {
    if (this.#isOver) return;
    const before = this.counted;
    this.#bytes += bytes;
    this.#all.count(this, bytes, before);
  }

  /** Adds the bytes when there is room for them. Throws what ended the operation, and OVERLOADED after WAIT_MS. */
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
    if (this.#isEnded() || this.#waitedMs > WAIT_MS) {
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
    this.add(-this.#bytes);
    this.#isOver = true;
    this.#refuse();
    this.#all.leave(this);
  }

  #isEnded(): boolean {
    try {
      this.#check();
      return false;
    } catch {
      return true;
    }
  }

  #refuse(): void {
    let error: unknown = this.#isOver ? over() : tooMuch();
    try {
      this.#check();
    } catch (ended) {
      error = ended;
    }
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }
}

function over(): AppError {
  return new AppError('UNAVAILABLE', 'This operation is answered already.');
}

function tooMuch(): AppError {
  return new AppError(
    'OVERLOADED',
    'Too many operations that load large amounts of data are running; send fewer of them at once, ask for smaller pages ("first") and shorter ' +
      'times, or leave long fields (body, run, metadata, dashboard) out of lists.',
  );
}
