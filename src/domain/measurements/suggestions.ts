import { type EntityManager, LockMode } from '@mikro-orm/sql';
import type { Database, Dialect } from '../ports/database.ts';
import { addedUp, rowsOf } from '../sql/json-rows.ts';
import type { FieldType } from '../entities/field.ts';
import type { Rejection } from './entry.ts';
import { guessFieldType } from './field-value.ts';
import { ProductSchema } from '../entities/product.ts';
import { RoundRobinQueue } from '../../scheduling/round-robin-queue.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { usableIdentifier } from '../entities/name-path.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { Tally } from '../../scheduling/tally.ts';

const FLUSH_EVERY_MS = 2_000;
/** Identifiers that wait to be written: of one product … */
const MAX_WAITING_OF_PRODUCT = 1_000;
/** … and of all, of which tenants have equal parts, and within each its products, of which no more wait than it has room. */
const MAX_WAITING = 10_000;
/** Kept of a product. */
const MAX_PER_PRODUCT = 200;
const MAX_TEXT = 256;
/** Of what only nulls were sent for. */
const USUAL_TYPE: FieldType = 'FLOAT';
const NUMERIC: readonly FieldType[] = ['FLOAT', 'BOOLEAN', 'INTEGER'];

/** Name and unit as a sender gave them beside a value. */
export interface SuggestionHint {
  name: string | null;
  unit: string | null;
}

interface Sighting {
  identifier: string;
  /** null: no value so far says anything of it. */
  type: FieldType | null;
  /** null if `type` is. */
  lastValue: unknown;
  name: string | null;
  unit: string | null;
  seen: number;
  lastSeenAt: number;
}

interface Waiting {
  key: number;
  caller: Caller;
  /** By identifier. */
  sightings: Map<string, Sighting>;
}

/**
 * Counts identifiers that are no field of their product (CONTRACT 3). Collected in memory and written every few
 * seconds: they help an admin, they are no measurements. At most 200 identifiers are kept for a product; what is sent to
 * one product takes no room from another tenant's.
 */
export class Suggestions {
  readonly #database: Database;
  /** By id of the product. */
  readonly #waiting = new Map<string, Waiting>();
  /** How many products of each workspace are there. */
  readonly #waitingOf = new Tally();
  /** By id of the product, one at a time. */
  readonly #writing = new Map<string, Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void> | null = null;

