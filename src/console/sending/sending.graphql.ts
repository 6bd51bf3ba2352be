// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';
import type { CreateTokenInput } from '../api/schema-types.ts';

/** The mutation `CreateSendingToken` of sending.graphql. */
export const CreateSendingToken: Operation<{ createToken: { secret: string } }, { input: CreateTokenInput }> = { text: "mutation CreateSendingToken($input:CreateTokenInput!){createToken(input:$input){secret}}" };
