/** Who asks: the account that work is held against. */
export interface Party {
  /** Its token, or its address without one. */
  readonly tokenId: string;
  /** To whom that belongs: a workspace, a user of several, or all who come without a token. */
  readonly tenant: string;
}
