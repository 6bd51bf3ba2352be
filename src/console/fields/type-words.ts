import type { FieldType } from '../api/schema-types.ts';
import { t } from '../texts/texts.ts';

/** The one word for each type of a field, wherever people read it. */
export const TYPE_WORDS: Readonly<Record<FieldType, string>> = {
  FLOAT: t('number'),
  INTEGER: t('whole number'),
  BOOLEAN: t('true or false'),
  STRING: t('text'),
  GEOLOCATION: t('place'),
};

/** Every type, the most usual first. */
export const FIELD_TYPES = Object.keys(TYPE_WORDS) as readonly FieldType[];
