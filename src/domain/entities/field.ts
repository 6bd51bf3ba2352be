import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';

/** The types that a field can have (CONTRACT 1). */
export const FIELD_TYPES = ['FLOAT', 'INTEGER', 'BOOLEAN', 'STRING', 'GEOLOCATION'] as const;

/** The type of a field, which decides how values are read (CONTRACT 3). */
export type FieldType = (typeof FIELD_TYPES)[number];

/** Roles of fields in a list of mixed products (contract `FieldRole`). */
export const FIELD_ROLES = ['PRIMARY', 'SECONDARY', 'BATTERY', 'SIGNAL', 'LOCATION'] as const;
/** One of `FIELD_ROLES`. */
export type FieldRole = (typeof FIELD_ROLES)[number];

/** Kinds of numbers, which aggregations follow (CONTRACT 7, Meaning). */
export const FIELD_MEANINGS = ['GAUGE', 'COUNTER', 'TOTAL', 'ANGLE', 'STATE'] as const;
/** One of `FIELD_MEANINGS`. */
export type FieldMeaning = (typeof FIELD_MEANINGS)[number];

/** The texts that describe a field to people. */
export interface FieldWords {
  name?: string | null | undefined;
  unit?: string | null | undefined;
  description?: string | null | undefined;
  role?: FieldRole | null | undefined;
  /** The look of its values as JSON text (`checkDisplay`). */
  display?: string | null | undefined;
}

/** The type by which a stored value is read. */
export interface ReadAs {
  type: FieldType;
  /** A STRING that was a BOOLEAN before. */
  wasBoolean?: boolean | undefined;
}

/** Whether the numbers stored for a field are true and false also under a type that it gets. */
export function keepsBooleans({ type, wasBoolean }: ReadAs, next: FieldType): boolean {
  return next === type ? wasBoolean === true : next === 'STRING' && type === 'BOOLEAN';
}

/** The kind of a field's numbers, and where a COUNTER begins again from 0; left out: GAUGE, and nowhere. */
export interface Meant {
  meaning?: FieldMeaning | undefined;
  overflowAt?: number | null | undefined;
}

/** CONTRACT 1: 1 to 64 characters, matched exactly. */
export const FIELD_IDENTIFIER = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A measured quantity of a product's devices, with identifier and type. `key` is the small number that measurements
 * carry, and the id that clients see.
 */
export const FieldSchema = defineEntity({
  name: 'Field',
  tableName: 'field',
  uniques: [{ properties: ['product', 'identifier'] }, { properties: ['product', 'role'] }],
  properties: {
    key: p.integer().primary().autoincrement(),
    product: () => p.manyToOne(ProductSchema).deleteRule('cascade'),
    identifier: p.string().length(64),
    type: p.string().length(12).$type<FieldType>(),
    name: p.string().length(200).nullable(),
    unit: p.string().length(50).nullable(),
    description: p.text().nullable(),
    /** Unique within a product. */
    role: p.string().length(10).$type<FieldRole>().nullable(),
    meaning: p.string().length(10).$type<FieldMeaning>().default('GAUGE'),
    /** COUNTER only: the number at which it begins again from 0. */
    overflowAt: p.double().$type<number>().nullable(),
    /** A STRING that was a BOOLEAN before: numbers stored for it are its true and false. */
    wasBoolean: p.boolean().default(false),
    /** The look of its values: JSON text in its one form (`checkDisplay`). */
    display: p.text().nullable(),
  },
});

/** A field of a product as a row. */
export type Field = InferEntity<typeof FieldSchema>;
