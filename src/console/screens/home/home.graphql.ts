// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';

/** The query `AnyDevice` of home.graphql. */
export const AnyDevice: Operation<{ devices: { edges: ({ cursor: string })[] } }, { workspaceId?: string | null | undefined }> = { text: "query AnyDevice($workspaceId:ID){devices(workspaceId:$workspaceId first:1){edges{cursor}}}" };
