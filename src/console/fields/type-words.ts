import type { FieldType } from '../api/schema-types.ts';

/** The one word for each type of a field, wherever people read it. */
export const TYPE_WORDS: Readonly<Record<FieldType, string>> = {
  FLOAT: 'number',
  INTEGER: 'whole number',
  BOOLEAN: 'true or false',
  STRING: 'text',
  GEOLOCATION: 'place',
};

/** Every type, the most usual first. */
export const FIELD_TYPES = Object.keys(TYPE_WORDS) as readonly FieldType[];