  constructor(database: Database) {
    this.#database = database;
    this.#timer = setInterval(() => void this.flushAll(), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  /**
   * Counts the identifier of a refused entry when that is why it was refused, and not that the token is limited to other
   * fields; `now` in ms UTC.
   */
  note(
    product: ProductInfo,
    { code }: Rejection,
    entry: unknown,
    now: number,
    hint: SuggestionHint | null = null,
  ): void {
    if (code !== 'UNKNOWN_FIELD' || product.whole !== undefined) return;
    const { field, value } = entry as { field: string; value?: unknown };
    const suggested = suggestedField(product, field, value);
    if (suggested === null) return;
    const { identifier } = suggested;
    const type = guessFieldType(value);
    const sightings = this.#waitingFor(product);
    const known = sightings?.get(identifier);
    if (sightings === null || (known === undefined && sightings.size >= this.#share(product))) return;
    sightings.set(identifier, {
      identifier,
      type: typeForBoth(known?.type ?? null, type),
      lastValue: (type === null ? null : shownValue(value)) ?? known?.lastValue ?? null,
      name: hint?.name ?? known?.name ?? null,
      unit: hint?.unit ?? known?.unit ?? null,
      seen: (known?.seen ?? 0) + 1,
      lastSeenAt: now,
    });
  }

  /** Null: too many others of its tenant wait. */
  #waitingFor(product: ProductInfo): Waiting['sightings'] | null {
    const { id, workspaceId } = product;
    const known = this.#waiting.get(id);
    if (known !== undefined) return known.sightings;
    const others = this.#waitingOf.of(workspaceId);
    if (others > 0 && others >= MAX_WAITING / this.#waitingOf.size) return null;
    const sightings: Waiting['sightings'] = new Map();
    this.#waiting.set(id, { key: product.key, caller: { tokenId: id, tenant: workspaceId }, sightings });
    this.#waitingOf.add(workspaceId, 1);
    return sightings;
  }

  /** How many of one product may wait. */
  #share({ workspaceId }: ProductInfo): number {
    const ofTenant = MAX_WAITING / this.#waitingOf.size;
    return Math.min(MAX_WAITING_OF_PRODUCT, Math.max(1, Math.floor(ofTenant / this.#waitingOf.of(workspaceId))));
  }

  /** What has been noted of the product so far is in the database when this resolves, if the database takes it. */
  async flush(productId: string): Promise<void> {
    const id = productId.toLowerCase();
    // What is under way does not have all of it; what somebody else who has waited for that begins has.
    await this.#writing.get(id);
    await (this.#writing.get(id) ?? this.#begin(id));
  }

  /** The same of all products, tenants in turns. What is noted once its product is written waits for the next round. */
  flushAll(): Promise<void> {
    this.#round ??= this.#writeAll().finally(() => (this.#round = null));
    return this.#round;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
    await this.flushAll();
  }

  async #writeAll(): Promise<void> {
    const line = new RoundRobinQueue<Caller>();
    for (const { caller } of this.#waiting.values()) line.add(caller, caller);
    // One after another: a hundred at once would wait for connections until some give up.
    for (let caller = line.take(); caller !== undefined; caller = line.take()) {
      await yieldToEventLoop(caller);
      await this.flush(caller.tokenId);
    }
  }

  async #begin(id: string): Promise<void> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    this.#waitingOf.add(waiting.caller.tenant, -1);
    // What the database does not take is not counted.
    const written = this.#write(waiting).catch(() => {});
    this.#writing.set(id, written);
    await written;
    this.#writing.delete(id);
  }

  #write({ key, caller, sightings }: Waiting): Promise<void> {
    const { dialect } = this.#database;
    return this.#database.write(async (em) => {
      // Held, so that what several nodes have counted adds up. It may be deleted meanwhile.
      const lock = { fields: ['key'], lockMode: LockMode.PESSIMISTIC_WRITE } as const;
      if ((await em.findOne(ProductSchema, { key }, lock)) === null) return;
      const rows = await em.execute<{ identifier: string }[]>(
        'select identifier from suggested_field where product_key = ?',
        [key],
      );
      const known = new Set(rows.map(({ identifier }) => identifier));
      let room = MAX_PER_PRODUCT - known.size;
      const counted = [...sightings.values()].filter(({ identifier }) => known.has(identifier) || room-- > 0);
      if (counted.length > 0) await countSightings(em, dialect, key, counted);
    }, caller);
  }
}

/** In one statement, however many they are. */
async function countSightings(em: EntityManager, dialect: Dialect, key: number, seen: Sighting[]): Promise<void> {
  const rows = seen.map(({ identifier, type, lastValue, name, unit, seen: times, lastSeenAt }) => [
    identifier,
    type ?? USUAL_TYPE,
    lastValue === null ? null : JSON.stringify(lastValue),
    name,
    unit,
    times,
    lastSeenAt,
  ]);
  const isSqlite = dialect === 'sqlite';
  const numeric = (of: string): string => `${of}.type in (${NUMERIC.map((type) => `'${type}'`).join(', ')})`;
  await em.execute(
    'insert into suggested_field (product_key, identifier, type, last_value, name, unit, seen, ignored, last_seen_at) ' +
      `select ?, value->>0, value->>1, ${isSqlite ? 'value->>2' : 'cast(value->>2 as jsonb)'}, value->>3, value->>4, ` +
      `cast(value->>5 as integer), ${isSqlite ? '0' : 'false'}, cast(value->>6 as bigint) from ${rowsOf(dialect)} ` +
      // SQLite takes "on" for a join's without the condition.
      'where true on conflict (product_key, identifier) do update set type = case ' +
      // Without a value nothing is said of the type.
      'when suggested_field.type = excluded.type or suggested_field.last_value is null then excluded.type ' +
      'when excluded.last_value is null then suggested_field.type ' +
      `when ${numeric('suggested_field')} and ${numeric('excluded')} then 'FLOAT' else 'STRING' end, ` +
      'last_value = coalesce(excluded.last_value, suggested_field.last_value), ' +
      'name = coalesce(excluded.name, suggested_field.name), unit = coalesce(excluded.unit, suggested_field.unit), ' +
      `seen = ${addedUp('suggested_field', 'seen')}, last_seen_at = excluded.last_seen_at`,
    [key, JSON.stringify(rows)],
    'run',
  );
}

/**
 * The field that could take this value, under an identifier that can be one (`usableIdentifier`); null: none can, or the
 * product has it under that.
 */
export function suggestedField(
  { fields }: Pick<ProductInfo, 'fields'>,
  name: string,
  value: unknown,
): { identifier: string; type: FieldType } | null {
  if (typeof value === 'object' && value !== null) return null;
  const identifier = usableIdentifier(name);
  if (identifier === null || (identifier !== name && fields.has(identifier))) return null;
  return { identifier, type: guessFieldType(value) ?? USUAL_TYPE };
}

/** A type that takes the values of both. */
function typeForBoth(a: FieldType | null, b: FieldType | null): FieldType | null {
  if (a === null || b === null || a === b) return a ?? b;
  return NUMERIC.includes(a) && NUMERIC.includes(b) ? 'FLOAT' : 'STRING';
}

/** Small, and storable on both databases. */
function shownValue(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, MAX_TEXT).replaceAll('\0', '').toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'boolean' ? value : null;
}
