// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';
import type { Aggregation, FieldMeaning, FieldType } from '../api/schema-types.ts';

/** The query `DashboardLatest` of dashboard.graphql. */
export const DashboardLatest: Operation<{ devices: { edges: ({ node: { id: string; latest: ({ field: { identifier: string }; value: number | string | boolean; timestamp: string })[] } })[] } }, { ids: readonly (string)[]; first: number; fields?: readonly (string)[] | null | undefined }> = { text: "query DashboardLatest($ids:[ID!]!$first:Int!$fields:[String!]){devices(ids:$ids first:$first){edges{node{id latest(fields:$fields){field{identifier}value timestamp}}}}}" };

/** The query `DashboardHistory` of dashboard.graphql. */
export const DashboardHistory: Operation<{ history: ({ device: { id: string }; series: ({ field: { identifier: string }; resolution: string | null; timestamps: (number)[]; values: (number | string | boolean | null)[]; before: { timestamp: string; value: number | string | boolean } | null })[] })[] }, { ids: readonly (string)[]; fields: readonly (string)[]; from: string; to: string; timeZone: string; points?: number | null | undefined; resolution?: string | null | undefined; aggregation?: Aggregation | null | undefined }> = { text: "query DashboardHistory($ids:[ID!]!$fields:[String!]!$from:DateTime!$to:DateTime!$timeZone:String!$points:Int$resolution:String$aggregation:Aggregation){history(deviceIds:$ids fields:$fields from:$from to:$to timeZone:$timeZone maxPoints:$points resolution:$resolution aggregation:$aggregation){device{id}series{field{identifier}resolution timestamps values before{timestamp value}}}}" };

/** The subscription `DashboardValues` of dashboard.graphql. */
export const DashboardValues: Operation<{ measurementsRecorded: { cursor: string; device: { id: string }; measurements: ({ field: { identifier: string }; value: number | string | boolean; timestamp: string })[] } }, { deviceIds?: readonly (string)[] | null | undefined; fields?: readonly (string)[] | null | undefined; after?: string | null | undefined }> = { text: "subscription DashboardValues($deviceIds:[ID!]$fields:[String!]$after:String){measurementsRecorded(deviceIds:$deviceIds fields:$fields after:$after){cursor device{id}measurements{field{identifier}value timestamp}}}" };

/** The query `SourceDevices` of dashboard.graphql. */
export const SourceDevices: Operation<{ devices: { totalCount: number; edges: ({ node: { id: string; name: string; product: { id: string } } })[] } }, { ids?: readonly (string)[] | null | undefined; productId?: string | null | undefined; tags?: readonly (string)[] | null | undefined; workspaceId?: string | null | undefined; first: number }> = { text: "query SourceDevices($ids:[ID!]$productId:ID$tags:[String!]$workspaceId:ID$first:Int!){devices(ids:$ids productId:$productId tags:$tags workspaceId:$workspaceId first:$first orderBy:NAME){totalCount edges{node{id name product{id}}}}}" };

/** The query `SourceFields` of dashboard.graphql. */
export const SourceFields: Operation<{ device: { product: { id: string; fields: ({ identifier: string; name: string | null; unit: string | null; type: FieldType; meaning: FieldMeaning; display: unknown })[] } } }, { id: string }> = { text: "query SourceFields($id:ID!){device(id:$id){product{id fields{identifier name unit type meaning display}}}}" };
