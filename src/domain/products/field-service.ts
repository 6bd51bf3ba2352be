import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { badInput, conflict, notFound } from '../../errors.ts';
import type { Cluster } from '../ports/cluster.ts';
import { forgetRemovedField } from '../measurements/forget-field.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { Suggestions } from '../measurements/suggestions.ts';
import { findProduct, lockPart, lockProduct } from '../access/find-product.ts';
import { checkOptionalText } from '../text/text.ts';
import type { Access } from '../access/access.ts';
import type { Product } from '../entities/product.ts';
import {
  type Field,
  FIELD_IDENTIFIER,
  type FieldRole,
  FieldSchema,
  type FieldType,
  keepsBooleans,
} from '../entities/field.ts';
import {
  checkNewField,
  FIELD_TEXTS,
  MAX_FIELDS_PER_PRODUCT,
  type NewField,
  roleTaken,
  tooManyFields,
} from './new-field.ts';
import { fieldId, fieldKeyOf } from './field-id.ts';
import { checkDisplay, keptDisplay } from './field-display.ts';
import { changedMeaning, type CheckedMeaning, type GivenMeaning } from './field-meaning.ts';
import { renameField, wasTaken } from './rename-field.ts';
import { requireUnwatched } from '../rules/rule-rows.ts';
import { FieldAliasSchema } from '../entities/field-alias.ts';
import type { FieldRemovals } from './field-removals.ts';
import { type SuggestedField, SuggestedFieldSchema } from '../entities/suggested-field.ts';

interface FieldServiceDeps {
  database: Database;
  cluster: Cluster;
  store: MeasurementStore;
  removals: FieldRemovals;
  /** Sightings of unknown identifiers, in memory until flushed. */
  suggestions: Pick<Suggestions, 'flush'>;
  now: () => number;
}

/** Left out: unchanged. null: cleared (the type and the meaning cannot be). */
interface FieldChange extends GivenMeaning {
  type?: FieldType | null;
  name?: string | null;
  unit?: string | null;
  description?: string | null;
  /** null: none. */
  role?: FieldRole | null;
  /** null: nothing is said. */
  display?: unknown;
}

/** Fields of products (CONTRACT 1). Clients know a field by its sealed key (`field-id`). */
export class FieldService {
  readonly #deps: FieldServiceDeps;

  constructor(deps: FieldServiceDeps) {
    this.#deps = deps;
  }

