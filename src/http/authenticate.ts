import type { IncomingMessage } from 'node:http';
import type { Access } from '../domain/access/access.ts';
import type { Authenticator } from '../domain/tokens/authenticator.ts';
import { unauthenticated } from '../errors.ts';

const CREDENTIALS = /^\s*(?:token|bearer)\s+(\S+)\s*$/i;

/** The secret of `Authorization: Token <token>` (or Bearer, in any case); null when there is none. */
export function secretOf(authorization: string | undefined): string | null {
  return authorization === undefined ? null : (CREDENTIALS.exec(authorization)?.[1] ?? null);
}

/** Whose request this is. Throws UNAUTHENTICATED saying what is wrong with the header. */
export async function authenticate(request: IncomingMessage, authenticator: Authenticator): Promise<Access> {
  const { authorization } = request.headers;
  const secret = secretOf(authorization);
  if (secret === null)
    throw unauthenticated(
      authorization === undefined
        ? 'Send a token in the header "Authorization: Token <token>".'
        : 'The Authorization header must be "Token <token>" (or "Bearer <token>").',
    );
  const access = authenticator.cached(secret) ?? (await authenticator.authenticate(secret));
  if (access === null) throw unauthenticated('This token is unknown, expired or revoked.');
  return access;
}
