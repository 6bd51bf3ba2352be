import type { IncomingMessage } from 'node:http';
import type { IngestCache } from '../domain/ingest-cache/ingest-cache.ts';
import { type Caller, anonymousAt } from '../scheduling/caller.ts';
import { hashSecret } from '../domain/accounts/authenticator.ts';
import { type AuthDeps, secretHashOf } from './authenticate.ts';
import { webhookIdOf } from './ingest-routes.ts';

/**
 * The caller of a request, as far as that is in memory: its token's, its webhook's, else its address's. Gives no right:
 * it only decides whose turn the request takes.
 */
export function requestCaller(
  { authenticator, anonymous, sessionSecretOf }: AuthDeps,
  ingestCache: Pick<IngestCache, 'cachedByWebhook'>,
): (request: IncomingMessage) => Caller {
  return (request) => {
    const cookie = request.headers.authorization === undefined ? (sessionSecretOf?.(request) ?? null) : null;
    const hashed = cookie === null ? secretHashOf(request) : hashSecret(cookie);
    const access = hashed === null ? null : authenticator.cachedByHash(hashed);
    if (access !== null) return access;
    const webhookId = webhookIdOf(request.url ?? '');
    const product = webhookId === null ? null : ingestCache.cachedByWebhook(webhookId);
    if (product !== null) return { tenant: product.workspaceId, tokenId: product.id };
    return anonymousAt(anonymous.addressOf(request));
  };
}
