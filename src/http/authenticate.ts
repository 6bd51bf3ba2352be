import type { IncomingMessage } from 'node:http';
import type { Access } from '../domain/access/access.ts';
import { type Authenticator, hashSecret } from '../domain/accounts/authenticator.ts';
import type { AnonymousRequests } from './anonymous-requests.ts';
import { anonymousAt } from '../scheduling/caller.ts';
import { runAs } from '../scheduling/current-caller.ts';
import { unauthenticated } from '../errors.ts';

const CREDENTIALS = /^\s*(?:token|bearer)\s+(\S+)\s*$/i;
const BASIC = /^\s*basic\s+([A-Za-z0-9+/=_-]+)\s*$/i;

/**
 * The secret of `Authorization: Token <token>` (or Bearer, in any case), or the password of Basic authentication, for
 * senders that know nothing else (CONTRACT 6); null when there is none.
 */
export function secretOf(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  const secret = CREDENTIALS.exec(authorization)?.[1];
  if (secret !== undefined) return secret;
  const basic = BASIC.exec(authorization)?.[1];
  if (basic === undefined) return null;
  const userAndPassword = Buffer.from(basic, 'base64').toString('utf8');
  const colon = userAndPassword.indexOf(':');
  return colon < 0 || colon + 1 === userAndPassword.length ? null : userAndPassword.slice(colon + 1);
}

/** Whether the header is empty or names only a scheme, without a token. */
export function isEmptyAuthorization(authorization: string): boolean {
  return /^(?:token|bearer|basic)?$/i.test(authorization.trim());
}

const LAST = Symbol('last authorization');

/** The hash of the secret in `Authorization`; null: none. A header that a connection repeats is hashed once. */
export function secretHashOf({ headers: { authorization }, socket }: IncomingMessage): string | null {
  if (authorization === undefined) return null;
  const remembering = socket as typeof socket & { [LAST]?: { authorization: string; hashed: string | null } };
  const last = remembering[LAST];
  if (last?.authorization === authorization) return last.hashed;
  const secret = secretOf(authorization);
  const hashed = secret === null ? null : hashSecret(secret);
  remembering[LAST] = { authorization, hashed };
  return hashed;
}

/** Looks up tokens, and bounds the requests without a valid one. */
export interface AuthDeps {
  authenticator: Authenticator;
  anonymous: AnonymousRequests;
  /** The secret in the console's cookie, where that counts as well; left out: only the header does. */
  sessionSecretOf?: (request: IncomingMessage) => string | null;
}

/** The access of the request. Throws UNAUTHENTICATED with the fault of the header, RATE_LIMITED after many of those. */
export async function authenticate(
  request: IncomingMessage,
  { authenticator, anonymous, sessionSecretOf }: AuthDeps,
): Promise<Access> {
  const { authorization } = request.headers;
  const secret = authorization === undefined ? (sessionSecretOf?.(request) ?? null) : secretOf(authorization);
  if (secret === null)
    throw unauthenticated(
      authorization === undefined
        ? 'Send a token in the header "Authorization: Token <token>".'
        : isEmptyAuthorization(authorization)
          ? 'The Authorization header has no token: "Token" is followed by nothing. Is the variable that holds it empty?'
          : 'The Authorization header must be "Token <token>" (or "Bearer <token>", or Basic with the token as password).',
    );
  const cached = authenticator.cached(secret);
  if (cached !== null) return cached;
  // Looked up in the database: a flood of unknown tokens costs that.
  const stranger = anonymousAt(anonymous.addressOf(request));
  const access = await anonymous.during(request, () => runAs(stranger, () => authenticator.authenticate(secret)));
  if (access === null) throw unauthenticated();
  return access;
}
