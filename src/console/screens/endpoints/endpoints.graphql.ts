// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { DeliveryStatus, EndpointInput, EndpointKind } from '../../api/schema-types.ts';

/** The selection of the fragment `EndpointParts` of endpoints.graphql. */
export type EndpointParts = { id: string; name: string; kind: EndpointKind; events: (string)[]; tags: (string)[] | null; enabled: boolean; disabledReason: string | null; failingSince: string | null; createdAt: string; products: ({ id: string; name: string })[] | null; url?: string | null | undefined; addresses?: (string)[] | null | undefined };

/** The selection of the fragment `DeliveryParts` of endpoints.graphql. */
export type DeliveryParts = { id: string; type: string; status: DeliveryStatus; createdAt: string; nextAttemptAt: string | null; body: string; attempts: ({ at: string; httpStatus: number | null; error: string | null; durationMs: number; answer: string | null })[] };

/** The query `Endpoints` of endpoints.graphql. */
export const Endpoints: Operation<{ workspace: { endpoints: ({ id: string; name: string; kind: EndpointKind; events: (string)[]; tags: (string)[] | null; enabled: boolean; disabledReason: string | null; failingSince: string | null; createdAt: string; products: ({ id: string; name: string })[] | null; url?: string | null | undefined; addresses?: (string)[] | null | undefined })[] } }, { workspaceId: string; mayChange: boolean }> = { text: "query Endpoints($workspaceId:ID!$mayChange:Boolean!){workspace(id:$workspaceId){endpoints{...EndpointParts}}}fragment EndpointParts on Endpoint{id name kind events tags enabled disabledReason failingSince createdAt products{id name}url@include(if:$mayChange)addresses@include(if:$mayChange)}" };

/** The query `EndpointPage` of endpoints.graphql. */
export const EndpointPage: Operation<{ workspace: { endpoints: ({ id: string; name: string; kind: EndpointKind; events: (string)[]; tags: (string)[] | null; enabled: boolean; disabledReason: string | null; failingSince: string | null; createdAt: string; products: ({ id: string; name: string })[] | null; url?: string | null | undefined; addresses?: (string)[] | null | undefined; deliveries: { pageInfo: { hasNextPage: boolean; endCursor: string | null }; edges: ({ node: { id: string; type: string; status: DeliveryStatus; createdAt: string; nextAttemptAt: string | null; body: string; attempts: ({ at: string; httpStatus: number | null; error: string | null; durationMs: number; answer: string | null })[] } })[] } })[] } }, { workspaceId: string; ids?: readonly (string)[] | null | undefined; mayChange: boolean; status?: readonly (DeliveryStatus)[] | null | undefined; first: number; after?: string | null | undefined }> = { text: "query EndpointPage($workspaceId:ID!$ids:[ID!]$mayChange:Boolean!$status:[DeliveryStatus!]$first:Int!$after:String){workspace(id:$workspaceId){endpoints(ids:$ids){...EndpointParts deliveries(status:$status first:$first after:$after){pageInfo{hasNextPage endCursor}edges{node{...DeliveryParts}}}}}}fragment EndpointParts on Endpoint{id name kind events tags enabled disabledReason failingSince createdAt products{id name}url@include(if:$mayChange)addresses@include(if:$mayChange)}fragment DeliveryParts on Delivery{id type status createdAt nextAttemptAt body attempts{at httpStatus error durationMs answer}}" };

/** The query `EndpointProducts` of endpoints.graphql. */
export const EndpointProducts: Operation<{ products: { edges: ({ node: { id: string; name: string } })[] } }, { workspaceId?: string | null | undefined }> = { text: "query EndpointProducts($workspaceId:ID){products(workspaceId:$workspaceId first:200){edges{node{id name}}}}" };

/** The subscription `DeliveryChanged` of endpoints.graphql. */
export const DeliveryChanged: Operation<{ deliveryChanged: { id: string; type: string; status: DeliveryStatus; createdAt: string; nextAttemptAt: string | null; body: string; attempts: ({ at: string; httpStatus: number | null; error: string | null; durationMs: number; answer: string | null })[] } }, { endpointId: string }> = { text: "subscription DeliveryChanged($endpointId:ID!){deliveryChanged(endpointId:$endpointId){...DeliveryParts}}fragment DeliveryParts on Delivery{id type status createdAt nextAttemptAt body attempts{at httpStatus error durationMs answer}}" };

/** The mutation `CreateEndpoint` of endpoints.graphql. */
export const CreateEndpoint: Operation<{ createEndpoint: { secret: string | null; endpoint: { id: string } } }, { workspaceId?: string | null | undefined; input: EndpointInput }> = { text: "mutation CreateEndpoint($workspaceId:ID$input:EndpointInput!){createEndpoint(workspaceId:$workspaceId input:$input){secret endpoint{id}}}" };

/** The mutation `UpdateEndpoint` of endpoints.graphql. */
export const UpdateEndpoint: Operation<{ updateEndpoint: { id: string } }, { id: string; input: EndpointInput }> = { text: "mutation UpdateEndpoint($id:ID!$input:EndpointInput!){updateEndpoint(id:$id input:$input){id}}" };

/** The mutation `DeleteEndpoint` of endpoints.graphql. */
export const DeleteEndpoint: Operation<{ deleteEndpoint: string }, { id: string }> = { text: "mutation DeleteEndpoint($id:ID!){deleteEndpoint(id:$id)}" };

/** The mutation `RotateEndpointSecret` of endpoints.graphql. */
export const RotateEndpointSecret: Operation<{ rotateEndpointSecret: { secret: string | null } }, { id: string }> = { text: "mutation RotateEndpointSecret($id:ID!){rotateEndpointSecret(id:$id){secret}}" };

/** The mutation `TestEndpoint` of endpoints.graphql. */
export const TestEndpoint: Operation<{ testEndpoint: { id: string; type: string; status: DeliveryStatus; createdAt: string; nextAttemptAt: string | null; body: string; attempts: ({ at: string; httpStatus: number | null; error: string | null; durationMs: number; answer: string | null })[] } }, { id: string }> = { text: "mutation TestEndpoint($id:ID!){testEndpoint(id:$id){...DeliveryParts}}fragment DeliveryParts on Delivery{id type status createdAt nextAttemptAt body attempts{at httpStatus error durationMs answer}}" };

/** The mutation `RetryDeliveries` of endpoints.graphql. */
export const RetryDeliveries: Operation<{ retryDeliveries: number }, { endpointId: string; deliveryIds?: readonly (string)[] | null | undefined; from?: string | null | undefined; to?: string | null | undefined; dryRun?: boolean | null | undefined }> = { text: "mutation RetryDeliveries($endpointId:ID!$deliveryIds:[ID!]$from:DateTime$to:DateTime$dryRun:Boolean){retryDeliveries(endpointId:$endpointId deliveryIds:$deliveryIds from:$from to:$to dryRun:$dryRun)}" };
