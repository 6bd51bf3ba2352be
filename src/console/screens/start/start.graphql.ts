// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { CreateProductInput, DeviceInput, FieldType } from '../../api/schema-types.ts';

/** The query `StartPlans` of start.graphql. */
export const StartPlans: Operation<{ plans: ({ slug: string; deviceAllowance: number | null })[] }, {  }> = { text: "query StartPlans{plans{slug deviceAllowance}}" };

/** The query `StartedProducts` of start.graphql. */
export const StartedProducts: Operation<{ products: { edges: ({ node: { id: string; name: string; fields: ({ identifier: string; type: FieldType })[]; devices: { totalCount: number } } })[] } }, { name?: string | null | undefined; workspaceId?: string | null | undefined }> = { text: "query StartedProducts($name:String$workspaceId:ID){products(search:$name workspaceId:$workspaceId){edges{node{id name fields{identifier type}devices(first:1){totalCount}}}}}" };

/** The mutation `StartProduct` of start.graphql. */
export const StartProduct: Operation<{ createProduct: { id: string } }, { input: CreateProductInput }> = { text: "mutation StartProduct($input:CreateProductInput!){createProduct(input:$input){id}}" };

/** The mutation `StartDevice` of start.graphql. */
export const StartDevice: Operation<{ createDevices: ({ id: string })[] }, { productId: string; devices: readonly (DeviceInput)[]; plan?: string | null | undefined }> = { text: "mutation StartDevice($productId:ID!$devices:[DeviceInput!]!$plan:String){createDevices(productId:$productId devices:$devices plan:$plan){id}}" };

/** The query `StartedDevice` of start.graphql. */
export const StartedDevice: Operation<{ device: { id: string; name: string; product: { id: string; fields: ({ identifier: string; type: FieldType; name: string | null; unit: string | null })[] }; latest: ({ field: { identifier: string; name: string | null; unit: string | null }; value: number | string | boolean; timestamp: string })[] } }, { id: string }> = { text: "query StartedDevice($id:ID!){device(id:$id){id name product{id fields{identifier type name unit}}latest{field{identifier name unit}value timestamp}}}" };

/** The subscription `StartedValues` of start.graphql. */
export const StartedValues: Operation<{ measurementsRecorded: { cursor: string; measurements: ({ field: { identifier: string; name: string | null; unit: string | null }; value: number | string | boolean; timestamp: string })[] } }, { deviceIds?: readonly (string)[] | null | undefined; after?: string | null | undefined }> = { text: "subscription StartedValues($deviceIds:[ID!]$after:String){measurementsRecorded(deviceIds:$deviceIds after:$after){cursor measurements{field{identifier name unit}value timestamp}}}" };

/** The mutation `SetPassword` of start.graphql. */
export const SetPassword: Operation<{ changePassword: { id: string } }, { newPassword: string }> = { text: "mutation SetPassword($newPassword:String!){changePassword(newPassword:$newPassword){id}}" };
