import type { IncomingMessage } from 'node:http';
import { isFromOwnPage } from './own-page.ts';

const NAME = 'inlet_session';
const FOUND = new RegExp(`(?:^|;)\\s*${NAME}=([^;\\s]+)`);
/** Seconds of a token got by signing in; the token decides. */
const SECONDS = 30 * 86_400;

/**
 * The token in the console's cookie (CONTRACT 9): another carrier of the same secret that `Authorization` carries, read
 * only of requests that a page of this server has made; null when there is none.
 */
export function sessionSecretOf(request: IncomingMessage, baseUrl: string): string | null {
  const value = FOUND.exec(request.headers.cookie ?? '')?.[1];
  if (value === undefined || !isFromOwnPage(request, baseUrl)) return null;
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}

/** `Set-Cookie` for a token; null takes it away. Only over HTTPS where the page itself came that way. */
export function sessionCookie(secret: string | null, { headers }: IncomingMessage): string {
  const secure = headers.origin?.startsWith('https:') === true ? '; Secure' : '';
  const [value, age] = secret === null ? ['', 0] : [encodeURIComponent(secret), SECONDS];
  return `${NAME}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
}
