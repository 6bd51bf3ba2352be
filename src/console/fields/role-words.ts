import type { FieldRole } from '../api/schema-types.ts';
import { t } from '../texts/texts.ts';

/** Roles of a field in lists of mixed products, and none. */
export const ROLES: readonly { role: FieldRole | null; text: string }[] = [
  { role: null, text: t('none') },
  { role: 'PRIMARY', text: t('primary value') },
  { role: 'SECONDARY', text: t('secondary value') },
  { role: 'BATTERY', text: 'battery' },
  { role: 'SIGNAL', text: 'signal' },
  { role: 'LOCATION', text: 'location' },
];
