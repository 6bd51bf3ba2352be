import { seal, unseal } from '../text/sealed-text.ts';

const SEALED = /^(field|configuration) ([1-9]\d{0,9})$/;
const LARGEST_KEY = 2_147_483_647;

/** The sealed id by which clients know a field: its bare key would count the fields of all workspaces. */
export function fieldId(key: number): string {
  return seal(`field ${key}`);
}

/** The key of a field's id; null for other texts. */
export function fieldKeyOf(id: string): number | null {
  return keyOf('field', id);
}

/** The sealed id of a configuration field, distinct from that of a field. */
export function configurationFieldId(key: number): string {
  return seal(`configuration ${key}`);
}

/** The key of a configuration field's id; null for other texts. */
export function configurationFieldKeyOf(id: string): number | null {
  return keyOf('configuration', id);
}

function keyOf(kind: string, id: string): number | null {
  const [, sealedKind, text] = SEALED.exec(unseal(id) ?? '') ?? [];
  const key = Number(text ?? Infinity);
  return sealedKind === kind && key <= LARGEST_KEY ? key : null;
}
