// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';

/** The query `UnknownWaiting` of unknown.graphql. */
export const UnknownWaiting: Operation<{ unknownDevices: ({ identifier: string; network: string })[] }, { workspaceId?: string | null | undefined }> = { text: "query UnknownWaiting($workspaceId:ID){unknownDevices(workspaceId:$workspaceId first:21){identifier network}}" };
