import { badInput, conflict } from '../../errors.ts';
import { usableIdentifier } from '../entities/name-path.ts';
import { checkOptionalText } from '../text/text.ts';
import { FIELD_IDENTIFIER, type FieldRole, type FieldType } from '../entities/field.ts';
import { checkDisplay } from './field-display.ts';
import { type CheckedMeaning, checkMeaning, type GivenMeaning } from './field-meaning.ts';

/** Maximum fields per product. */
export const MAX_FIELDS_PER_PRODUCT = 500;

/** A field as a client sends it, unchecked. */
export interface NewField extends GivenMeaning {
  identifier: string;
  type: FieldType;
  name?: string | null;
  unit?: string | null;
  description?: string | null;
  role?: FieldRole | null;
  display?: unknown;
}

/** A field as it is stored. */
interface CheckedField extends CheckedMeaning {
  identifier: string;
  type: FieldType;
  name: string | null;
  unit: string | null;
  description: string | null;
  role: FieldRole | null;
  display: string | null;
}

/** The texts of a field besides identifier and type; empty text is null. */
export const FIELD_TEXTS = {
  name: { max: 200 },
  unit: { max: 50 },
  description: { max: 2000, multiline: true },
} as const;

/** The field as it is stored; BAD_USER_INPUT naming `path` when it is not valid. */
export function checkNewField(field: NewField, path: string): CheckedField {
  if (!FIELD_IDENTIFIER.test(field.identifier)) {
    const usable = usableIdentifier(field.identifier);
    throw badInput(
      `${path}.identifier: ${JSON.stringify(field.identifier.slice(0, 70))} is no identifier: ` +
        `1 to 64 characters of A-Z a-z 0-9 _ -${usable === null ? '' : `, such as "${usable}"`}.`,
    );
  }
  return {
    identifier: field.identifier,
    type: field.type,
    name: checkOptionalText(field.name, `${path}.name`, FIELD_TEXTS.name),
    unit: checkOptionalText(field.unit, `${path}.unit`, FIELD_TEXTS.unit),
    description: checkOptionalText(field.description, `${path}.description`, FIELD_TEXTS.description),
    role: field.role ?? null,
    display: checkDisplay(field.type, field.display, `${path}.display`),
    ...checkMeaning(field, path),
  };
}

/** The fields of a new product; CONFLICT naming the index of a second identifier or role. */
export function checkNewFields(fields: NewField[]): CheckedField[] {
  if (fields.length > MAX_FIELDS_PER_PRODUCT) throw tooManyFields();
  const indexes = new Map<string, number>();
  const roles = new Map<FieldRole, string>();
  return fields.map((field, index) => {
    const checked = checkNewField(field, `input.fields[${index}]`);
    const first = indexes.get(checked.identifier);
    if (first !== undefined)
      throw conflict(
        `input.fields[${index}].identifier: "${checked.identifier}" is also that of input.fields[${first}].`,
      );
    indexes.set(checked.identifier, index);
    if (checked.role !== null) {
      const holder = roles.get(checked.role);
      if (holder !== undefined) throw roleTaken(`input.fields[${index}].role`, checked.role, holder);
      roles.set(checked.role, checked.identifier);
    }
    return checked;
  });
}

/** BAD_USER_INPUT naming the maximum fields per product. */
export function tooManyFields(): Error {
  return badInput(`A product has at most ${MAX_FIELDS_PER_PRODUCT} fields.`);
}

/** CONFLICT: a role is unique within a product (contract `FieldRole`); `holder` has it, with that id if it is stored. */
export function roleTaken(path: string, role: FieldRole, holder: string, existingId?: string): Error {
  const message = `${path}: the field "${holder}" is ${role} already; take the role from it first.`;
  return conflict(message, existingId === undefined ? undefined : { existingId });
}
