// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { DeviceInput, DeviceOrder, FieldRole, FieldType, OnExisting, UpdateDeviceInput } from '../../api/schema-types.ts';

/** The selection of the fragment `DeviceRow` of devices.graphql. */
export type DeviceRow = { id: string; name: string; serialNumber: string; online: boolean; lastHeardAt: string | null; tags: (string)[]; plan: { slug: string }; product: { id: string; name: string }; latest: ({ field: { identifier: string; name: string | null; unit: string | null; role: FieldRole | null; type: FieldType }; value: number | string | boolean; timestamp: string })[] };

/** The query `DevicePage` of devices.graphql. */
export const DevicePage: Operation<{ devices: { totalCount?: number | undefined; pageInfo: { hasNextPage: boolean; endCursor: string | null }; edges: ({ node: { id: string; name: string; serialNumber: string; online: boolean; lastHeardAt: string | null; tags: (string)[]; plan: { slug: string }; product: { id: string; name: string }; latest: ({ field: { identifier: string; name: string | null; unit: string | null; role: FieldRole | null; type: FieldType }; value: number | string | boolean; timestamp: string })[] } })[] } }, { workspaceId?: string | null | undefined; productId?: string | null | undefined; search?: string | null | undefined; tags?: readonly (string)[] | null | undefined; online?: boolean | null | undefined; orderBy?: DeviceOrder | null | undefined; descending?: boolean | null | undefined; first?: number | null | undefined; after?: string | null | undefined; count: boolean }> = { text: "query DevicePage($workspaceId:ID$productId:ID$search:String$tags:[String!]$online:Boolean$orderBy:DeviceOrder$descending:Boolean$first:Int$after:String$count:Boolean!){devices(workspaceId:$workspaceId productId:$productId search:$search tags:$tags online:$online orderBy:$orderBy descending:$descending first:$first after:$after){totalCount@include(if:$count)pageInfo{hasNextPage endCursor}edges{node{...DeviceRow}}}}fragment DeviceRow on Device{id name serialNumber online lastHeardAt tags plan{slug}product{id name}latest{field{identifier name unit role type}value timestamp}}" };

/** The query `DevicesThatFit` of devices.graphql. */
export const DevicesThatFit: Operation<{ devices: { pageInfo: { hasNextPage: boolean; endCursor: string | null }; edges: ({ node: { id: string; name: string; tags: (string)[] } })[] } }, { workspaceId?: string | null | undefined; productId?: string | null | undefined; search?: string | null | undefined; tags?: readonly (string)[] | null | undefined; online?: boolean | null | undefined; orderBy?: DeviceOrder | null | undefined; descending?: boolean | null | undefined; first?: number | null | undefined; after?: string | null | undefined }> = { text: "query DevicesThatFit($workspaceId:ID$productId:ID$search:String$tags:[String!]$online:Boolean$orderBy:DeviceOrder$descending:Boolean$first:Int$after:String){devices(workspaceId:$workspaceId productId:$productId search:$search tags:$tags online:$online orderBy:$orderBy descending:$descending first:$first after:$after){pageInfo{hasNextPage endCursor}edges{node{id name tags}}}}" };

/** The query `DeviceChoices` of devices.graphql. */
export const DeviceChoices: Operation<{ products: { edges: ({ node: { id: string; name: string } })[] }; plans: ({ slug: string; name: string; deviceAllowance: number | null; retentionDays: number | null })[] }, { workspaceId?: string | null | undefined }> = { text: "query DeviceChoices($workspaceId:ID){products(workspaceId:$workspaceId first:500){edges{node{id name}}}plans{slug name deviceAllowance retentionDays}}" };

/** The subscription `RowValues` of devices.graphql. */
export const RowValues: Operation<{ measurementsRecorded: { cursor: string; receivedAt: string; device: { id: string }; measurements: ({ field: { identifier: string; name: string | null; unit: string | null; role: FieldRole | null; type: FieldType }; value: number | string | boolean; timestamp: string })[] } }, { deviceIds?: readonly (string)[] | null | undefined }> = { text: "subscription RowValues($deviceIds:[ID!]){measurementsRecorded(deviceIds:$deviceIds){cursor receivedAt device{id}measurements{field{identifier name unit role type}value timestamp}}}" };

/** The subscription `RowStatus` of devices.graphql. */
export const RowStatus: Operation<{ deviceStatusChanged: { online: boolean; device: { id: string } } }, { workspaceId?: string | null | undefined }> = { text: "subscription RowStatus($workspaceId:ID){deviceStatusChanged(workspaceId:$workspaceId){online device{id}}}" };

/** The mutation `AddDevices` of devices.graphql. */
export const AddDevices: Operation<{ createDevices: ({ id: string })[] }, { productId: string; devices: readonly (DeviceInput)[]; plan?: string | null | undefined }> = { text: "mutation AddDevices($productId:ID!$devices:[DeviceInput!]!$plan:String){createDevices(productId:$productId devices:$devices plan:$plan){id}}" };

/** The mutation `ImportDevices` of devices.graphql. */
export const ImportDevices: Operation<{ importDevices: { created: number; updated: number; kept: number; refusedLines: number; refused: ({ line: number; serialNumber: string | null; message: string })[] } }, { productId: string; text: string; onExisting?: OnExisting | null | undefined; plan?: string | null | undefined; dryRun?: boolean | null | undefined }> = { text: "mutation ImportDevices($productId:ID!$text:String!$onExisting:OnExisting$plan:String$dryRun:Boolean){importDevices(productId:$productId text:$text onExisting:$onExisting plan:$plan dryRun:$dryRun){created updated kept refusedLines refused{line serialNumber message}}}" };

/** The mutation `ChangeDevice` of devices.graphql. */
export const ChangeDevice: Operation<{ updateDevice: { id: string } }, { id: string; input: UpdateDeviceInput; confirm?: boolean | null | undefined }> = { text: "mutation ChangeDevice($id:ID!$input:UpdateDeviceInput!$confirm:Boolean){updateDevice(id:$id input:$input confirm:$confirm){id}}" };

/** The query `PlanLoss` of devices.graphql. */
export const PlanLoss: Operation<{ planChange: { measurements: number } }, { id: string; plan: string }> = { text: "query PlanLoss($id:ID!$plan:String!){planChange(deviceId:$id plan:$plan){measurements}}" };
