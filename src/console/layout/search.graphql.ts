// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';

/** The query `Search` of search.graphql. */
export const Search: Operation<{ devices: { edges: ({ node: { id: string; name: string; serialNumber: string; product: { name: string } } })[] }; products: { edges: ({ node: { id: string; name: string } })[] } }, { workspaceId?: string | null | undefined; text: string }> = { text: "query Search($workspaceId:ID$text:String!){devices(workspaceId:$workspaceId search:$text first:7 orderBy:NAME){edges{node{id name serialNumber product{name}}}}products(workspaceId:$workspaceId search:$text first:5){edges{node{id name}}}}" };

/** The query `SearchElsewhere` of search.graphql. */
export const SearchElsewhere: Operation<{ devices: { edges: ({ node: { id: string; name: string; serialNumber: string; workspaceId: string } })[] }; products: { edges: ({ node: { id: string; name: string; workspaceId: string } })[] } }, { workspaceId?: string | null | undefined; text: string }> = { text: "query SearchElsewhere($workspaceId:ID$text:String!){devices(exceptWorkspaceId:$workspaceId search:$text first:5 orderBy:NAME){edges{node{id name serialNumber workspaceId}}}products(exceptWorkspaceId:$workspaceId search:$text first:5){edges{node{id name workspaceId}}}}" };

/** The query `AllFields` of search.graphql. */
export const AllFields: Operation<{ products: { edges: ({ node: { id: string; name: string; fields: ({ identifier: string; name: string | null; unit: string | null })[] } })[] } }, { workspaceId?: string | null | undefined }> = { text: "query AllFields($workspaceId:ID){products(workspaceId:$workspaceId first:200){edges{node{id name fields{identifier name unit}}}}}" };
