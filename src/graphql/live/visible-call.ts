import type { Access } from '../../domain/access/access.ts';
import { MASK } from '../../domain/calls/masked-headers.ts';
import type { LoggedCall } from '../../domain/calls/logged-call.ts';
import { WEBHOOK_ROOT } from '../../domain/decoders/decoder-request.ts';

/**
 * The webhook id is a secret: only who may CONFIGURE sees it. Senders, proxies and decoders repeat it anywhere (path,
 * `X-Forwarded-Uri`, `Referer`, the decoder's console): it is masked wherever it stands, also one that was rotated
 * since (CONTRACT 4).
 */
export function visibleCall(
  call: LoggedCall,
  access: Access,
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
): LoggedCall {
  if (access.may(workspaceId, 'CONFIGURE')) return call;
  const called = call.path.startsWith(WEBHOOK_ROOT) ? call.path.slice(WEBHOOK_ROOT.length).split('/', 1)[0]! : '';
  const ids = called === '' || called === webhookId ? [webhookId] : [webhookId, called];
  return call.masked((value) => masked(value, ids));
}

function masked(value: unknown, ids: readonly string[]): unknown {
  if (typeof value === 'string')
    return ids.reduce((text, id) => (text.includes(id) ? text.replaceAll(id, MASK) : text), value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => masked(item, ids));
  // Without a prototype, so that `__proto__` is a name like any other.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [name, item] of Object.entries(value)) copy[masked(name, ids) as string] = masked(item, ids);
  return copy;
}
