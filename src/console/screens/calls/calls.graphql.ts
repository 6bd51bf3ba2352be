// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { CallStatus } from '../../api/schema-types.ts';

/** The query `CallIds` of calls.graphql. */
export const CallIds: Operation<{ product: { calls: { edges: ({ node: { id: string } })[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } } } }, { productId: string; status?: readonly (CallStatus)[] | null | undefined; from?: string | null | undefined; to?: string | null | undefined; after?: string | null | undefined }> = { text: "query CallIds($productId:ID!$status:[CallStatus!]$from:DateTime$to:DateTime$after:String){product(id:$productId){calls(first:500 status:$status from:$from to:$to after:$after){edges{node{id}}pageInfo{endCursor hasNextPage}}}}" };

/** The mutation `ReplayCalls` of calls.graphql. */
export const ReplayCalls: Operation<{ replayCalls: { calls: number; stored: number; rejected: number; failed: number; added: number; changed: number; unchanged: number; removed: number; kept: number; unknown: number; results: ({ call: { id: string; receivedAt: string }; run: { error: { kind: string; message: string } | null; entries: ({ device: string | null; field: string | null; value: unknown; timestamp: string | null; code: string | null; message: string | null; matchedDevice: { id: string; name: string } | null; matchedField: { identifier: string } | null })[] } })[] } }, { productId: string; callIds: readonly (string)[]; dryRun: boolean }> = { text: "mutation ReplayCalls($productId:ID!$callIds:[ID!]!$dryRun:Boolean!){replayCalls(productId:$productId callIds:$callIds dryRun:$dryRun){calls stored rejected failed added changed unchanged removed kept unknown results{call{id receivedAt}run{error{kind message}entries{device field value timestamp code message matchedDevice{id name}matchedField{identifier}}}}}}" };

/** The query `StoredValues` of calls.graphql. */
export const StoredValues: Operation<{ history: ({ device: { id: string }; series: ({ field: { identifier: string }; timestamps: (number)[]; values: (number | string | boolean | null)[]; truncated: boolean })[] })[] }, { deviceIds: readonly (string)[]; fields: readonly (string)[]; from: string; to: string }> = { text: "query StoredValues($deviceIds:[ID!]!$fields:[String!]!$from:DateTime!$to:DateTime!){history(deviceIds:$deviceIds fields:$fields from:$from to:$to){device{id}series{field{identifier}timestamps values truncated}}}" };

/** The query `UnknownNamed` of calls.graphql. */
export const UnknownNamed: Operation<{ unknownDevices: ({ id: string; identifier: string; productId: string | null })[]; plans: ({ slug: string; name: string })[] }, { workspaceId?: string | null | undefined }> = { text: "query UnknownNamed($workspaceId:ID){unknownDevices(workspaceId:$workspaceId){id identifier productId}plans{slug name}}" };

/** The mutation `AdoptNamed` of calls.graphql. */
export const AdoptNamed: Operation<{ adoptUnknownDevices: ({ id: string })[] }, { ids: readonly (string)[]; productId: string; plan?: string | null | undefined }> = { text: "mutation AdoptNamed($ids:[ID!]!$productId:ID!$plan:String){adoptUnknownDevices(ids:$ids productId:$productId plan:$plan){id}}" };
