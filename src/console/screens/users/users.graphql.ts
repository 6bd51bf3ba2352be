// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { CreateUserInput, UpdateUserInput } from '../../api/schema-types.ts';

/** The query `UserPage` of users.graphql. */
export const UserPage: Operation<{ users: { totalCount: number; edges: ({ node: { id: string; email: string; name: string | null; operator: boolean } })[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } } }, { search?: string | null | undefined; after?: string | null | undefined }> = { text: "query UserPage($search:String$after:String){users(search:$search first:100 after:$after){totalCount edges{node{id email name operator}}pageInfo{endCursor hasNextPage}}}" };

/** The mutation `MakeUser` of users.graphql. */
export const MakeUser: Operation<{ createUser: { id: string } }, { input: CreateUserInput }> = { text: "mutation MakeUser($input:CreateUserInput!){createUser(input:$input){id}}" };

/** The mutation `ChangeUser` of users.graphql. */
export const ChangeUser: Operation<{ updateUser: { id: string } }, { id: string; input: UpdateUserInput }> = { text: "mutation ChangeUser($id:ID!$input:UpdateUserInput!){updateUser(id:$id input:$input){id}}" };

/** The mutation `RemoveUser` of users.graphql. */
export const RemoveUser: Operation<{ deleteUser: string }, { id: string }> = { text: "mutation RemoveUser($id:ID!){deleteUser(id:$id)}" };
