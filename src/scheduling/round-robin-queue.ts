import type { Caller } from './caller.ts';
import type { LaneCounts } from './lane-counts.ts';

interface Entry<Waiting> {
  waiting: Waiting;
  since: number;
}

/** Two-level round-robin queue: tenants take turns, and within each its tokens. */
export class RoundRobinQueue<Waiting> {
  /** By tenant, then by token; the next one first. */
  readonly #tenants = new Map<string, Map<string, Entry<Waiting>[]>>();
  readonly #counts: LaneCounts | null;
  /** Tenant that was served last. */
  #last: string | null = null;

  /** `counts`: those of the lane whose queue it is. */
  constructor(counts: LaneCounts | null = null) {
    this.#counts = counts;
  }

  get isEmpty(): boolean {
    return this.#tenants.size === 0;
  }

  add({ tenant, tokenId }: Caller, waiting: Waiting): void {
    let tokens = this.#tenants.get(tenant);
    if (tokens === undefined) this.#tenants.set(tenant, (tokens = new Map<string, Entry<Waiting>[]>()));
    const entry = { waiting, since: this.#counts?.begin() ?? 0 };
    const queue = tokens.get(tokenId);
    if (queue === undefined) tokens.set(tokenId, [entry]);
    else queue.push(entry);
  }

  /**
   * Removes the next entry: of the last tenant if it `stays`, else of the tenant after it; undefined: the queue is
   * empty.
   */
  take({ stays = false } = {}): Waiting | undefined {
    let first = this.#first();
    if (!stays && first !== undefined && first[0] === this.#last) first = this.#rotate(first);
    if (first === undefined) return undefined;
    const [tenant, tokens] = first;
    this.#last = tenant;
    return this.#takeFrom(tenant, tokens, tokens.keys().next().value!);
  }

  /**
   * Removes the next entry of the tenant with the least weight, and of its token with the least. Equals take turns;
   * Infinity excludes.
   */
  takeLeast(tenantWeight: (tenant: string) => number, tokenWeight: (tokenId: string) => number): Waiting | undefined {
    const found = leastOf(this.#tenants, ([tenant, tokens]) =>
      leastOf(tokens.keys(), tokenWeight) === null ? Infinity : tenantWeight(tenant),
    );
    if (found === null) return undefined;
    const [tenant, tokens] = found;
    const next = this.#takeFrom(tenant, tokens, leastOf(tokens.keys(), tokenWeight)!);
    if (tokens.size > 0) this.#rotate(found);
    return next;
  }

  #takeFrom(tenant: string, tokens: Map<string, Entry<Waiting>[]>, tokenId: string): Waiting {
    const queue = tokens.get(tokenId)!;
    const { waiting, since } = queue.shift()!;
    tokens.delete(tokenId);
    if (queue.length > 0) tokens.set(tokenId, queue);
    if (tokens.size === 0) this.#tenants.delete(tenant);
    this.#counts?.end(since);
    return waiting;
  }

  #first(): [string, Map<string, Entry<Waiting>[]>] | undefined {
    return this.#tenants.entries().next().value;
  }

  #rotate([tenant, tokens]: [string, Map<string, Entry<Waiting>[]>]):
    | [string, Map<string, Entry<Waiting>[]>]
    | undefined {
    this.#tenants.delete(tenant);
    this.#tenants.set(tenant, tokens);
    return this.#first();
  }
}

/** The first item with the least weight; null: there is none, or all weigh Infinity. */
function leastOf<Item>(items: Iterable<Item>, weigh: (item: Item) => number): Item | null {
  let [least, found]: [number, Item | null] = [Infinity, null];
  for (const item of items) {
    const weight = weigh(item);
    if (weight >= least) continue;
    [least, found] = [weight, item];
    // Nothing is less.
    if (weight === 0) break;
  }
  return found;
}
