import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';

/** BAD_USER_INPUT for HTTP/1.1 without the header (RFC 9112, 3.2). By itself Node refuses that without a word. */
export function requireHost({ headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1')
    throw new AppError(
      'BAD_USER_INPUT',
      'The header Host is missing: HTTP/1.1 needs one, such as the name of the server.',
    );
}

/** METHOD_NOT_ALLOWED, with the allowed ones, for every other method. */
export function requireMethod(method: string | undefined, allowed: readonly string[]): void {
  if (method !== undefined && allowed.includes(method)) return;
  throw new AppError('METHOD_NOT_ALLOWED', `${method} is not possible here; use ${allowed.join(' or ')}.`, {
    details: { allow: allowed.join(', ') },
  });
}
