import type { FieldRole, FieldType } from '../../api/schema-types.ts';
import type { DeviceRow } from './devices.graphql.ts';
import type { Sort } from './sort.ts';
import { t } from '../../texts/texts.ts';

/** A field of a product, as columns need it. */
interface ColumnField {
  identifier: string;
  name: string | null;
  role: FieldRole | null;
  type: FieldType;
}

/** A product with its fields. */
export interface ColumnProduct {
  id: string;
  name: string;
  fields: readonly ColumnField[];
}

/** A column of the list beside the name of the device and when it was last heard. */
export interface Column {
  /** Its name in the address: a field's identifier, `role:BATTERY`, or a word of `PLAIN` behind a colon. */
  name: string;
  head: string;
  /** The order by this column; null: none. */
  sort: Sort | null;
}

const ROLES: readonly [role: FieldRole, words: string][] = [
  ['PRIMARY', t('Value')],
  ['SECONDARY', t('Second')],
  ['BATTERY', t('Battery')],
  ['SIGNAL', t('Signal')],
];
const PLAIN: Readonly<Record<string, string>> = {
  ':product': t('Product'),
  ':location': t('Location'),
  ':plan': t('Plan'),
  ':tags': t('Tags'),
};
const USUAL = [':product', 'role:PRIMARY', 'role:SECONDARY', 'role:BATTERY', 'role:SIGNAL'];
/** Maximum columns: more would be too narrow to read. */
export const MAX_COLUMNS = 8;

type Latest = DeviceRow['latest'][number];

/** The columns of these names, the usual ones for null; each with the name of its field where the products agree. */
export function columnsOf(names: readonly string[] | null, products: readonly ColumnProduct[]): Column[] {
  return [...new Set(names ?? USUAL)].slice(0, MAX_COLUMNS).map((name) => {
    const plain = PLAIN[name];
    if (plain !== undefined) return { name, head: plain, sort: null };
    const role = roleOf(name);
    if (role !== null) return { name, head: headOfRole(role, products), sort: sortOfRole(role, products) };
    return { name, head: headOfField(name, products), sort: { field: name } };
  });
}

/** Every column that there may be for these products, in groups. */
export function choicesOf(products: readonly ColumnProduct[]): { group: string; columns: Column[] }[] {
  const fields = new Set(products.flatMap((product) => product.fields.map(({ identifier }) => identifier)));
  return [
    { group: t('Device'), columns: columnsOf(Object.keys(PLAIN), products) },
    { group: t('By role'), columns: ROLES.flatMap(([role]) => columnsOf([`role:${role}`], products)) },
    { group: t('Fields'), columns: [...fields].sort().flatMap((identifier) => columnsOf([identifier], products)) },
  ];
}

/** The fields and roles that a list with these columns needs of each device; null: all of its fields. */
export function neededFields(names: readonly string[] | null): { anyFields: string[]; roles: FieldRole[] } | null {
  if (names === null) return null;
  const some = [...new Set(names)].slice(0, MAX_COLUMNS);
  return {
    anyFields: some.filter((name) => roleOf(name) === null && PLAIN[name] === undefined),
    roles: some.flatMap((name) => roleOf(name) ?? []),
  };
}

/** The value of a device in a column of a field or a role. */
export function valueIn({ latest }: DeviceRow, { name }: Column): Latest | undefined {
  const role = roleOf(name);
  if (role === null) return latest.find(({ field }) => field.identifier === name);
  const found = latest.find(({ field }) => field.role === role);
  if (found !== undefined || role !== 'PRIMARY') return found;
  return latest.find(({ field }) => field.role === null && field.type !== 'GEOLOCATION');
}

/** The text of a device in a column that is of no field; null: it is of one. */
export function plainText({ product, location, plan, tags }: DeviceRow, { name }: Column): string | null {
  switch (name) {
    case ':product':
      return product.name;
    case ':location':
      return location ?? '';
    case ':plan':
      return plan.slug;
    case ':tags':
      return tags.join(', ');
    default:
      return null;
  }
}

function roleOf(name: string): FieldRole | null {
  return ROLES.find(([role]) => name === `role:${role}`)?.[0] ?? null;
}

/** The name that all products have for the field with a role; else the word for the role. */
function headOfRole(role: FieldRole, products: readonly ColumnProduct[]): string {
  const names = new Set(fieldsOfRole(role, products).map((field) => field.name ?? field.identifier));
  const [only] = names;
  return names.size === 1 && only !== undefined ? only : (ROLES.find(([one]) => one === role)?.[1] ?? role);
}

/** Sorts by the one field that stands for the role where no product has it. */
function sortOfRole(role: FieldRole, products: readonly ColumnProduct[]): Sort {
  const fields = fieldsOfRole(role, products);
  const [field, ...others] = new Set(fields.map(({ identifier }) => identifier));
  const isBare = fields.every((one) => one.role !== role);
  return isBare && field !== undefined && others.length === 0 ? { field } : { role };
}

/** The field of each product that a column of the role shows. */
function fieldsOfRole(role: FieldRole, products: readonly ColumnProduct[]): ColumnField[] {
  return products.flatMap((product) => {
    const found = product.fields.find((field) => field.role === role);
    if (found !== undefined || role !== 'PRIMARY') return found ?? [];
    return product.fields.find((field) => field.role === null && field.type !== 'GEOLOCATION') ?? [];
  });
}

function headOfField(identifier: string, products: readonly ColumnProduct[]): string {
  const names = new Set(
    products.flatMap(({ fields }) => fields.find((field) => field.identifier === identifier)?.name ?? []),
  );
  const [only] = names;
  return names.size === 1 && only !== undefined ? only : identifier;
}
