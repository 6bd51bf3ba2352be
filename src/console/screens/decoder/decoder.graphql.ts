// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { DecoderRequestInput, DeviceType } from '../../api/schema-types.ts';

/** The query `DecoderPage` of decoder.graphql. */
export const DecoderPage: Operation<{ product: { id: string; name: string; decoderStatistics: { runs: number; failures: unknown; p50Ms: number | null; p99Ms: number | null }; deviceType: DeviceType; webhookId: string; decoder: { version: number; source: string } | null; decoderExamples: ({ id: string; name: string; request: unknown; expected: unknown })[]; configurationFields: ({ identifier: string; default: unknown })[]; devices: { edges: ({ node: { id: string; name: string; serialNumber: string } })[] } } }, { id: string }> = { text: "query DecoderPage($id:ID!){product(id:$id){id name decoderStatistics{runs failures p50Ms p99Ms}deviceType webhookId decoder{version source}decoderExamples{id name request expected}configurationFields{identifier default}devices(first:100){edges{node{id name serialNumber}}}}}" };

/** The mutation `SaveDecoder` of decoder.graphql. */
export const SaveDecoder: Operation<{ saveDecoder: { version: number } }, { productId: string; source: string; note?: string | null | undefined; force?: boolean | null | undefined }> = { text: "mutation SaveDecoder($productId:ID!$source:String!$note:String$force:Boolean){saveDecoder(productId:$productId source:$source note:$note force:$force){version}}" };

/** The query `Versions` of decoder.graphql. */
export const Versions: Operation<{ product: { decoderVersions: ({ version: number; createdAt: string; author: string | null; note: string | null; active: boolean })[] } }, { id: string; before?: number | null | undefined }> = { text: "query Versions($id:ID!$before:Int){product(id:$id){decoderVersions(first:30 before:$before){version createdAt author note active}}}" };

/** The query `VersionSource` of decoder.graphql. */
export const VersionSource: Operation<{ product: { decoderVersions: ({ version: number; source: string })[] } }, { id: string; before: number }> = { text: "query VersionSource($id:ID!$before:Int!){product(id:$id){decoderVersions(first:1 before:$before){version source}}}" };

/** The mutation `ActivateDecoder` of decoder.graphql. */
export const ActivateDecoder: Operation<{ activateDecoder: { version: number; source: string } }, { productId: string; version: number }> = { text: "mutation ActivateDecoder($productId:ID!$version:Int!){activateDecoder(productId:$productId version:$version){version source}}" };

/** The mutation `AddExample` of decoder.graphql. */
export const AddExample: Operation<{ addDecoderExample: { id: string } }, { productId: string; name: string; request: DecoderRequestInput; expected: unknown }> = { text: "mutation AddExample($productId:ID!$name:String!$request:DecoderRequestInput!$expected:JSON!){addDecoderExample(productId:$productId name:$name request:$request expected:$expected){id}}" };

/** The mutation `RemoveExample` of decoder.graphql. */
export const RemoveExample: Operation<{ removeDecoderExample: string }, { id: string }> = { text: "mutation RemoveExample($id:ID!){removeDecoderExample(id:$id)}" };

/** The query `Examples` of decoder.graphql. */
export const Examples: Operation<{ product: { decoderExamples: ({ name: string; request: unknown; expected: unknown })[] } }, { id: string }> = { text: "query Examples($id:ID!){product(id:$id){decoderExamples{name request expected}}}" };
