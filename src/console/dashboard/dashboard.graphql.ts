// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';
import type { Aggregation } from '../api/schema-types.ts';

/** The query `DashboardLatest` of dashboard.graphql. */
export const DashboardLatest: Operation<{ device: { latest: ({ field: { identifier: string }; value: number | string | boolean; timestamp: string })[] } }, { id: string; fields: readonly (string)[] }> = { text: "query DashboardLatest($id:ID!$fields:[String!]!){device(id:$id){latest(fields:$fields){field{identifier}value timestamp}}}" };

/** The query `DashboardHistory` of dashboard.graphql. */
export const DashboardHistory: Operation<{ device: { history: ({ field: { identifier: string }; resolution: string | null; timestamps: (number)[]; values: (number | string | boolean | null)[]; before: { timestamp: string; value: number | string | boolean } | null })[] } }, { id: string; fields: readonly (string)[]; from: string; to: string; timeZone: string; points?: number | null | undefined; resolution?: string | null | undefined; aggregation?: Aggregation | null | undefined }> = { text: "query DashboardHistory($id:ID!$fields:[String!]!$from:DateTime!$to:DateTime!$timeZone:String!$points:Int$resolution:String$aggregation:Aggregation){device(id:$id){history(fields:$fields from:$from to:$to timeZone:$timeZone maxPoints:$points resolution:$resolution aggregation:$aggregation){field{identifier}resolution timestamps values before{timestamp value}}}}" };

/** The subscription `DashboardValues` of dashboard.graphql. */
export const DashboardValues: Operation<{ measurementsRecorded: { cursor: string; measurements: ({ field: { identifier: string }; value: number | string | boolean; timestamp: string })[] } }, { deviceIds?: readonly (string)[] | null | undefined; fields?: readonly (string)[] | null | undefined; after?: string | null | undefined }> = { text: "subscription DashboardValues($deviceIds:[ID!]$fields:[String!]$after:String){measurementsRecorded(deviceIds:$deviceIds fields:$fields after:$after){cursor measurements{field{identifier}value timestamp}}}" };
