import type { Access } from '../../domain/access/access.ts';
import { secretMask, webhookIdsIn } from '../../domain/decoders/call-secrets.ts';
import { maskedTexts } from '../../domain/calls/run-text.ts';
import type { LoggedCall } from '../../domain/calls/logged-call.ts';

/**
 * Masks the webhook id, a secret that needs CONFIGURE. Senders, proxies and decoders repeat it anywhere (path,
 * `X-Forwarded-Uri`, `Referer`, the decoder's console): it is masked wherever it occurs, whole or cut, also one that
 * was rotated since (CONTRACT 4).
 */
export function visibleCall(
  call: LoggedCall,
  access: Access,
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
): LoggedCall {
  if (access.may(workspaceId, 'CONFIGURE')) return call;
  const mask = secretMask([...new Set([webhookId, ...webhookIdsIn(call.path)])]);
  return mask === null ? call : call.masked((value) => maskedTexts(value, mask));
}
