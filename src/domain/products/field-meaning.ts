import { badInput } from '../../errors.ts';
import type { FieldMeaning, FieldType } from '../entities/field.ts';

/** The meaning that a client gives the numbers of a field, unchecked; null and left out: GAUGE, and no overflow. */
export interface GivenMeaning {
  meaning?: FieldMeaning | null;
  overflowAt?: number | null;
}

/** The meaning as it is stored. */
export interface CheckedMeaning {
  meaning: FieldMeaning;
  overflowAt: number | null;
}

/** Types with every meaning; other types can be GAUGE and STATE. */
const NUMBERS: readonly FieldType[] = ['FLOAT', 'INTEGER'];

/** BAD_USER_INPUT naming `path` when the type does not allow the meaning (CONTRACT 7, Meaning). */
export function checkMeaning(field: GivenMeaning & { type: FieldType }, path: string): CheckedMeaning {
  const meaning = field.meaning ?? 'GAUGE';
  const overflowAt = field.overflowAt ?? null;
  if (!fits(meaning, field.type))
    throw badInput(
      `${path}.meaning: ${meaning} is for FLOAT and INTEGER, and the field is ${field.type}: ` +
        'use GAUGE or STATE, or another type.',
    );
  if (overflowAt !== null && meaning !== 'COUNTER')
    throw badInput(`${path}.overflowAt: only a COUNTER begins again, and the field is a ${meaning}; leave it out.`);
  if (overflowAt !== null && !(Number.isFinite(overflowAt) && overflowAt > 0))
    throw badInput(`${path}.overflowAt: expected a number above 0, such as 65536 for 16 bits, not ${overflowAt}.`);
  return { meaning, overflowAt };
}

/**
 * The meaning after a change; BAD_USER_INPUT as above for mistakes in the change itself. A changed type or meaning
 * drops what no longer fits.
 */
export function changedMeaning(
  field: CheckedMeaning,
  change: GivenMeaning & { type: FieldType },
  path: string,
): CheckedMeaning {
  if (change.meaning === null) throw badInput(`${path}.meaning: a field has one; leave it out to keep it.`);
  const kept = fits(field.meaning, change.type) ? field.meaning : 'GAUGE';
  const meaning = change.meaning ?? kept;
  const keptOverflow = meaning === 'COUNTER' ? field.overflowAt : null;
  const overflowAt = change.overflowAt === undefined ? keptOverflow : change.overflowAt;
  return checkMeaning({ type: change.type, meaning, overflowAt }, path);
}

function fits(meaning: FieldMeaning, type: FieldType): boolean {
  return meaning === 'GAUGE' || meaning === 'STATE' || NUMBERS.includes(type);
}
