// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';

/** The query `DeviceWorkspace` of workspace-of.graphql. */
export const DeviceWorkspace: Operation<{ device: { workspaceId: string } }, { id: string }> = { text: "query DeviceWorkspace($id:ID!){device(id:$id){workspaceId}}" };

/** The query `ProductWorkspace` of workspace-of.graphql. */
export const ProductWorkspace: Operation<{ product: { workspaceId: string } }, { id: string }> = { text: "query ProductWorkspace($id:ID!){product(id:$id){workspaceId}}" };
