// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { EntryInput, FieldRole, FieldType, UpdateDeviceInput } from '../../api/schema-types.ts';

/** What the fragment `DeviceField` of device.graphql selects. */
export type DeviceField = { identifier: string; name: string | null; unit: string | null; type: FieldType; role: FieldRole | null; description: string | null };

/** What the fragment `RangeStatistics` of device.graphql selects. */
export type RangeStatistics = { count: number; min: number | null; minAt: string | null; max: number | null; maxAt: string | null; average: number | null; first: { value: number | string | boolean } | null; last: { value: number | string | boolean } | null };

/** The query `DevicePageQuery` of device.graphql. */
export const DevicePageQuery: Operation<{ device: { id: string; name: string; serialNumber: string; online: boolean; lastHeardAt: string | null; createdAt: string; tags: (string)[]; metadata: unknown; location: string | null; offlineAfterSeconds: number | null; plan: { slug: string; name: string; retentionDays: number | null }; product: { id: string; name: string; offlineAfterSeconds: number | null; dashboard: unknown; fields: ({ identifier: string; name: string | null; unit: string | null; type: FieldType; role: FieldRole | null; description: string | null })[] }; latest: ({ field: { identifier: string }; value: number | string | boolean; timestamp: string })[] } }, { id: string }> = { text: "query DevicePageQuery($id:ID!){device(id:$id){id name serialNumber online lastHeardAt createdAt tags metadata location offlineAfterSeconds plan{slug name retentionDays}product{id name offlineAfterSeconds dashboard fields{...DeviceField}}latest{field{identifier}value timestamp}}}fragment DeviceField on Field{identifier name unit type role description}" };

/** The query `FieldHistory` of device.graphql. */
export const FieldHistory: Operation<{ device: { raw: ({ resolution: string | null; timestamps: (number)[]; values: (number | string | boolean | null)[]; before: { timestamp: string; value: number | string | boolean } | null })[]; low: ({ timestamps: (number)[]; values: (number | string | boolean | null)[] })[]; high: ({ values: (number | string | boolean | null)[] })[]; mean: ({ resolution: string | null; values: (number | string | boolean | null)[] })[]; statistics: ({ count: number; min: number | null; minAt: string | null; max: number | null; maxAt: string | null; average: number | null; first: { value: number | string | boolean } | null; last: { value: number | string | boolean } | null })[] } }, { id: string; fields?: readonly (string)[] | null | undefined; from: string; to: string; points: number; buckets: number; timeZone: string }> = { text: "query FieldHistory($id:ID!$fields:[String!]$from:DateTime!$to:DateTime!$points:Int!$buckets:Int!$timeZone:String!){device(id:$id){raw:history(fields:$fields from:$from to:$to maxPoints:$points timeZone:$timeZone){resolution timestamps values before{timestamp value}}low:history(fields:$fields from:$from to:$to maxPoints:$buckets aggregation:MIN timeZone:$timeZone){timestamps values}high:history(fields:$fields from:$from to:$to maxPoints:$buckets aggregation:MAX timeZone:$timeZone){values}mean:history(fields:$fields from:$from to:$to maxPoints:$buckets aggregation:AVG timeZone:$timeZone){resolution values}statistics(fields:$fields from:$from to:$to){...RangeStatistics}}}fragment RangeStatistics on Statistics{count min minAt max maxAt average first{value}last{value}}" };

/** The query `WordHistory` of device.graphql. */
export const WordHistory: Operation<{ device: { raw: ({ resolution: string | null; timestamps: (number)[]; values: (number | string | boolean | null)[]; before: { timestamp: string; value: number | string | boolean } | null })[]; statistics: ({ count: number; min: number | null; minAt: string | null; max: number | null; maxAt: string | null; average: number | null; first: { value: number | string | boolean } | null; last: { value: number | string | boolean } | null })[] } }, { id: string; fields?: readonly (string)[] | null | undefined; from: string; to: string; points: number; timeZone: string }> = { text: "query WordHistory($id:ID!$fields:[String!]$from:DateTime!$to:DateTime!$points:Int!$timeZone:String!){device(id:$id){raw:history(fields:$fields from:$from to:$to maxPoints:$points timeZone:$timeZone){resolution timestamps values before{timestamp value}}statistics(fields:$fields from:$from to:$to){...RangeStatistics}}}fragment RangeStatistics on Statistics{count min minAt max maxAt average first{value}last{value}}" };

/** The subscription `DeviceValues` of device.graphql. */
export const DeviceValues: Operation<{ measurementsRecorded: { cursor: string; receivedAt: string; measurements: ({ field: { identifier: string }; value: number | string | boolean; timestamp: string })[] } }, { deviceIds?: readonly (string)[] | null | undefined; after?: string | null | undefined }> = { text: "subscription DeviceValues($deviceIds:[ID!]$after:String){measurementsRecorded(deviceIds:$deviceIds after:$after){cursor receivedAt measurements{field{identifier}value timestamp}}}" };

/** The subscription `DeviceState` of device.graphql. */
export const DeviceState: Operation<{ deviceStatusChanged: { online: boolean } }, { deviceIds?: readonly (string)[] | null | undefined }> = { text: "subscription DeviceState($deviceIds:[ID!]){deviceStatusChanged(deviceIds:$deviceIds){online}}" };

/** The mutation `UpdateDevice` of device.graphql. */
export const UpdateDevice: Operation<{ updateDevice: { id: string } }, { id: string; input: UpdateDeviceInput }> = { text: "mutation UpdateDevice($id:ID!$input:UpdateDeviceInput!){updateDevice(id:$id input:$input){id}}" };

/** The mutation `WriteValue` of device.graphql. */
export const WriteValue: Operation<{ recordMeasurements: { stored: number; rejected: ({ message: string | null })[] } }, { id: string; entries: readonly (EntryInput)[] }> = { text: "mutation WriteValue($id:ID!$entries:[EntryInput!]!){recordMeasurements(deviceId:$id entries:$entries){stored rejected{message}}}" };

/** The query `EditChoices` of device.graphql. */
export const EditChoices: Operation<{ plans: ({ slug: string; name: string })[] }, {  }> = { text: "query EditChoices{plans{slug name}}" };
