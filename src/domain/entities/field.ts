import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';

/** The types that a field can have (CONTRACT 1). */
export const FIELD_TYPES = ['FLOAT', 'INTEGER', 'BOOLEAN', 'STRING', 'GEOLOCATION'] as const;

/** The type of a field, which decides how values are read (CONTRACT 3). */
export type FieldType = (typeof FIELD_TYPES)[number];

/** What a field stands for in a list of mixed products (contract `FieldRole`). */
export const FIELD_ROLES = ['PRIMARY', 'SECONDARY', 'BATTERY', 'SIGNAL', 'LOCATION'] as const;
/** One of `FIELD_ROLES`. */
export type FieldRole = (typeof FIELD_ROLES)[number];

/** What the numbers of a field are, which aggregations follow (CONTRACT 7, Meaning). */
export const FIELD_MEANINGS = ['GAUGE', 'COUNTER', 'TOTAL', 'ANGLE', 'STATE'] as const;
/** One of `FIELD_MEANINGS`. */
export type FieldMeaning = (typeof FIELD_MEANINGS)[number];

/** What people read of a field. */
export interface FieldWords {
  name?: string | null | undefined;
  unit?: string | null | undefined;
  description?: string | null | undefined;
  role?: FieldRole | null | undefined;
}

/** As what a stored value is read. */
export interface ReadAs {
  type: FieldType;
  /** A STRING that was a BOOLEAN before. */
  wasBoolean?: boolean | undefined;
}

/** What the numbers of a field are, and where a COUNTER begins again from 0; left out: GAUGE, and nowhere. */
export interface Meant {
  meaning?: FieldMeaning | undefined;
  overflowAt?: number | null | undefined;
}

/** CONTRACT 1: 1 to 64 characters, matched exactly. */
export const FIELD_IDENTIFIER = /^[A-Za-z0-9_-]{1,64}$/;

/** Identifier and type of what a product's devices measure. `key` is what measurements carry, and the id clients see. */
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
    /** Each at most once in a product. */
    role: p.string().length(10).$type<FieldRole>().nullable(),
    meaning: p.string().length(10).$type<FieldMeaning>().default('GAUGE'),
    /** Of a COUNTER: at which it begins again from 0. */
    overflowAt: p.double().$type<number>().nullable(),
    /** A STRING that was a BOOLEAN before: numbers stored for it are its true and false. */
    wasBoolean: p.boolean().default(false),
  },
});

/** A field of a product as a row. */
export type Field = InferEntity<typeof FieldSchema>;
