import { seal, unseal } from '../sealed-text.ts';

const SEALED = /^field ([1-9]\d{0,9})$/;
const LARGEST_KEY = 2_147_483_647;

/** The id by which clients know a field: its key would count the fields of everybody. */
export function fieldId(key: number): string {
  return seal(`field ${key}`);
}

/** The key of a field's id; null for what is none. */
export function fieldKeyOf(id: string): number | null {
  const key = Number(SEALED.exec(unseal(id) ?? '')?.[1] ?? Infinity);
  return key <= LARGEST_KEY ? key : null;
}
