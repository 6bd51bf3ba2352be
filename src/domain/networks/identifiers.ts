import { AppError } from '../../errors.ts';

/** INVALID_BODY (400) for an uplink, or a message of no known kind, that does not name its device (CONTRACT 6). */
export function missingIdentifier(key: string, hint = ''): AppError {
  return new AppError('INVALID_BODY', `The message names no device: "${key}" is missing.${hint}`, {
    details: { missing: key },
  });
}

/** 8 bytes in base64, as ChirpStack v3 writes an EUI. */
const BASE64_EUI = /^[A-Za-z0-9+/_-]{11}=$/;

/** The identifier itself; an EUI in base64 as its 16 hexadecimal digits. */
export function readableEui(identifier: string): string {
  return BASE64_EUI.test(identifier) ? Buffer.from(identifier, 'base64').toString('hex') : identifier;
}
