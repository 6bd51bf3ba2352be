import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { Rejection } from '../measurements/entry.ts';
import { NameIndex } from '../text/name-index.ts';
import type { ImportLine } from './import-format.ts';
import { must } from '../../must.ts';

/** A decimal comma, as spreadsheets of most of Europe write it. */
const DECIMAL_COMMA = /^\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*$/;
/** A number that may have a comma between thousands: `1,234` is ambiguous. */
const THOUSANDS = /^\s*[+-]?[1-9]\d{0,2},\d{3}\s*$/;

/** The values of a line: as a wide one if the product has fields named like the long layout's columns. */
export function valuesFor(line: ImportLine, { fields }: ProductInfo): ImportLine['values'] {
  if (line.wide === null) return line.values;
  const { columns, wide } = line;
  const [field, value] =
    columns === null ? ['field', 'value'] : [must(columns.names[columns.field]), must(columns.names[columns.value])];
  return fields.has(field) && fields.has(value) ? wide : line.values;
}

/**
 * Field and value as they are plainly meant: a heading that differs in case from the only field it can be, a decimal
 * comma in files with another delimiter.
 */
export function asMeant(line: ImportLine, { fields }: ProductInfo, named: unknown, value: unknown): [unknown, unknown] {
  const { columns } = line;
  if (columns === null || typeof named !== 'string') return [named, value];
  const other = columns.field < 0 && !fields.has(named) ? indexOf(fields).inOtherCapitals(named) : null;
  // Two headings for one field would overwrite each other.
  const field = other !== null && columns.distinct.inOtherCapitals(named) === named ? other : named;
  if (columns.delimiter === ',' || typeof value !== 'string' || !DECIMAL_COMMA.test(value)) return [field, value];
  const type = fields.get(field)?.type;
  const isNumber = type === 'FLOAT' || type === 'INTEGER';
  return [field, isNumber && !THOUSANDS.test(value) ? value.replace(',', '.') : value];
}

/** A hint about a rejected value, to append to its message. */
export function hintFor(
  { columns }: ImportLine,
  { fields }: ProductInfo,
  { field, value }: { field: unknown; value: unknown },
  code: Rejection['code'],
): string {
  if (code === 'UNKNOWN_FIELD') {
    const nearest = indexOf(fields).nearest(field as string);
    return nearest === null ? '' : ` Is "${nearest}" meant?`;
  }
  if (code !== 'INVALID_VALUE' || columns === null || typeof value !== 'string' || !DECIMAL_COMMA.test(value))
    return '';
  return columns.delimiter === ','
    ? ' Write a decimal point.'
    : ' Its comma may stand before decimals or between thousands: write a decimal point.';
}

const indexes = new WeakMap<ProductInfo['fields'], NameIndex>();

function indexOf(fields: ProductInfo['fields']): NameIndex {
  const known = indexes.get(fields);
  if (known !== undefined) return known;
  const index = new NameIndex(fields.keys());
  indexes.set(fields, index);
  return index;
}
