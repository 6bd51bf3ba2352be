// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { CreateProductInput, DeviceType } from '../../api/schema-types.ts';

/** The query `Products` of products.graphql. */
export const Products: Operation<{ products: { edges: ({ node: { id: string; name: string; deviceType: DeviceType; createdAt: string; fields: ({ identifier: string })[]; decoder: { version: number } | null; devices: { totalCount: number } } })[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } } }, { workspaceId?: string | null | undefined; search?: string | null | undefined; after?: string | null | undefined }> = { text: "query Products($workspaceId:ID$search:String$after:String){products(workspaceId:$workspaceId search:$search first:100 after:$after){edges{node{id name deviceType createdAt fields{identifier}decoder{version}devices(first:1){totalCount}}}pageInfo{endCursor hasNextPage}}}" };

/** The mutation `CreateProduct` of products.graphql. */
export const CreateProduct: Operation<{ createProduct: { id: string } }, { input: CreateProductInput }> = { text: "mutation CreateProduct($input:CreateProductInput!){createProduct(input:$input){id}}" };
