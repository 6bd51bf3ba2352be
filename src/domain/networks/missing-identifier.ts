import { AppError } from '../../errors.ts';

/** INVALID_BODY (400) for an uplink, or a message of no known kind, that does not name its device (CONTRACT 6). */
export function missingIdentifier(key: string, hint = ''): AppError {
  return new AppError('INVALID_BODY', `The message names no device: "${key}" is missing.${hint}`, {
    details: { missing: key },
  });
}
