/** Account that work is charged to. */
export interface Caller {
  /** Its token, or its address without one. */
  readonly tokenId: string;
  /** Owner of that: a workspace, a user of several, or all callers without a token. */
  readonly tenant: string;
}

/** Work of the server for all, and work before the caller is known. */
export const NOBODY: Caller = { tokenId: '', tenant: '' };

/** Work of the server itself. */
export const SERVER: Caller = { tokenId: 'server', tenant: 'server' };

/** A caller without a token, known by its address; all such callers are one tenant. */
export function anonymousAt(address: string): Caller {
  return { tokenId: address, tenant: 'strangers' };
}
