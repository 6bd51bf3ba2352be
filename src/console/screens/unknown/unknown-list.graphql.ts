// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { DeviceType } from '../../api/schema-types.ts';

/** The selection of the fragment `AdoptedDevice` of unknown-list.graphql. */
export type AdoptedDevice = { id: string; name: string; serialNumber: string; lastHeardAt: string | null; product: { id: string; name: string }; latest: ({ field: { identifier: string; name: string | null; unit: string | null }; value: number | string | boolean; timestamp: string })[] };

/** The query `UnknownList` of unknown-list.graphql. */
export const UnknownList: Operation<{ unknownDevices: ({ id: string; identifier: string; network: string; firstSeenAt: string; lastSeenAt: string; seen: number; productId: string | null; ambiguous: boolean })[] }, { workspaceId?: string | null | undefined }> = { text: "query UnknownList($workspaceId:ID){unknownDevices(workspaceId:$workspaceId){id identifier network firstSeenAt lastSeenAt seen productId ambiguous}}" };

/** The query `AdoptionChoices` of unknown-list.graphql. */
export const AdoptionChoices: Operation<{ products: { edges: ({ node: { id: string; name: string; deviceType: DeviceType } })[] }; plans: ({ slug: string; name: string })[] }, { workspaceId?: string | null | undefined }> = { text: "query AdoptionChoices($workspaceId:ID){products(workspaceId:$workspaceId first:500){edges{node{id name deviceType}}}plans{slug name}}" };

/** The mutation `AdoptOne` of unknown-list.graphql. */
export const AdoptOne: Operation<{ adoptUnknownDevice: { id: string; name: string; serialNumber: string; lastHeardAt: string | null; product: { id: string; name: string }; latest: ({ field: { identifier: string; name: string | null; unit: string | null }; value: number | string | boolean; timestamp: string })[] } }, { id: string; productId: string; name?: string | null | undefined; plan?: string | null | undefined }> = { text: "mutation AdoptOne($id:ID!$productId:ID!$name:String$plan:String){adoptUnknownDevice(id:$id productId:$productId name:$name plan:$plan){...AdoptedDevice}}fragment AdoptedDevice on Device{id name serialNumber lastHeardAt product{id name}latest{field{identifier name unit}value timestamp}}" };

/** The mutation `AdoptNamed` of unknown-list.graphql. */
export const AdoptNamed: Operation<{ adoptUnknownDevices: ({ id: string; name: string; serialNumber: string; lastHeardAt: string | null; product: { id: string; name: string }; latest: ({ field: { identifier: string; name: string | null; unit: string | null }; value: number | string | boolean; timestamp: string })[] })[] }, { ids: readonly (string)[]; productId: string; plan?: string | null | undefined }> = { text: "mutation AdoptNamed($ids:[ID!]!$productId:ID!$plan:String){adoptUnknownDevices(ids:$ids productId:$productId plan:$plan){...AdoptedDevice}}fragment AdoptedDevice on Device{id name serialNumber lastHeardAt product{id name}latest{field{identifier name unit}value timestamp}}" };
