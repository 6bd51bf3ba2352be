// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';
import type { TokenKind, TokenScope } from '../api/schema-types.ts';

/** The query `Viewer` of session.graphql. */
export const Viewer: Operation<{ viewer: { user: { id: string; email: string; name: string | null; operator: boolean } | null; token: { id: string; name: string; kind: TokenKind; scopes: (TokenScope)[]; expiresAt: string | null }; workspaces: ({ id: string; name: string; scopes: (TokenScope)[] })[] } }, {  }> = { text: "query Viewer{viewer{user{id email name operator}token{id name kind scopes expiresAt}workspaces{id name scopes}}}" };
