/** Who asks: the account that work is held against. */
export interface Caller {
  /** Its token, or its address without one. */
  readonly tokenId: string;
  /** To whom that belongs: a workspace, a user of several, or all who come without a token. */
  readonly tenant: string;
}

/** Whatever the server does by itself for all, and before it is known who asks. */
export const NOBODY: Caller = { tokenId: '', tenant: '' };

/** What the server does of its own accord. */
export const SERVER: Caller = { tokenId: 'server', tenant: 'server' };

/** Who comes without a token, as known by its address: all of them are one tenant. */
export function strangerAt(address: string): Caller {
  return { tokenId: address, tenant: 'strangers' };
}
