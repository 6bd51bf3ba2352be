import { LockMode } from '@mikro-orm/core';
import type { Database } from '../database.ts';
import { FIELD_IDENTIFIER, type FieldType } from '../entities/field.ts';
import type { Rejection } from './entry.ts';
import { guessFieldType } from './field-value.ts';
import { ProductSchema } from '../entities/product.ts';
import { SuggestedFieldSchema } from '../entities/suggested-field.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';

const FLUSH_EVERY_MS = 2_000;
/** Identifiers that wait to be written: of one product, and of all; the more products, the fewer each. */
const MAX_WAITING_OF_PRODUCT = 1_000;
const MAX_WAITING = 10_000;
const MAX_PER_PRODUCT = 200;
const MAX_TEXT = 256;

/** Name and unit as a sender gave them beside a value. */
export interface SuggestionHint {
  name: string | null;
  unit: string | null;
}

interface Sighting {
  identifier: string;
  type: FieldType;
  lastValue: unknown;
  name: string | null;
  unit: string | null;
  seen: number;
  lastSeenAt: number;
}

/**
 * Counts identifiers that are no field of their product (CONTRACT 3). Collected in memory and written every few
 * seconds: they help an admin, they are no measurements. At most 200 identifiers are kept for a product; what is sent to
 * one product takes no room from another's.
 */
export class Suggestions {
  readonly #database: Database;
  /** Key of a product → identifier → what was seen of it. */
  readonly #waiting = new Map<number, Map<string, Sighting>>();
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> = Promise.resolve();

  constructor(database: Database) {
    this.#database = database;
    this.#timer = setInterval(() => void this.flush().catch(() => {}), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  /** Counts the identifier of a refused entry when that is why it was refused; `now` in ms UTC. */
  note(
    product: ProductInfo,
    { code }: Rejection,
    entry: unknown,
    now: number,
    hint: SuggestionHint | null = null,
  ): void {
    if (code !== 'UNKNOWN_FIELD') return;
    const { field: identifier, value } = entry as { field: string; value?: unknown };
    const type = suggestedType(identifier, value);
    if (type === null) return;
    let waiting = this.#waiting.get(product.key);
    if (waiting === undefined) this.#waiting.set(product.key, (waiting = new Map()));
    const known = waiting.get(identifier);
    if (known === undefined && waiting.size >= this.#share) return;
    waiting.set(identifier, {
      identifier,
      type: known === undefined ? type : typeForBoth(known.type, type),
      lastValue: shownValue(value) ?? known?.lastValue ?? null,
      name: hint?.name ?? known?.name ?? null,
      unit: hint?.unit ?? known?.unit ?? null,
      seen: (known?.seen ?? 0) + 1,
      lastSeenAt: now,
    });
  }

  /** How many of one product may wait. */
  get #share(): number {
    return Math.min(MAX_WAITING_OF_PRODUCT, Math.max(1, Math.floor(MAX_WAITING / this.#waiting.size)));
  }

  /** Everything noted so far is in the database when this resolves. */
  flush(): Promise<void> {
    if (this.#waiting.size > 0) {
      const byProduct = [...this.#waiting];
      this.#waiting.clear();
      this.#flushing = this.#flushing.catch(() => {}).then(() => this.#write(byProduct));
    }
    return this.#flushing;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #write(byProduct: [productKey: number, seen: Map<string, Sighting>][]): Promise<void> {
    // One after another: a hundred at once would wait for connections until some give up. A product deleted meanwhile must
    // not cost another product its counts.
    for (const [productKey, seen] of byProduct) await this.#writeProduct(productKey, seen).catch(() => {});
  }

  async #writeProduct(product: number, sightings: Map<string, Sighting>): Promise<void> {
    await this.#database.write(async (em) => {
      // Held, so that what several nodes have counted adds up.
      const lock = { fields: ['key'], lockMode: LockMode.PESSIMISTIC_WRITE } as const;
      if ((await em.findOne(ProductSchema, { key: product }, lock)) === null) return;
      const rows = await em.find(SuggestedFieldSchema, { product });
      const known = new Map(rows.map((row) => [row.identifier, row]));
      for (const sighting of sightings.values()) {
        const row = known.get(sighting.identifier);
        if (row !== undefined) {
          row.seen += sighting.seen;
          row.type = typeForBoth(row.type, sighting.type);
          row.lastValue = sighting.lastValue ?? row.lastValue ?? null;
          row.name = sighting.name ?? row.name ?? null;
          row.unit = sighting.unit ?? row.unit ?? null;
          row.lastSeenAt = sighting.lastSeenAt;
        } else if (known.size < MAX_PER_PRODUCT) {
          known.set(sighting.identifier, em.create(SuggestedFieldSchema, { product, ignored: false, ...sighting }));
        }
      }
    });
  }
}

/** The type of the field that could take this value; null: none can, or the name is no identifier. */
export function suggestedType(identifier: string, value: unknown): FieldType | null {
  const takes = typeof value !== 'object' || value === null;
  return takes && FIELD_IDENTIFIER.test(identifier) ? guessFieldType(value) : null;
}

/** A type that takes the values of both. */
function typeForBoth(a: FieldType, b: FieldType): FieldType {
  if (a === b) return a;
  const numeric = (type: FieldType): boolean => type === 'FLOAT' || type === 'BOOLEAN' || type === 'INTEGER';
  return numeric(a) && numeric(b) ? 'FLOAT' : 'STRING';
}

/** Small, and storable on both databases. */
function shownValue(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, MAX_TEXT).replaceAll('\0', '').toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'boolean' ? value : null;
}
