import { randomBytes } from 'node:crypto';

const HEXADECIMAL_EUI = /^[0-9a-f]{16}$/i;

/** Crockford's base 32: no I, L, O, U, so that it survives being read aloud and typed. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 12;

/** A serial number for a device that was created without one: 60 random bits in 12 characters. */
export function newSerialNumber(): string {
  return Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte & 31]).join('');
}

/** Whether a serial number is a hexadecimal EUI-64 (CONTRACT 6), which networks write in either case. */
export function isHexadecimalEui(serialNumber: string): boolean {
  return HEXADECIMAL_EUI.test(serialNumber);
}
