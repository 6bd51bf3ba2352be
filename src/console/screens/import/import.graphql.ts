// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { FieldType } from '../../api/schema-types.ts';

/** The query `ImportedDevice` of import.graphql. */
export const ImportedDevice: Operation<{ device: { id: string; name: string; serialNumber: string; product: { id: string; name: string; timeZone: string | null; fields: ({ identifier: string; name: string | null; type: FieldType; unit: string | null })[] } } }, { id: string }> = { text: "query ImportedDevice($id:ID!){device(id:$id){id name serialNumber product{id name timeZone fields{identifier name type unit}}}}" };

/** The query `ImportDevices` of import.graphql. */
export const ImportDevices: Operation<{ devices: { edges: ({ node: { id: string; name: string; serialNumber: string } })[] } }, { workspaceId?: string | null | undefined; search?: string | null | undefined }> = { text: "query ImportDevices($workspaceId:ID$search:String){devices(workspaceId:$workspaceId search:$search first:20){edges{node{id name serialNumber}}}}" };

/** The query `ImportProducts` of import.graphql. */
export const ImportProducts: Operation<{ products: { edges: ({ node: { id: string; name: string; timeZone: string | null; fields: ({ identifier: string; name: string | null; type: FieldType; unit: string | null })[] } })[] } }, { workspaceId?: string | null | undefined }> = { text: "query ImportProducts($workspaceId:ID){products(workspaceId:$workspaceId first:100){edges{node{id name timeZone fields{identifier name type unit}}}}}" };
