// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';
import type { FieldMeaning, FieldType } from '../api/schema-types.ts';

/** The query `SharedDevices` of share.graphql. */
export const SharedDevices: Operation<{ devices: { totalCount: number; edges: ({ node: { id: string; name: string } })[] } }, { first?: number | null | undefined; search?: string | null | undefined }> = { text: "query SharedDevices($first:Int$search:String){devices(first:$first search:$search orderBy:NAME){totalCount edges{node{id name}}}}" };

/** The query `SharedDevice` of share.graphql. */
export const SharedDevice: Operation<{ device: { id: string; name: string; product: { dashboard: unknown; fields: ({ identifier: string; name: string | null; unit: string | null; type: FieldType; meaning: FieldMeaning; display: unknown })[] } } }, { id: string }> = { text: "query SharedDevice($id:ID!){device(id:$id){id name product{dashboard fields{identifier name unit type meaning display}}}}" };

/** The query `SharedToken` of share.graphql. */
export const SharedToken: Operation<{ viewer: { token: { id: string } } }, {  }> = { text: "query SharedToken{viewer{token{id}}}" };

/** The query `SharedDashboard` of share.graphql. */
export const SharedDashboard: Operation<{ dashboard: { id: string; name: string; widgets: unknown } }, { id: string }> = { text: "query SharedDashboard($id:ID!){dashboard(id:$id){id name widgets}}" };
