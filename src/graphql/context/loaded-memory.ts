import type { Caller } from '../../scheduling/caller.ts';
import { Tally } from '../../scheduling/tally.ts';
import { AppError } from '../../errors.ts';
import type { Promised } from './promised.ts';

/** What operations that run may have together, in bytes as they are in memory, beside what each may have anyway. */
const MOST = 96 * 1_048_576;
/** With what goes beyond that: from then on the oldest alone goes on, and tenants that have no more than their part. */
const MOST_IN_ALL = 2 * MOST;
/** What a tenant has is at most so many times what it leaves free: three quarters, if it is alone; of a token once, half. */
const TIMES_FREE = 3;
/** Whoever has no more waits for nobody. */
const LITTLE = 2 * 1_048_576;
/** What one has beyond that leaves others of its tenant no less: it goes on whatever it has, if it is the tenant's first. */
const MOST_COUNTED = 24 * 1_048_576;
/** An operation waits so long, all in all. */
const WAIT_MS = 15_000;
/** Who waits may be gone. */
const LOOK_EVERY_MS = 500;

interface Waiting {
  bytes: number;
  goOn: () => void;
  refuse: (error: unknown) => void;
}

interface Tenant {
  /** Those that have more than a little, the oldest first. */
  readonly large: Set<OperationMemory>;
  /** It goes on in any case; the next is of another token, if any waits. */
  first: OperationMemory | null;
  readonly firstAt: Map<string, number>;
}

/** What all operations that run have loaded and made of it. */
export class LoadedMemory {
  readonly #tenants = new Map<string, Tenant>();
  readonly #ofTenants = new Tally();
  /** What they have beyond what is counted, too. */
  readonly #allOfTenants = new Tally();
  readonly #ofTokens = new Tally();
  readonly #waiting = new Set<OperationMemory>();
  #all = 0;
  #counted = 0;
  #firsts = 0;
  #timer: NodeJS.Timeout | null = null;

  /** In bytes. */
  get bytes(): number {
    return this.#all;
  }

  /** One more begins to run. `check`: throws what ended it; `neverWaits`: others wait for what it has. */
  open(party: Caller, check: () => void, neverWaits = false): OperationMemory {
    return new OperationMemory(this, { party, check, neverWaits });
  }

  /** Counts what one has more, or less. */
  count({ party, counted }: OperationMemory, bytes: number, countedBefore: number): void {
    const more = counted - countedBefore;
    this.#all += bytes;
    this.#counted += more;
    this.#ofTenants.add(party.tenant, more);
    this.#allOfTenants.add(party.tenant, bytes);
    this.#ofTokens.add(party.tokenId, more);
  }

  /** Whether one may have so many bytes more. */
  hasRoom(one: OperationMemory, bytes: number): boolean {
    if (one.bytes + bytes <= LITTLE) return true;
    const tenant = this.#tenantOf(one);
    tenant.first ??= this.#makeFirst(tenant, one);
    const isBeyondAll = this.#all + bytes > MOST_IN_ALL;
    const part = MOST_IN_ALL / this.#tenants.size;
    if (isBeyondAll && this.#allOfTenants.of(one.party.tenant) + bytes > part) return this.#isOldestFirst(one);
    if (tenant.first === one) return true;
    const more = Math.min(MOST_COUNTED, one.bytes + bytes) - one.counted;
    const free = MOST - this.#counted - more;
    const { tokenId, tenant: name } = one.party;
    return this.#ofTokens.of(tokenId) + more <= free && this.#ofTenants.of(name) + more <= TIMES_FREE * free;
  }

  /** One waits for room. */
  wait(one: OperationMemory): void {
    this.#waiting.add(one);
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#goOn();
    }, LOOK_EVERY_MS);
  }

  /** What one had is free. */
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

  /** Of those that go on in any case the one that began before the others. */
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

/** What one operation has loaded and made of it, until it is answered. */
export class OperationMemory {
  readonly no = (operations += 1);
  readonly party: Caller;
  readonly #all: LoadedMemory;
  readonly #check: () => void;
  readonly #neverWaits: boolean;
  #bytes = 0;
  #waiting: Waiting[] = [];
  /** Of those who wait side by side once. */
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

  /** What of it others of its tenant have less. */
  get counted(): number {
    return Math.min(this.#bytes, MOST_COUNTED);
  }

  /** So much more; with a negative one less. */
  add(bytes: number): void {
    if (this.#isOver) return;
    const before = this.counted;
    this.#bytes += bytes;
    this.#all.count(this, bytes, before);
  }

  /**
   * So many bytes more are its own, as soon as there is room for them. Throws what ended the operation meanwhile, and
   * OVERLOADED when it has waited for too long.
   */
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

  /** Those of it go on for which there is room by now; whether none waits any more. */
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

  /** It is answered: it has nothing any more, and loads nothing. */
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
