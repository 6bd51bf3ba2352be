// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';
import type { DeviceType } from '../api/schema-types.ts';

/** The query `ProductName` of product-head.graphql. */
export const ProductName: Operation<{ product: { id: string; name: string; deviceType: DeviceType } }, { id: string }> = { text: "query ProductName($id:ID!){product(id:$id){id name deviceType}}" };
