import type { LoggedCall } from '../../domain/calls/logged-call.ts';
import type { Access } from '../../domain/access/access.ts';

/** A call's path names the webhook id, which is a secret: only who may CONFIGURE sees it. */
export function visibleCall(call: LoggedCall, access: Access, workspaceId: string): LoggedCall {
  if (access.may(workspaceId, 'CONFIGURE')) return call;
  return { ...call, path: call.path.replace(/^(\/integrations\/api\/)[^/]+/i, '$1***') };
}
