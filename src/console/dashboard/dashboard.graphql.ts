// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';

/** The query `DashboardLatest` of dashboard.graphql. */
export const DashboardLatest: Operation<{ device: { latest: ({ field: { identifier: string }; value: number | string | boolean; timestamp: string })[] } }, { id: string }> = { text: "query DashboardLatest($id:ID!){device(id:$id){latest{field{identifier}value timestamp}}}" };

/** The query `DashboardHistory` of dashboard.graphql. */
export const DashboardHistory: Operation<{ device: { history: ({ field: { identifier: string }; timestamps: (number)[]; values: (number | string | boolean | null)[] })[] } }, { id: string; fields: readonly (string)[]; from: string; to: string; timeZone: string }> = { text: "query DashboardHistory($id:ID!$fields:[String!]!$from:DateTime!$to:DateTime!$timeZone:String!){device(id:$id){history(fields:$fields from:$from to:$to maxPoints:800 timeZone:$timeZone){field{identifier}timestamps values}}}" };

/** The subscription `DashboardValues` of dashboard.graphql. */
export const DashboardValues: Operation<{ measurementsRecorded: { cursor: string } }, { deviceIds?: readonly (string)[] | null | undefined; after?: string | null | undefined }> = { text: "subscription DashboardValues($deviceIds:[ID!]$after:String){measurementsRecorded(deviceIds:$deviceIds after:$after){cursor}}" };
