// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { CreateTokenInput, CreateUserInput, Role, TokenKind, TokenScope, UpdateTokenInput } from '../../api/schema-types.ts';

/** The selection of the fragment `ShownToken` of access.graphql. */
export type ShownToken = { id: string; name: string; kind: TokenKind; scopes: (TokenScope)[]; createdAt: string; lastUsedAt: string | null; expiresAt: string | null; products: ({ id: string; name: string })[] | null; devices: ({ id: string; name: string })[] | null; fields: (string)[] | null };

/** The query `Access` of access.graphql. */
export const Access: Operation<{ viewer: { user: { id: string; email: string; operator: boolean } | null; token: { id: string }; tokens: ({ id: string; name: string; kind: TokenKind; scopes: (TokenScope)[]; createdAt: string; lastUsedAt: string | null; expiresAt: string | null; products: ({ id: string; name: string })[] | null; devices: ({ id: string; name: string })[] | null; fields: (string)[] | null })[]; workspaces: ({ id: string; name: string; scopes: (TokenScope)[] })[] }; workspace?: { members?: ({ role: Role; user: { id: string; email: string; name: string | null } })[] | undefined; tokens?: ({ id: string; name: string; kind: TokenKind; scopes: (TokenScope)[]; createdAt: string; lastUsedAt: string | null; expiresAt: string | null; products: ({ id: string; name: string })[] | null; devices: ({ id: string; name: string })[] | null; fields: (string)[] | null })[] | undefined; invitations?: ({ email: string; role: Role | null; expiresAt: string })[] | undefined } | undefined; plans: ({ slug: string; name: string; deviceAllowance: number | null; retentionDays: number | null })[] }, { id: string; isSomewhere: boolean; seesMembers: boolean; isAdmin: boolean }> = { text: "query Access($id:ID!$isSomewhere:Boolean!$seesMembers:Boolean!$isAdmin:Boolean!){viewer{user{id email operator}token{id}tokens{...ShownToken}workspaces{id name scopes}}workspace(id:$id)@include(if:$isSomewhere){members@include(if:$seesMembers){role user{id email name}}tokens@include(if:$isAdmin){...ShownToken}invitations@include(if:$isAdmin){email role expiresAt}}plans{slug name deviceAllowance retentionDays}}fragment ShownToken on Token{id name kind scopes createdAt lastUsedAt expiresAt products{id name}devices{id name}fields}" };

/** The query `TokenLimits` of access.graphql. */
export const TokenLimits: Operation<{ products: { edges: ({ node: { id: string; name: string } })[] } }, { workspaceId?: string | null | undefined }> = { text: "query TokenLimits($workspaceId:ID){products(workspaceId:$workspaceId first:500){edges{node{id name}}}}" };

/** The query `FindDevices` of access.graphql. */
export const FindDevices: Operation<{ devices: { edges: ({ node: { id: string; name: string; serialNumber: string; product: { id: string } } })[] } }, { workspaceId?: string | null | undefined; search?: string | null | undefined }> = { text: "query FindDevices($workspaceId:ID$search:String){devices(workspaceId:$workspaceId search:$search first:10 orderBy:NAME){edges{node{id name serialNumber product{id}}}}}" };

/** The query `FieldsOfProduct` of access.graphql. */
export const FieldsOfProduct: Operation<{ product: { fields: ({ identifier: string; name: string | null })[] } }, { id: string }> = { text: "query FieldsOfProduct($id:ID!){product(id:$id){fields{identifier name}}}" };

/** The query `FindUser` of access.graphql. */
export const FindUser: Operation<{ user: { id: string } | null }, { email: string }> = { text: "query FindUser($email:String!){user(email:$email){id}}" };

/** The mutation `MakeToken` of access.graphql. */
export const MakeToken: Operation<{ createToken: { secret: string } }, { input: CreateTokenInput }> = { text: "mutation MakeToken($input:CreateTokenInput!){createToken(input:$input){secret}}" };

/** The mutation `ChangeToken` of access.graphql. */
export const ChangeToken: Operation<{ updateToken: { id: string } }, { id: string; input: UpdateTokenInput }> = { text: "mutation ChangeToken($id:ID!$input:UpdateTokenInput!){updateToken(id:$id input:$input){id}}" };

/** The mutation `RenewToken` of access.graphql. */
export const RenewToken: Operation<{ renewToken: { secret: string } }, { id: string }> = { text: "mutation RenewToken($id:ID!){renewToken(id:$id){secret}}" };

/** The mutation `RevokeToken` of access.graphql. */
export const RevokeToken: Operation<{ revokeToken: string }, { id: string }> = { text: "mutation RevokeToken($id:ID!){revokeToken(id:$id)}" };

/** The mutation `InviteMember` of access.graphql. */
export const InviteMember: Operation<{ createInvitation: { url: string } }, { workspaceId: string; email: string; role: Role }> = { text: "mutation InviteMember($workspaceId:ID!$email:String!$role:Role!){createInvitation(workspaceId:$workspaceId email:$email role:$role){url}}" };

/** The mutation `TakeBackInvitation` of access.graphql. */
export const TakeBackInvitation: Operation<{ revokeInvitation: { id: string } }, { workspaceId: string; email: string }> = { text: "mutation TakeBackInvitation($workspaceId:ID!$email:String!){revokeInvitation(workspaceId:$workspaceId email:$email){id}}" };

/** The mutation `MakePasswordLink` of access.graphql. */
export const MakePasswordLink: Operation<{ createPasswordReset: { url: string } }, { userId: string }> = { text: "mutation MakePasswordLink($userId:ID!){createPasswordReset(userId:$userId){url}}" };

/** The mutation `AddUser` of access.graphql. */
export const AddUser: Operation<{ createUser: { id: string } }, { input: CreateUserInput }> = { text: "mutation AddUser($input:CreateUserInput!){createUser(input:$input){id}}" };

/** The mutation `PutMember` of access.graphql. */
export const PutMember: Operation<{ setMember: { id: string } }, { workspaceId: string; userId: string; role: Role }> = { text: "mutation PutMember($workspaceId:ID!$userId:ID!$role:Role!){setMember(workspaceId:$workspaceId userId:$userId role:$role){id}}" };

/** The mutation `TakeMember` of access.graphql. */
export const TakeMember: Operation<{ removeMember: { id: string } }, { workspaceId: string; userId: string }> = { text: "mutation TakeMember($workspaceId:ID!$userId:ID!){removeMember(workspaceId:$workspaceId userId:$userId){id}}" };

/** The mutation `AddWorkspace` of access.graphql. */
export const AddWorkspace: Operation<{ createWorkspace: { id: string } }, { name: string }> = { text: "mutation AddWorkspace($name:String!){createWorkspace(name:$name){id}}" };

/** The mutation `NameWorkspace` of access.graphql. */
export const NameWorkspace: Operation<{ renameWorkspace: { id: string } }, { id: string; name: string }> = { text: "mutation NameWorkspace($id:ID!$name:String!){renameWorkspace(id:$id name:$name){id}}" };

/** The mutation `RemoveWorkspace` of access.graphql. */
export const RemoveWorkspace: Operation<{ deleteWorkspace: string }, { id: string }> = { text: "mutation RemoveWorkspace($id:ID!){deleteWorkspace(id:$id)}" };

/** The mutation `ChangePassword` of access.graphql. */
export const ChangePassword: Operation<{ changePassword: { id: string } }, { currentPassword?: string | null | undefined; newPassword: string }> = { text: "mutation ChangePassword($currentPassword:String$newPassword:String!){changePassword(currentPassword:$currentPassword newPassword:$newPassword){id}}" };
