import type { Access } from '../domain/access/access.ts';
import type { Authenticator } from '../domain/accounts/authenticator.ts';
import { AppError, forbidden, unauthenticated } from '../errors.ts';
import type { AnonymousRequests } from './anonymous-requests.ts';
import { type BodyBounds, readBody } from './body.ts';
import type { Handler } from './routes.ts';
import { isFromOwnPage } from './own-page.ts';
import { parseJson } from '../domain/text/parse-json.ts';
import { sessionCookie, sessionSecretOf } from './session-cookie.ts';

const SMALLER = { maxBytes: 8_192, idleMs: 10_000 };

interface SessionRouteDeps {
  authenticator: Authenticator;
  anonymous: AnonymousRequests;
  /** Makes a token for a correct password; throws as the mutation `signIn` does. */
  signIn: (email: string, password: string, caller: string) => Promise<{ secret: string }>;
  /** Ends a token that was got by signing in; leaves every other as it is. */
  signOut: (access: Access) => Promise<void>;
  baseUrl: () => string;
  bounds: BodyBounds;
}

/**
 * `/console/session`: POST `{token}` or `{email, password}` puts the token into the console's cookie, DELETE takes it out
 * and ends it if it was made by signing in. Only for pages of this server.
 */
export function sessionRoute(deps: SessionRouteDeps): Handler {
  const { authenticator, anonymous, signIn, signOut, baseUrl, bounds } = deps;
  const secretFor = async (body: Record<string, unknown>, caller: string): Promise<string> => {
    const { token, email, password } = body;
    if (typeof email === 'string' && typeof password === 'string')
      return (await signIn(email, password, caller)).secret;
    if (typeof token !== 'string') throw new AppError('INVALID_BODY', 'Send {"token"} or {"email", "password"}.');
    const secret = token.trim();
    if ((await authenticator.authenticate(secret)) === null) throw unauthenticated();
    return secret;
  };
  return async (context) => {
    const { req: request } = context;
    if (!isFromOwnPage(request, baseUrl())) throw forbidden('A session is for pages of this server.');
    if (context.method === 'POST') {
      const secret = await anonymous.during(request, async () => {
        const body = parseJson((await readBody(request, { ...bounds, ...SMALLER })).toString('utf8'));
        return secretFor(typeof body === 'object' && body !== null ? { ...body } : {}, anonymous.addressOf(request));
      });
      context.set('Set-Cookie', sessionCookie(secret, request));
      context.status = 204;
      return;
    }
    const secret = sessionSecretOf(request, baseUrl());
    if (secret !== null) {
      // Looking up an unknown token costs something.
      const access = await anonymous.during(request, () => authenticator.authenticate(secret));
      if (access !== null) await signOut(access);
    }
    context.set('Set-Cookie', sessionCookie(null, request));
    context.status = 204;
  };
}
