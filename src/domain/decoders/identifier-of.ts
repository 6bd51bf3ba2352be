import { FIELD_IDENTIFIER } from '../entities/field.ts';

/**
 * A name made an identifier (CONTRACT 1): `pm2.5` → `pm2_5`, `battery voltage` → `battery_voltage`, `Füllstand` →
 * `Fullstand`; itself when it is one, or when nothing is left of it.
 */
export function identifierOf(name: string): string {
  if (FIELD_IDENTIFIER.test(name)) return name;
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^_+|(?<!_)_+$/g, '')
    .slice(0, 64);
  return plain === '' ? name : plain;
}
