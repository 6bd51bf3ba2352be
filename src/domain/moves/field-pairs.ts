import { badInput } from '../../errors.ts';
import type { Field } from '../entities/field.ts';
import { must } from '../../must.ts';

/** A field that a device leaves, and the field of its new product that goes on with the values; null: they go. */
export interface FieldWish {
  from: string;
  to?: string | null;
}

/** How fields go on in another product, and those whose values go. */
export interface FieldPairs {
  pairs: { from: Field; to: Field }[];
  dropped: Field[];
}

/**
 * Pairs the fields of two products: as wished, the others by identifier where the type is the same. BAD_USER_INPUT for
 * a wish with an unknown field, one that comes twice, or types that differ (an INTEGER may go on as a FLOAT).
 */
export function pairFields(
  before: readonly Field[],
  after: readonly Field[],
  wishes: readonly FieldWish[],
  path: string,
): FieldPairs {
  const sources = new Map(before.map((field) => [field.identifier, field]));
  const targets = new Map(after.map((field) => [field.identifier, field]));
  const wished = new Map<Field, Field | null>();
  const taken = new Set<Field>();
  for (const [at, { from, to }] of wishes.entries()) {
    const source = sources.get(from);
    if (source === undefined) throw badInput(`${path}[${at}].from: the device has no field "${shortened(from)}".`);
    if (wished.has(source)) throw badInput(`${path}[${at}].from: "${from}" is there twice.`);
    const target = to == null ? null : targets.get(to);
    if (target === undefined)
      throw badInput(`${path}[${at}].to: the product it moves to has no field "${shortened(must(to))}".`);
    if (target !== null && taken.has(target)) throw badInput(`${path}[${at}].to: "${must(to)}" is there twice.`);
    if (target !== null && !goesOn(source, target) && !(source.type === 'INTEGER' && target.type === 'FLOAT'))
      throw badInput(
        `${path}[${at}]: "${from}" is ${typeOf(source)}, and "${must(to)}" ${typeOf(target)}; ` +
          'choose a field of the same type, or null to let its values go.',
      );
    wished.set(source, target);
    if (target !== null) taken.add(target);
  }
  const pairs: FieldPairs['pairs'] = [];
  const dropped: Field[] = [];
  for (const from of before) {
    const same = targets.get(from.identifier);
    const byName = same !== undefined && !taken.has(same) && goesOn(from, same) ? same : null;
    const wish = wished.get(from);
    const to = wish === undefined ? byName : wish;
    if (to === null) dropped.push(from);
    else pairs.push({ from, to });
  }
  return { pairs, dropped };
}

/** Whether the stored values read the same. */
function goesOn(from: Field, to: Field): boolean {
  return from.type === to.type && from.wasBoolean === to.wasBoolean;
}

function typeOf({ type, wasBoolean }: Field): string {
  return wasBoolean ? `${type} (a BOOLEAN before)` : type;
}

function shortened(identifier: string): string {
  return identifier.slice(0, 64);
}
