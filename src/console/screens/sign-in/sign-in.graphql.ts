// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';

/** The mutation `JoinByLink` of sign-in.graphql. */
export const JoinByLink: Operation<{ acceptInvitation: { secret: string } }, { secret: string; password: string; name?: string | null | undefined }> = { text: "mutation JoinByLink($secret:String!$password:String!$name:String){acceptInvitation(secret:$secret password:$password name:$name){secret}}" };

/** The mutation `ResetByLink` of sign-in.graphql. */
export const ResetByLink: Operation<{ resetPassword: { secret: string } }, { secret: string; password: string }> = { text: "mutation ResetByLink($secret:String!$password:String!){resetPassword(secret:$secret password:$password){secret}}" };
