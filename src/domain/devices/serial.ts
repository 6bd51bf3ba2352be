import { randomBytes } from 'node:crypto';

/** Crockford's base 32: no I, L, O, U, so that it survives being read aloud and typed. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 12;

/** A serial number for a device that was created without one: 60 random bits in 12 characters. */
export function newSerialNumber(): string {
  return Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte & 31]).join('');
}
