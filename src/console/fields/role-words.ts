import type { FieldRole } from '../api/schema-types.ts';

/** Roles of a field in lists of mixed products, and none. */
export const ROLES: readonly { role: FieldRole | null; text: string }[] = [
  { role: null, text: 'none' },
  { role: 'PRIMARY', text: 'primary value' },
  { role: 'SECONDARY', text: 'secondary value' },
  { role: 'BATTERY', text: 'battery' },
  { role: 'SIGNAL', text: 'signal' },
  { role: 'LOCATION', text: 'location' },
];