  /** Adds a field, valid for the next entry recorded, and deletes its suggestion. */
  async add(access: Access, productId: string, input: NewField): Promise<Field> {
    const checked = checkNewField(input, 'input');
    await this.#deps.suggestions.flush(productId);
    const field = await this.#deps.database.write(async (em) => {
      const product = await lockProduct(em, access, productId, 'CONFIGURE');
      const { identifier } = checked;
      const there = await em.findOne(FieldSchema, { product: product.key, identifier });
      if (there !== null)
        throw conflict(`input.identifier: the product already has a field "${identifier}".`, {
          existingId: fieldId(there.key),
        });
      const alias = await em.findOne(FieldAliasSchema, { product: product.key, identifier }, { populate: ['field'] });
      if (alias !== null) throw wasTaken('input.identifier', identifier, alias.field);
      if ((await em.count(FieldSchema, { product: product.key })) >= MAX_FIELDS_PER_PRODUCT) throw tooManyFields();
      await requireFreeRole(em, product.key, checked.role);
      await em.nativeDelete(SuggestedFieldSchema, { product: product.key, identifier });
      return em.create(FieldSchema, { product, ...checked });
    });
    await this.#changed(field);
    return field;
  }

  /**
   * Changes a field; the identifier never changes. Stored values keep their form. `dryRun`: returns the changed field,
   * with the same errors, and stores nothing.
   */
  async update(access: Access, id: string, change: FieldChange, dryRun: boolean): Promise<Field> {
    const field = await this.#deps.database.write(async (em) => {
      const found = await this.#part(em, access, id);
      if (change.type === null) throw badInput('input.type: a field needs a type; leave it out to keep it.');
      const type = change.type ?? found.type;
      const changed: Partial<Field> = { type, ...changedMeaning(meaningOf(found), { ...change, type }, 'input') };
      if (!isSameKind(type, found.type)) await requireUnwatched(em, { kind: 'field', ...partOf(found) });
      changed.wasBoolean = keepsBooleans(found, type);
      changed.display =
        change.display === undefined
          ? keptDisplay(type, found.display ?? null)
          : checkDisplay(type, change.display, 'input.display');
      for (const key of ['name', 'unit', 'description'] as const)
        if (change[key] !== undefined) changed[key] = checkOptionalText(change[key], `input.${key}`, FIELD_TEXTS[key]);
      if (change.role !== undefined && change.role !== found.role) {
        await requireFreeRole(em, found.product.key, change.role);
        changed.role = change.role;
      }
      return dryRun ? asChanged(found, changed) : Object.assign(found, changed);
    });
    if (!dryRun) await this.#changed(field);
    return field;
  }

  /** Gives a field another identifier; senders may go on under the present one (`renameField`). */
  async rename(access: Access, id: string, identifier: string): Promise<Field> {
    const { database, cluster, suggestions } = this.#deps;
    const { field, tokens } = await database.write(async (em) => {
      const found = await this.#part(em, access, id);
      return { id: found.product.id, field: found, tokens: await renameField(em, found, identifier) };
    });
    await suggestions.flush(field.product.id);
    await cluster.changed([
      { kind: 'product', id: field.product.id },
      ...tokens.map((token) => ({ kind: 'token' as const, id: token })),
    ]);
    return field;
  }

  /** Forgets an earlier identifier of a field, if it is one. */
  async removeAlias(access: Access, id: string, identifier: string): Promise<Field> {
    const field = await this.#deps.database.write(async (em) => {
      const found = await this.#part(em, access, id);
      if (FIELD_IDENTIFIER.test(identifier)) await em.nativeDelete(FieldAliasSchema, { field: found.key, identifier });
      return found;
    });
    await this.#changed(field);
    return field;
  }

  #part(em: EntityManager, access: Access, id: string): Promise<Field> {
    const key = fieldKeyOf(id);
    return lockPart(em, access, FieldSchema, { what: 'field', id, where: key === null ? null : { key } });
  }

  /** Removes a field with its measurements on every device of the product. */
  async remove(access: Access, id: string): Promise<string> {
    const { removals } = this.#deps;
    removals.requireRoom(access);
    const { field, after } = await this.#deps.database.write(async (em) => {
      const found = await this.#part(em, access, id);
      await requireUnwatched(em, { kind: 'field', ...partOf(found) });
      const removed = { fieldKey: found.key, productKey: found.product.key };
      const after = await forgetRemovedField(em, removed, this.#deps.now());
      await em.nativeDelete(FieldSchema, { key: found.key });
      return { field: found, after };
    });
    await this.#changed(field);
    void this.#deps.store.settlePurges();
    if (after !== null) removals.begin({ fieldKey: field.key, productKey: field.product.key, after, caller: access });
    return id;
  }

  /** Identifiers that were sent but are no field, most frequent first (CONTRACT 3). */
  async suggestions(access: Access, productId: string): Promise<SuggestedField[]> {
    await this.#deps.suggestions.flush(productId);
    const em = this.#deps.database.read();
    const product = await findProduct(em, access, productId, 'READ');
    // Another node may have stored a sighting from before the field was added.
    const fields = await em.execute<{ identifier: string }[]>('select identifier from field where product_key = ?', [
      product.key,
    ]);
    const known = new Set(fields.map(({ identifier }) => identifier));
    const orderBy = { seen: 'desc', identifier: 'asc' } as const;
    const rows = await em.find(SuggestedFieldSchema, { product: product.key, ignored: false }, { orderBy });
    return rows.filter((row) => !known.has(row.identifier));
  }

  /** Hides an identifier from the suggestions, or shows it again; it goes on being counted. Returns the product. */
  async ignoreSuggestion(access: Access, productId: string, identifier: string, ignore: boolean): Promise<Product> {
    await this.#deps.suggestions.flush(productId);
    return this.#deps.database.write(async (em) => {
      const product = await lockProduct(em, access, productId, 'CONFIGURE');
      const known = FIELD_IDENTIFIER.test(identifier);
      const row = known ? await em.findOne(SuggestedFieldSchema, { product: product.key, identifier }) : null;
      if (row === null) throw notFound('suggested field', identifier);
      row.ignored = ignore;
      return product;
    });
  }

  #changed(field: { product: { id: string } }): Promise<void> {
    return this.#deps.cluster.changed([{ kind: 'product', id: field.product.id }]);
  }
}

/** CONFLICT when another field of the product has the role. Lock the product first. */
async function requireFreeRole(em: EntityManager, productKey: number, role: FieldRole | null): Promise<void> {
  if (role === null) return;
  const holder = await em.findOne(FieldSchema, { product: productKey, role });
  if (holder !== null) throw roleTaken('input.role', role, holder.identifier, fieldId(holder.key));
}

function partOf({ key, identifier, product }: Field) {
  return { key, identifier, product };
}

/** Whether values of both types are compared alike. */
function isSameKind(type: FieldType, other: FieldType): boolean {
  const isNumber = (one: FieldType): boolean => one === 'FLOAT' || one === 'INTEGER';
  return type === other || (isNumber(type) && isNumber(other));
}

function meaningOf({ meaning, overflowAt }: Field): CheckedMeaning {
  return { meaning, overflowAt: overflowAt ?? null };
}

/** The changed field as a plain object, which is never stored. */
function asChanged(field: Field, changed: Partial<Field>): Field {
  const { key, identifier, type, name, unit, description, role, product } = field;
  const shown = { key, identifier, type, name, unit, description, role, product, ...meaningOf(field), ...changed };
  return shown as Field;
}
