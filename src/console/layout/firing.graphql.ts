// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';

/** The query `FiringCount` of firing.graphql. */
export const FiringCount: Operation<{ alerts: { totalCount: number } }, { workspaceId: string }> = { text: "query FiringCount($workspaceId:ID!){alerts(workspaceId:$workspaceId state:[FIRING]first:1){totalCount}}" };

/** The subscription `FiringChanged` of firing.graphql. */
export const FiringChanged: Operation<{ alertChanged: { cursor: string } }, { workspaceId?: string | null | undefined; after?: string | null | undefined }> = { text: "subscription FiringChanged($workspaceId:ID$after:String){alertChanged(workspaceId:$workspaceId after:$after){cursor}}" };
