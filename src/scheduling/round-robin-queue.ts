import type { Caller } from './caller.ts';

/** Who waits for something: tenants take turns, and within each its tokens. Nobody stands behind the hundred of another. */
export class RoundRobinQueue<Waiting> {
  /** By tenant and then by token, the next one first. */
  readonly #tenants = new Map<string, Map<string, Waiting[]>>();
  /** The tenant that had its turn last. */
  #last: string | null = null;

  get isEmpty(): boolean {
    return this.#tenants.size === 0;
  }

  add({ tenant, tokenId }: Caller, waiting: Waiting): void {
    let tokens = this.#tenants.get(tenant);
    if (tokens === undefined) this.#tenants.set(tenant, (tokens = new Map<string, Waiting[]>()));
    const line = tokens.get(tokenId);
    if (line === undefined) tokens.set(tokenId, [waiting]);
    else line.push(waiting);
  }

  /** The next one: of the tenant that had the last one if it `stays`, else of the one behind it; undefined: nobody waits. */
  take({ stays = false } = {}): Waiting | undefined {
    let first = this.#first();
    if (!stays && first !== undefined && first[0] === this.#last) first = this.#passOn(first);
    if (first === undefined) return undefined;
    const [tenant, tokens] = first;
    this.#last = tenant;
    return this.#of(tenant, tokens, tokens.keys().next().value!);
  }

  /** The next one of the tenant that has least, and of its token that has: among equals in turns, none that has Infinity. */
  takeLeast(ofTenant: (tenant: string) => number, ofToken: (tokenId: string) => number): Waiting | undefined {
    const found = leastOf(this.#tenants, ([tenant, tokens]) =>
      leastOf(tokens.keys(), ofToken) === null ? Infinity : ofTenant(tenant),
    );
    if (found === null) return undefined;
    const [tenant, tokens] = found;
    const next = this.#of(tenant, tokens, leastOf(tokens.keys(), ofToken)!);
    if (tokens.size > 0) this.#passOn(found);
    return next;
  }

  #of(tenant: string, tokens: Map<string, Waiting[]>, tokenId: string): Waiting | undefined {
    const line = tokens.get(tokenId)!;
    const next = line.shift();
    tokens.delete(tokenId);
    if (line.length > 0) tokens.set(tokenId, line);
    if (tokens.size === 0) this.#tenants.delete(tenant);
    return next;
  }

  #first(): [string, Map<string, Waiting[]>] | undefined {
    return this.#tenants.entries().next().value;
  }

  #passOn([tenant, tokens]: [string, Map<string, Waiting[]>]): [string, Map<string, Waiting[]>] | undefined {
    this.#tenants.delete(tenant);
    this.#tenants.set(tenant, tokens);
    return this.#first();
  }
}

/** The first of those that weigh least; null: there is none, or all weigh Infinity. */
function leastOf<Item>(items: Iterable<Item>, weigh: (item: Item) => number): Item | null {
  let [least, found]: [number, Item | null] = [Infinity, null];
  for (const item of items) {
    const weight = weigh(item);
    if (weight >= least) continue;
    [least, found] = [weight, item];
    // There is nothing less.
    if (weight === 0) break;
  }
  return found;
}
