import { ProductSchema } from '../entities/product.ts';
import { RuleSchema } from '../entities/rule.ts';
import type { Change, Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { rowOf, type RuleRow } from '../rules/rule-rows.ts';

/** A rule that watches, with the id of its product and the revision by which all devices have been judged. */
export interface WatchingRule extends RuleRow {
  judgedRevision: number;
}

/** Key of a product → its enabled rules; products without are left out. */
export type Rules = ReadonlyMap<number, readonly WatchingRule[]>;

/** The enabled rules of all products, in memory; what changes is read again before the next use. */
export class RuleBook {
  readonly #database: Database;
  #listener = (): void => {};
  #hasNews = true;
  #looking: Promise<Rules> = Promise.resolve(new Map());
  readonly #byProduct = new Map<number, WatchingRule[]>();
  /** Ids of products whose rules may be others by now; null: all. */
  #changed: Set<string> | null = null;

  constructor(database: Database, cluster: Pick<Cluster, 'onChanged'>) {
    this.#database = database;
    cluster.onChanged((changes) => changes.forEach((change) => this.#follow(change)));
  }

  #follow(change: Change): void {
    if (change.kind === 'product') this.#changed?.add(change.id);
    else if (change.kind === 'everything' || change.kind === 'workspace') this.#changed = null;
    else return;
    this.#hasNews = true;
    this.#listener();
  }

  /** Calls the listener, of whom there is one, when rules may have changed. */
  onChanged(listener: () => void): void {
    this.#listener = listener;
  }

  /** Whether rules may have changed since the last call; true at first. */
  takeNews(): boolean {
    const hasNews = this.#hasNews;
    this.#hasNews = false;
    return hasNews;
  }

  /** The rules as they are by now, behind whoever reads them already. */
  present(): Promise<Rules> {
    const look = (): Promise<Rules> => this.#look();
    return (this.#looking = this.#looking.then(look, look));
  }

  async #look(): Promise<Rules> {
    const changed = this.#changed;
    if (changed?.size === 0) return this.#byProduct;
    this.#changed = new Set();
    try {
      await this.#read(changed);
    } catch (error) {
      this.#changed = null;
      throw error;
    }
    return this.#byProduct;
  }

  async #read(productIds: ReadonlySet<string> | null): Promise<void> {
    const em = this.#database.read();
    const where = productIds === null ? {} : { product: { id: { $in: [...productIds] } } };
    const rules = await em.find(
      RuleSchema,
      { enabled: true, ...where, product: { deletedAt: null, ...where.product } },
      { orderBy: { key: 'asc' } },
    );
    if (productIds === null) this.#byProduct.clear();
    else
      for (const { key } of await em.find(ProductSchema, { id: { $in: [...productIds] } }, { fields: ['key'] }))
        this.#byProduct.delete(key);
    for (const rule of rules) {
      const row = { ...rowOf(rule), judgedRevision: rule.judgedRevision };
      const known = this.#byProduct.get(row.productKey);
      if (known === undefined) this.#byProduct.set(row.productKey, [row]);
      else known.push(row);
    }
  }

  /** Reads the rules of all products again before the next use. */
  forget(): void {
    this.#changed = null;
  }
}
