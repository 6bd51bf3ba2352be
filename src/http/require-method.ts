import { AppError } from '../errors.ts';

/** METHOD_NOT_ALLOWED, with the allowed ones, for every other method. */
export function requireMethod(method: string | undefined, allowed: readonly string[]): void {
  if (method !== undefined && allowed.includes(method)) return;
  throw new AppError('METHOD_NOT_ALLOWED', `${method} is not possible here; use ${allowed.join(' or ')}.`, {
    details: { allow: allowed.join(', ') },
  });
}
